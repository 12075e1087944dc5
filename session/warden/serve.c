/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listeners, certificate, key and names, from the options to the front. */
#include "session/warden/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/proto.h"
#include "session/warden/sealed.h"

static int read_pem(const char *option, const char *path, int *copy, struct stat *st, struct err *e)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *bytes;
	ssize_t len;
	int rc;

	if (fd < 0 || fstat(fd, st) < 0)
		return err_sys(e, "%s: opening %s", option, path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s: %s is not a file", option, path);
	len = util_read_file(fd, LIMIT_PEM_BYTES, &bytes);
	if (len < 0)
		return errno == EFBIG ? err_set(e, ERR_BAD_REQUEST, NULL, "%s: %s is larger than %d bytes", option, path, LIMIT_PEM_BYTES)
		                      : err_sys(e, "%s: reading %s", option, path);
	rc = sealed_copy(option, bytes, (size_t)len, copy, e);
	explicit_bzero(bytes, (size_t)len);
	free(bytes);
	return rc;
}

static void pair_close(struct pem_pair *pair)
{
	util_close_fd(&pair->certificate);
	util_close_fd(&pair->key);
}

/* On failure nothing is in the pair. */
static int pair_read(struct pem_pair *pair, const struct options *options, struct err *e)
{
	struct stat st;

	if (read_pem("--tls-cert", options->tls_cert, &pair->certificate, &st, e) < 0 ||
	    read_pem("--tls-key", options->tls_key, &pair->key, &st, e) < 0) {
		pair_close(pair);
		return -1;
	}
	if (st.st_mode & 0007)
		log_warn("the key %s is open to every user of this machine; chmod 600 closes it", options->tls_key);
	return 0;
}

int serve_open(struct serve *serve, const struct options *options, struct err *e)
{
	const struct listen_way way = {.tls = options->tls_cert, .insecure = options->insecure};

	*serve = (struct serve){.tls = {-1, -1}, .asked = {-1, -1}, .options = options};
	if (options->tls_cert && pair_read(&serve->tls, options, e) < 0)
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

static int tell_pair(const struct pem_pair *pair, const char *word, int sock, struct err *e)
{
	if (pair->certificate < 0)
		return 0;
	return send_label(sock, FRONT_CERTIFICATE, word, pair->certificate, e) < 0 ? -1 : send_label(sock, FRONT_KEY, "", pair->key, e);
}

int serve_tell(struct serve *serve, int sock, struct err *e)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		if (send_label(sock, FRONT_LISTENER, serve->listeners[i].url, serve->listeners[i].fd, e) < 0)
			return -1;
	for (size_t i = 0; i < serve->options->hosts.n; i++)
		if (send_label(sock, FRONT_HOST, serve->options->hosts.items[i], -1, e) < 0)
			return -1;
	serve->front_serves = false;
	return tell_pair(&serve->tls, serve->proven ? FRONT_PROVEN : "", sock, e);
}

int serve_renew(struct serve *serve, int sock, struct err *e)
{
	struct pem_pair pair = {-1, -1};

	if (!serve->options->tls_cert)
		return 0;
	if (pair_read(&pair, serve->options, e) < 0)
		return -1;
	pair_close(&serve->asked);
	serve->asked = pair;
	/* One that is starting, or down, takes the old ones first: it must come up. */
	return serve->front_serves ? tell_pair(&serve->asked, "", sock, e) : 0;
}

void serve_taken(struct serve *serve, int sock)
{
	struct err e;

	if (!serve->front_serves) {
		serve->front_serves = serve->proven = true;
		if (tell_pair(&serve->asked, "", sock, &e) < 0)
			log_err(LOG_ERROR, &e, "the certificate stays as it is");
	} else if (serve->asked.certificate >= 0) {
		pair_close(&serve->tls);
		serve->tls = serve->asked;
		serve->asked = (struct pem_pair){-1, -1};
	}
}

void serve_close(struct serve *serve)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		listen_close(&serve->listeners[i]);
	serve->n_listeners = 0;
	pair_close(&serve->tls);
	pair_close(&serve->asked);
}

const char *serve_browser_url(const struct serve *serve)
{
	for (size_t i = 0; i < serve->n_listeners; i++)
		if (strncmp(serve->listeners[i].url, "http", 4) == 0)
			return serve->listeners[i].url;
	return NULL;
}
