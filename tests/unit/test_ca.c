/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* A session's certificate authority: what it is good for and what not; TLS towards the session and towards a host, each with good peers and bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "sandbox/egress/tls.h"
#include "session/base/base64.h"
#include "session/base/co.h"
#include "session/base/util.h"

#define HOST "api.test"
#define OTHER "eve.test" /* as long */

static const char *const hosts[] = {HOST, "b.test"};

static struct ca *make_ca(void)
{
	struct err e = {0};
	struct ca *ca = ca_create(hosts, ARRAY_LEN(hosts), &e);

	assert_non_null(ca);
	return ca;
}

static X509 *certificate_of(const struct ca *ca)
{
	auto_free char *text = ca_base64(ca);
	size_t len;
	auto_free unsigned char *der = base64_decode(text, strlen(text), &len);
	const unsigned char *at = der;
	X509 *certificate = d2i_X509(NULL, &at, (long)len);

	assert_non_null(certificate);
	return certificate;
}

/* What OpenSSL says of a certificate of this authority for the host. */
static int verify(const struct ca *ca, const char *host)
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	X509 *root = certificate_of(ca);
	struct err e = {0};
	int result;

	assert_int_equal(ca_sign(ca, host, context, &e), 0);
	assert_true(X509_STORE_add_cert(store, root));
	assert_true(X509_STORE_CTX_init(check, store, SSL_CTX_get0_certificate(context), NULL));
	assert_true(X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(check), host, 0));
	assert_true(X509_STORE_CTX_set_purpose(check, X509_PURPOSE_SSL_SERVER));
	(void)X509_verify_cert(check);
	result = X509_STORE_CTX_get_error(check);
	X509_STORE_CTX_free(check);
	X509_STORE_free(store);
	X509_free(root);
	SSL_CTX_free(context);
	return result;
}

static void test_its_own_hosts(void **state)
{
	struct ca *ca = make_ca(), *another = make_ca();
	auto_free char *one = ca_pem(ca), *two = ca_pem(another);
	SSL_CTX *context = SSL_CTX_new(TLS_method());
	struct err e = {0};

	(void)state;
	assert_string_not_equal(one, two);
	assert_true(ca_covers(ca, HOST) && ca_covers(ca, "b.test"));
	assert_false(ca_covers(ca, "a.test") || ca_covers(ca, "") || ca_covers(ca, "test") || ca_covers(ca, HOST " b.test"));
	assert_int_equal(verify(ca, HOST), X509_V_OK);
	assert_int_equal(verify(ca, "b.test"), X509_V_OK);
	assert_int_equal(ca_sign(ca, OTHER, context, &e), -1);
	assert_int_equal(e.code, ERR_FORBIDDEN);
	SSL_CTX_free(context);
	ca_destroy(ca);
	ca_destroy(another);
}

static void test_what_it_says_of_itself(void **state)
{
	struct ca *ca = make_ca();
	X509 *certificate = certificate_of(ca);
	int critical = 0, at = X509_get_ext_by_NID(certificate, NID_name_constraints, -1);
	NAME_CONSTRAINTS *names = X509_get_ext_d2i(certificate, NID_name_constraints, &critical, NULL);

	(void)state;
	assert_true(at >= 0 && critical == 1);
	assert_int_equal(sk_GENERAL_SUBTREE_num(names->permittedSubtrees), ARRAY_LEN(hosts));
	assert_int_equal(sk_GENERAL_SUBTREE_num(names->excludedSubtrees), 2); /* all addresses */
	assert_int_equal(X509_get_pathlen(certificate), 0);
	assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(certificate)), 256);
	assert_int_equal(X509_get_key_usage(certificate), KU_KEY_CERT_SIGN);
	NAME_CONSTRAINTS_free(names);
	X509_free(certificate);
	ca_destroy(ca);
}

