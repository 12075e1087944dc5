/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys are of P-256. What browsers want of certificates is a table. */
#include "sandbox/egress/ca.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/base64.h"
#include "session/base/locked.h"
#include "session/base/util.h"

#define VALID_DAYS 396  /* longer than a session lives; browsers take no leaf of more than 398 */
#define EARLIER_S (24 * 3600) /* clocks differ */
#define SERIAL_BITS 127
#define SAVED_BYTES 32768

struct ca {
	EVP_PKEY *key;
	X509 *certificate;
	char *hosts; /* each with a blank behind it */
};

struct extension {
	int nid;
	const char *value; /* in the words of x509v3_config(5) */
};

static int failed(const char *what, struct err *e)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	(void)err_set(e, ERR_INTERNAL, NULL, "%s: %s", what, reason ? reason : "no reason given");
	ERR_clear_error();
	return -1;
}

/* --- certificates --- */

static bool set_serial(X509 *certificate)
{
	BIGNUM *number = BN_new();
	bool ok = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));

	BN_free(number);
	return ok;
}

static bool set_name(X509_NAME *name, const char *common)
{
	return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"Glovebox", -1, -1, 0) &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common, -1, -1, 0);
}

static bool add_extensions(X509 *certificate, X509 *issuer, const struct extension *list, size_t n)
{
	X509V3_CTX context;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509V3_set_ctx_nodb(&context);
	for (size_t i = 0; i < n; i++) {
		X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, list[i].nid, list[i].value);
		bool ok = extension && X509_add_ext(certificate, extension, -1);

		X509_EXTENSION_free(extension);
		if (!ok)
			return false;
	}
	return true;
}

/* A certificate of `key`, signed by `issuer` with `by`; NULL issuer: by itself. */
static X509 *make(EVP_PKEY *key, const char *common, X509 *issuer, EVP_PKEY *by, const struct extension *list, size_t n)
{
	X509 *certificate = X509_new();
	X509 *from = issuer ? issuer : certificate;

	if (certificate && X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate) && X509_set_pubkey(certificate, key) &&
	    X509_gmtime_adj(X509_getm_notBefore(certificate), -EARLIER_S) && X509_time_adj_ex(X509_getm_notAfter(certificate), VALID_DAYS, 0, NULL) &&
	    set_name(X509_get_subject_name(certificate), common) && X509_set_issuer_name(certificate, X509_get_subject_name(from)) &&
	    add_extensions(certificate, from, list, n) && X509_sign(certificate, by, EVP_sha256()))
		return certificate;
	X509_free(certificate);
	return NULL;
}

/* `begin`, and each host between two texts. */
static char *list_hosts(const char *begin, const char *before, const char *const *hosts, size_t n, const char *after)
{
	char *text = util_strdup(begin);

	for (size_t i = 0; i < n; i++) {
		char *longer = util_printf("%s%s%s%s", text, before, hosts[i], after);

		free(text);
		text = longer;
	}
	return text;
}

