/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of what it is shown of the host. */
#include "session/warden/outward.h"

#include <stdint.h>
#include <stdlib.h>

#define CERTIFICATES "/etc/ssl/certs"

static void add(struct outward *outward, struct daemon_bind bind)
{
	outward->binds[outward->jail.n_binds++] = bind;
}

/* A file of the host's that may be a link; no row when it is not there. */
static void add_file(struct outward *outward, const char *path, const char *target, char real[PATH_MAX])
{
	if (realpath(path, real))
		add(outward, (struct daemon_bind){.source = real, .target = target, .is_file = true});
}

void outward_init(struct outward *outward, const char *place, const int *net, const char *run)
{
	outward->jail = (struct daemon_jail){.place = place, .binds = outward->binds, .has_tmp = true, .net = *net >= 0 ? net : NULL};
	add(outward, (struct daemon_bind){.source = CERTIFICATES, .target = "certs"});
	add(outward, (struct daemon_bind){.source = "/dev/urandom", .target = "dev/urandom", .is_file = true, .is_device = true});
	if (run)
		add(outward, (struct daemon_bind){.source = run, .target = "run", .writable = true});
	add_file(outward, "/etc/hosts", "etc/hosts", outward->hosts);
	add_file(outward, "/etc/resolv.conf", "etc/resolv.conf", outward->servers);
}
