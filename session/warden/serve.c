/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listeners, certificate, key and names, from the options to the front. */
#include "session/warden/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/proto.h"

/* The file is read by the front alone: here is only seen that there is one. */
static int open_pem(const char *option, const char *path, int *out, struct stat *st, struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st) < 0)
		return err_sys(e, "%s: opening %s", option, path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s: %s is not a file", option, path);
	*out = steal_fd(&fd);
	return 0;
}

static int open_tls(struct serve *serve, struct err *e)
{
	const struct options *options = serve->options;
	auto_fd certificate = -1;
	auto_fd key = -1;
	struct stat st;

	if (open_pem("--tls-cert", options->tls_cert, &certificate, &st, e) < 0 || open_pem("--tls-key", options->tls_key, &key, &st, e) < 0)
		return -1;
	if (st.st_mode & 0007)
		log_warn("the key %s is open to every user of this machine; chmod 600 closes it", options->tls_key);
	util_close_fd(&serve->certificate);
	util_close_fd(&serve->key);
	serve->certificate = steal_fd(&certificate);
	serve->key = steal_fd(&key);
	return 0;
}

int serve_open(struct serve *serve, const struct options *options, struct err *e)
{
	const struct listen_way way = {.tls = options->tls_cert, .insecure = options->insecure};

	*serve = (struct serve){.certificate = -1, .key = -1, .options = options};
	if (options->tls_cert && open_tls(serve, e) < 0)
		return -1;
	for (size_t i = 0; i < options->listen.n; i++) {
		struct listener *listener = &serve->listeners[serve->n_listeners++];

		*listener = (struct listener){.fd = -1};
		if (listen_open(options->listen.items[i], &way, listener, e) < 0)
			return -1;
	}
	return 0;
}

static int send_label(int sock, enum front_label_kind kind, const char *text, int fd, struct err *e)
{
	struct front_label label;

	memset(&label, 0, sizeof(label));
	label.op = WARDEN_LABEL;
	label.kind = (uint32_t)kind;
	if (strlen(text) >= sizeof(label.text))
		return err_set(e, ERR_BAD_REQUEST, NULL, "a name of a host has at most %zu bytes", sizeof(label.text) - 1);
	(void)snprintf(label.text, sizeof(label.text), "%s", text);
	return ipc_send(sock, &label, sizeof(label), &fd, fd >= 0, e);
}

static int tell_tls(const struct serve *serve, int sock, struct err *e)
{
	if (serve->certificate < 0)
		return 0;
	return send_label(sock, FRONT_CERTIFICATE, "", serve->certificate, e) < 0 ? -1 : send_label(sock, FRONT_KEY, "", serve->key, e);
}

int serve_tell(const struct serve *serve, int sock, struct err *e)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		if (send_label(sock, FRONT_LISTENER, serve->listeners[i].url, serve->listeners[i].fd, e) < 0)
			return -1;
	for (size_t i = 0; i < serve->options->hosts.n; i++)
		if (send_label(sock, FRONT_HOST, serve->options->hosts.items[i], -1, e) < 0)
			return -1;
	return tell_tls(serve, sock, e);
}

int serve_renew(struct serve *serve, int sock, struct err *e)
{
	if (serve->options->tls_cert && open_tls(serve, e) < 0)
		return -1;
	return tell_tls(serve, sock, e);
}

void serve_close(struct serve *serve)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		listen_close(&serve->listeners[i]);
	serve->n_listeners = 0;
	util_close_fd(&serve->certificate);
	util_close_fd(&serve->key);
}

const char *serve_browser_url(const struct serve *serve)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		if (strncmp(serve->listeners[i].url, "http", 4) == 0)
			return serve->listeners[i].url;
	return NULL;
}