/* The key itself is no use for another host: what is kept is changed so that the program would sign for one. */
static void test_constraints_hold(void **state)
{
	struct ca *ca = make_ca(), *bent = NULL;
	char bytes[4096], *at;
	auto_fd fd = memfd_create("keep", MFD_CLOEXEC);
	struct err e = {0};

	(void)state;
	assert_int_equal(ca_save(ca, fd, &e), 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	at = memmem(bytes, sizeof(bytes), HOST " b.test ", strlen(HOST " b.test "));
	assert_non_null(at);
	memcpy(at, OTHER, strlen(OTHER));
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(ca_load(fd, &bent, &e), 0);
	assert_int_equal(verify(bent, OTHER), X509_V_ERR_PERMITTED_VIOLATION);
	assert_int_equal(verify(bent, "b.test"), X509_V_OK);
	ca_destroy(ca);
	ca_destroy(bent);
}

static void test_kept(void **state)
{
	struct ca *ca = make_ca(), *again = ca;
	auto_fd fd = memfd_create("keep", MFD_CLOEXEC);
	auto_free char *before = ca_pem(ca), *after = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(ca_load(fd, &again, &e), -1); /* too small */
	assert_int_equal(ftruncate(fd, 65536), 0);
	assert_int_equal(ca_load(fd, &again, &e), 0);
	assert_null(again);
	assert_int_equal(ca_save(ca, fd, &e), 0);
	ca_destroy(ca);
	assert_int_equal(ca_load(fd, &again, &e), 0);
	after = ca_pem(again);
	assert_string_equal(before, after);
	assert_int_equal(verify(again, HOST), X509_V_OK);
	ca_destroy(again);
	assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff", 5, 2), 5);
	assert_int_equal(ca_load(fd, &again, &e), -1);
}

/* --- TLS --- */

/* Two ends: `ours` is tls.h, `peer` any program's OpenSSL. */
static struct {
	struct loop *loop;
	struct tls *tls;
	const struct ca *ca;
	struct wire *ours, *peer;
	bool accepts;             /* ours is the server */
	const char *name;         /* that the peer asks for, or has a certificate for; NULL: none */
	const char *alpn;         /* in its form on the wire, or NULL */
	int rc, peer_rc, n_running;
	struct err why;
	char got[64];
	bool early;               /* the first bytes were read before and given back */
} run;

static void ended(void)
{
	if (--run.n_running == 0)
		loop_stop(run.loop);
}

static void run_ours(void *arg)
{
	int64_t deadline_ms = util_now_ms() + 5000;
	char first[16];

	(void)arg;
	if (run.early) {
		ssize_t n = wire_read(run.ours, first, sizeof(first), deadline_ms, &run.why);

		assert_true(n > 0);
		wire_unread(run.ours, first, (size_t)n);
	}
	run.rc = run.accepts ? tls_accept(run.tls, run.ours, HOST, deadline_ms, &run.why) : tls_connect(run.tls, run.ours, HOST, deadline_ms, &run.why);
	if (run.rc == 0 && wire_write(run.ours, "hello", 5, deadline_ms, &run.why) == 0) {
		wire_shut(run.ours);
		(void)wire_read(run.ours, run.got, sizeof(run.got) - 1, deadline_ms, &run.why);
	}
	wire_destroy(run.ours);
	ended();
}

static SSL *peer_session(void)
{
	SSL_CTX *context = SSL_CTX_new(run.accepts ? TLS_client_method() : TLS_server_method());
	X509 *root = certificate_of(run.ca);
	struct err e = {0};
	SSL *ssl;

	if (run.accepts) {
		assert_true(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root));
		SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
		if (run.alpn)
			assert_int_equal(SSL_CTX_set_alpn_protos(context, (const unsigned char *)run.alpn, (unsigned int)strlen(run.alpn)), 0);
	} else {
		assert_int_equal(ca_sign(run.ca, run.name, context, &e), 0);
	}
	ssl = SSL_new(context);
	if (run.accepts && run.name)
		assert_true(SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)run.name));
	SSL_CTX_free(context);
	X509_free(root);
	return ssl;
}

static void run_peer(void *arg)
{
	int64_t deadline_ms = util_now_ms() + 5000;
	struct err e = {0};
	char text[64] = "";

	(void)arg;
	run.peer_rc = wire_begin_tls(run.peer, peer_session(), !run.accepts, deadline_ms, &e);
	if (run.peer_rc == 0 && wire_read(run.peer, text, sizeof(text) - 1, deadline_ms, &e) > 0)
		(void)wire_write(run.peer, text, strlen(text), deadline_ms, &e);
	wire_shut(run.peer);
	wire_destroy(run.peer);
	ended();
}

static void meet(const struct ca *ca, const struct ca *trusted, bool accepts, const char *name, const char *alpn)
{
	char path[] = "/tmp/test_ca.XXXXXX";
	auto_fd file = mkstemp(path);
	auto_free char *pem = ca_pem(trusted);
	struct err e = {0};
	int ends[2];

	assert_int_equal(util_write_all(file, pem, strlen(pem)), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	run.loop = loop_create(&e);
	run.tls = tls_create(path, &e);
	assert_non_null(run.tls);
	tls_set_ca(run.tls, ca);
	run.ca = ca;
	run.ours = wire_create(run.loop, ends[0]);
	run.peer = wire_create(run.loop, ends[1]);
	run.accepts = accepts;
	run.name = name;
	run.alpn = alpn;
	run.n_running = 2;
	memset(run.got, 0, sizeof(run.got));
	run.why = (struct err){0};
	(void)co_start(run.loop, run_ours, NULL);
	(void)co_start(run.loop, run_peer, NULL);
	loop_run(run.loop);
	loop_destroy(run.loop);
	tls_destroy(run.tls);
	(void)unlink(path);
}

static void test_towards_the_session(void **state)
{
	static const struct {
		const char *name, *alpn;
		bool works;
	} rows[] = {
		{HOST, NULL, true},
		{"API.Test", "\x02h2\x08http/1.1", true},
		{HOST, "\x02h2", false},
		{"b.test", NULL, false}, /* a host of the authority's, but another connection's */
		{OTHER, NULL, false},
		{NULL, NULL, false},
	};
	struct ca *ca = make_ca();

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		run.early = i % 2;
		meet(ca, ca, true, rows[i / 2].name, rows[i / 2].alpn);
		assert_int_equal(run.rc, rows[i / 2].works ? 0 : -1);
		assert_string_equal(run.got, rows[i / 2].works ? "hello" : "");
		assert_int_equal(run.why.code, rows[i / 2].works ? ERR_NONE : ERR_GONE);
	}
	run.early = false;
	ca_destroy(ca);
}

static void test_towards_a_host(void **state)
{
	struct ca *ca = make_ca(), *unknown = make_ca();

	(void)state;
	meet(ca, ca, false, HOST, NULL);
	assert_int_equal(run.rc, 0);
	assert_string_equal(run.got, "hello");
	/* Another host's certificate, and one that nobody trusts. */
	meet(ca, ca, false, "b.test", NULL);
	assert_int_equal(run.rc, -1);
	assert_non_null(strstr(run.why.msg, "certificate is refused"));
	meet(unknown, ca, false, HOST, NULL);
	assert_int_equal(run.rc, -1);
	assert_non_null(strstr(run.why.msg, "certificate is refused"));
	ca_destroy(ca);
	ca_destroy(unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_its_own_hosts), cmocka_unit_test(test_what_it_says_of_itself), cmocka_unit_test(test_constraints_hold),
		cmocka_unit_test(test_kept),          cmocka_unit_test(test_towards_the_session),    cmocka_unit_test(test_towards_a_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