struct ca *ca_create(const char *const *hosts, size_t n, struct err *e)
{
	/* Hosts alone, and no address at all. */
	auto_free char *names = list_hosts("critical,excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0", ",permitted;DNS:", hosts, n, "");
	const struct extension extensions[] = {
		{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
		{NID_key_usage, "critical,keyCertSign"},
		{NID_ext_key_usage, "serverAuth"},
		{NID_name_constraints, names},
		{NID_subject_key_identifier, "hash"},
	};
	struct ca *ca = util_zalloc(sizeof(*ca));

	ca->hosts = list_hosts("", "", hosts, n, " ");
	ca->key = EVP_EC_gen("P-256");
	if (ca->key)
		ca->certificate = make(ca->key, "Glovebox, this session alone", NULL, ca->key, extensions, ARRAY_LEN(extensions));
	if (ca->certificate)
		return ca;
	(void)failed("making the session's certificate authority", e);
	ca_destroy(ca);
	return NULL;
}

void ca_destroy(struct ca *ca)
{
	if (!ca)
		return;
	EVP_PKEY_free(ca->key);
	X509_free(ca->certificate);
	free(ca->hosts);
	free(ca);
}

bool ca_covers(const struct ca *ca, const char *host)
{
	size_t len = strlen(host);

	for (const char *at = ca->hosts; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == len && memcmp(at, host, len) == 0)
			return true;
	return false;
}

int ca_sign(const struct ca *ca, const char *host, SSL_CTX *context, struct err *e)
{
	auto_free char *name = util_printf("DNS:%s", host);
	const struct extension extensions[] = {
		{NID_basic_constraints, "critical,CA:FALSE"},
		{NID_key_usage, "critical,digitalSignature"},
		{NID_ext_key_usage, "serverAuth"},
		{NID_subject_alt_name, name},
		{NID_subject_key_identifier, "hash"},
		{NID_authority_key_identifier, "keyid:always"},
	};
	EVP_PKEY *key;
	X509 *certificate;
	int rc = -1;

	if (!ca_covers(ca, host))
		return err_set(e, ERR_FORBIDDEN, NULL, "the session's certificate authority is not for this host");
	key = EVP_EC_gen("P-256");
	certificate = key ? make(key, "Glovebox stands between", ca->certificate, ca->key, extensions, ARRAY_LEN(extensions)) : NULL;
	if (certificate && SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1)
		rc = 0;
	else
		(void)failed("making a certificate", e);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return rc;
}

/* --- as text --- */

char *ca_pem(const struct ca *ca)
{
	BIO *memory = BIO_new(BIO_s_mem());
	char *bytes, *text;
	long len;

	if (!memory || !PEM_write_bio_X509(memory, ca->certificate))
		DIE("no memory");
	len = BIO_get_mem_data(memory, &bytes);
	text = util_printf("%.*s", (int)len, bytes);
	BIO_free(memory);
	return text;
}

char *ca_base64(const struct ca *ca)
{
	unsigned char *der = NULL;
	int len = i2d_X509(ca->certificate, &der);
	char *text;

	if (len < 0)
		DIE("no memory");
	text = base64_encode(der, (size_t)len, NULL);
	OPENSSL_free(der);
	return text;
}

/* --- in a file: three lengths, then certificate and key in DER, and the hosts --- */

enum { SAVED_CERTIFICATE, SAVED_KEY, SAVED_HOSTS, N_SAVED };

struct saved {
	uint32_t len[N_SAVED];
	unsigned char bytes[SAVED_BYTES];
};

static bool add(struct saved *saved, int what, const void *bytes, int len)
{
	size_t at = 0;

	for (int i = 0; i < what; i++)
		at += saved->len[i];
	if (len <= 0 || (size_t)len > sizeof(saved->bytes) - at)
		return false;
	memcpy(saved->bytes + at, bytes, (size_t)len);
	saved->len[what] = (uint32_t)len;
	return true;
}

int ca_save(const struct ca *ca, int fd, struct err *e)
{
	struct saved *saved = locked_alloc(sizeof(*saved));
	unsigned char *certificate = NULL, *key = NULL;
	int certificate_len = i2d_X509(ca->certificate, &certificate), key_len = i2d_PrivateKey(ca->key, &key);
	bool fits = add(saved, SAVED_CERTIFICATE, certificate, certificate_len) && add(saved, SAVED_KEY, key, key_len) &&
	            add(saved, SAVED_HOSTS, ca->hosts, (int)strlen(ca->hosts) + 1);
	int rc = fits && pwrite(fd, saved, sizeof(*saved), 0) == (ssize_t)sizeof(*saved) ? 0 : err_sys(e, "keeping the session's certificate authority");

	OPENSSL_free(certificate);
	OPENSSL_clear_free(key, key_len > 0 ? (size_t)key_len : 0);
	locked_free(saved, sizeof(*saved));
	return rc;
}

static struct ca *read_saved(const struct saved *saved)
{
	struct ca *ca = util_zalloc(sizeof(*ca));
	const unsigned char *at = saved->bytes, *key = at + saved->len[SAVED_CERTIFICATE];
	const char *hosts = (const char *)key + saved->len[SAVED_KEY];

	ca->certificate = d2i_X509(NULL, &at, saved->len[SAVED_CERTIFICATE]);
	ca->key = d2i_AutoPrivateKey(NULL, &key, saved->len[SAVED_KEY]);
	ca->hosts = strnlen(hosts, saved->len[SAVED_HOSTS]) < saved->len[SAVED_HOSTS] ? util_strdup(hosts) : NULL;
	if (ca->certificate && ca->key && ca->hosts && X509_check_private_key(ca->certificate, ca->key) == 1)
		return ca;
	ca_destroy(ca);
	return NULL;
}

int ca_load(int fd, struct ca **out, struct err *e)
{
	struct saved *saved = locked_alloc(sizeof(*saved));
	bool is_whole = pread(fd, saved, sizeof(*saved), 0) == (ssize_t)sizeof(*saved);
	size_t len = 0;
	struct ca *ca = NULL;

	for (size_t i = 0; i < N_SAVED && is_whole; i++) {
		is_whole = saved->len[i] <= sizeof(saved->bytes);
		len += saved->len[i];
	}
	if (is_whole && len > 0 && len <= sizeof(saved->bytes))
		ca = read_saved(saved);
	locked_free(saved, sizeof(*saved));
	if (!ca && (!is_whole || len > 0))
		return failed("what was kept of the session's certificate authority cannot be read", e);
	*out = ca;
	return 0;
}
