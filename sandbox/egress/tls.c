/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of OpenSSL: one outward, and one for each host inward. */
#include "sandbox/egress/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>

#include "session/base/limits.h"
#include "session/base/util.h"

static const unsigned char HTTP_1_1[] = "\x08http/1.1";
#define HTTP_1_1_LEN (sizeof(HTTP_1_1) - 1)

struct inward {
	char host[CA_HOST_MAX + 1];
	SSL_CTX *context;
};

struct tls {
	SSL_CTX *outward;
	const struct ca *ca;
	struct inward inward[LIMIT_SECRETS]; /* as many hosts as there may be secrets */
	size_t n_inward;
};

static SSL_CTX *make_context(const SSL_METHOD *method)
{
	SSL_CTX *context = SSL_CTX_new(method);

	if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION))
		DIE("no TLS");
	(void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	(void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	return context;
}

struct tls *tls_create(const char *trusted, struct err *e)
{
	struct tls *tls;

	/* Its own configuration file is not for us. */
	if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
		DIE("no TLS");
	tls = util_zalloc(sizeof(*tls));
	tls->outward = make_context(TLS_client_method());
	SSL_CTX_set_verify(tls->outward, SSL_VERIFY_PEER, NULL);
	if (SSL_CTX_set_alpn_protos(tls->outward, HTTP_1_1, HTTP_1_1_LEN) != 0)
		DIE("no memory");
	if (SSL_CTX_load_verify_file(tls->outward, trusted))
		return tls;
	(void)err_set(e, ERR_INTERNAL, NULL, "the certificates that this machine trusts cannot be read from %s", trusted);
	ERR_clear_error();
	tls_destroy(tls);
	return NULL;
}

void tls_destroy(struct tls *tls)
{
	if (!tls)
		return;
	for (size_t i = 0; i < tls->n_inward; i++)
		SSL_CTX_free(tls->inward[i].context);
	SSL_CTX_free(tls->outward);
	free(tls);
}

void tls_set_ca(struct tls *tls, const struct ca *ca)
{
	if (tls->ca)
		DIE("a second authority of one session");
	tls->ca = ca;
}

/* --- inward --- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *offered, unsigned int len, void *arg)
{
	(void)ssl;
	(void)arg;
	/* The second list of OpenSSL's is the client's, and what it chooses points into one of both. */
	for (unsigned int at = 0; at < len; at += 1U + offered[at])
		if (offered[at] == HTTP_1_1[0] && len - at > offered[at] && memcmp(offered + at + 1, HTTP_1_1 + 1, HTTP_1_1[0]) == 0) {
			*out = offered + at + 1;
			*out_len = offered[at];
			return SSL_TLSEXT_ERR_OK;
		}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* arg is the host. Asked also of a client that names none. */
static int check_name(SSL *ssl, int *alert, void *arg)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (name && strcasecmp(name, arg) == 0)
		return SSL_TLSEXT_ERR_OK;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *inward_context(struct tls *tls, const char *host, struct err *e)
{
	struct inward *inward = &tls->inward[tls->n_inward];

	for (size_t i = 0; i < tls->n_inward; i++)
		if (strcmp(tls->inward[i].host, host) == 0)
			return tls->inward[i].context;
	if (!tls->ca || tls->n_inward == ARRAY_LEN(tls->inward)) {
		(void)err_set(e, ERR_FORBIDDEN, NULL, "no certificate can be made for this host");
		return NULL;
	}
	inward->context = make_context(TLS_server_method());
	if (ca_sign(tls->ca, host, inward->context, e) < 0) {
		SSL_CTX_free(inward->context);
		return NULL;
	}
	(void)memccpy(inward->host, host, '\0', sizeof(inward->host) - 1);
	SSL_CTX_set_alpn_select_cb(inward->context, choose_protocol, NULL);
	(void)SSL_CTX_set_tlsext_servername_callback(inward->context, check_name);
	(void)SSL_CTX_set_tlsext_servername_arg(inward->context, inward->host);
	(void)SSL_CTX_set_num_tickets(inward->context, 0);
	tls->n_inward++;
	return inward->context;
}

static SSL *make_session(SSL_CTX *context)
{
	SSL *ssl = SSL_new(context);

	if (!ssl)
		DIE("no memory");
	return ssl;
}

int tls_accept(struct tls *tls, struct wire *wire, const char *host, int64_t deadline_ms, struct err *e)
{
	SSL_CTX *context = inward_context(tls, host, e);

	return context ? wire_begin_tls(wire, make_session(context), true, deadline_ms, e) : -1;
}

/* --- outward --- */

static int check_protocol(const struct wire *wire, struct err *e)
{
	const unsigned char *name = NULL;
	unsigned int len = 0;

	SSL_get0_alpn_selected(wire_tls(wire), &name, &len);
	if (len == 0 || (len == HTTP_1_1[0] && memcmp(name, HTTP_1_1 + 1, len) == 0))
		return 0;
	return err_set(e, ERR_GONE, NULL, "it does not speak HTTP/1.1");
}

int tls_connect(struct tls *tls, struct wire *wire, const char *host, int64_t deadline_ms, struct err *e)
{
	SSL *ssl = make_session(tls->outward);

	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	/* As SSL_set_tlsext_host_name does, which is a macro that casts const away. */
	if (!SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)host) || !SSL_set1_host(ssl, host))
		DIE("no memory");
	if (wire_begin_tls(wire, ssl, false, deadline_ms, e) < 0)
		return -1;
	return check_protocol(wire, e);
}
