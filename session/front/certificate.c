/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificate and key: read, checked, wiped. */
#include "session/front/certificate.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define WARN_S (14 * 86400)

/* One file of PEM in pages of its own, which are not written to a swap. */
struct pem {
	gnutls_datum_t text;
	size_t size;
};

static void pem_finish(struct pem *pem)
{
	if (!pem->text.data)
		return;
	explicit_bzero(pem->text.data, pem->size);
	(void)munmap(pem->text.data, pem->size);
	pem->text.data = NULL;
}

static int pem_read(int fd, const char *what, struct pem *pem, struct err *e)
{
	unsigned char *data = mmap(NULL, LIMIT_PEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t len = 0;
	ssize_t n = 1;

	if (data == MAP_FAILED)
		return err_sys(e, "memory for the %s", what);
	*pem = (struct pem){.text.data = data, .size = LIMIT_PEM_BYTES};
	if (mlock(data, LIMIT_PEM_BYTES) < 0)
		log_info("the pages of the %s cannot be locked: %s", what, strerror(errno));
	while (len < LIMIT_PEM_BYTES && (n = pread(fd, data + len, LIMIT_PEM_BYTES - len, (off_t)len)) > 0)
		len += (size_t)n;
	pem->text.size = (unsigned int)len;
	if (n < 0)
		return err_sys(e, "reading the %s", what);
	return len == LIMIT_PEM_BYTES ? err_set(e, ERR_BAD_REQUEST, NULL, "the file of the %s is larger than %d bytes", what, LIMIT_PEM_BYTES - 1)
	                              : 0;
}

static int load_pair(gnutls_certificate_credentials_t credentials, const struct pem *certificate, const struct pem *key, struct err *e)
{
	int rc = gnutls_certificate_set_x509_key_mem2(credentials, &certificate->text, &key->text, GNUTLS_X509_FMT_PEM, NULL, 0);

	if (rc >= 0)
		return 0;
	if (rc == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--tls-cert and --tls-key do not belong together: the key is another certificate's");
	if (rc == GNUTLS_E_DECRYPTION_FAILED || strstr((const char *)key->text.data, "ENCRYPTED"))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the key of --tls-key is encrypted; store it without a password, for root alone");
	return err_set(e, ERR_BAD_REQUEST, NULL, "--tls-cert and --tls-key are not a certificate and its key in PEM: %s", gnutls_strerror(rc));
}

static int check_dates(gnutls_certificate_credentials_t credentials, bool proven, struct err *e)
{
	gnutls_x509_crt_t *chain = NULL;
	unsigned int n = 0;
	time_t now = time(NULL), from, to;
	char text[32];

	if (gnutls_certificate_get_x509_crt(credentials, 0, &chain, &n) < 0 || n == 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the file of --tls-cert has no certificate in it");
	from = gnutls_x509_crt_get_activation_time(chain[0]);
	to = gnutls_x509_crt_get_expiration_time(chain[0]);
	for (unsigned int i = 0; i < n; i++)
		gnutls_x509_crt_deinit(chain[i]);
	gnutls_free(chain);
	(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", gmtime(to < now ? &to : from > now ? &from : &to));
	if (to < now && !proven)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the certificate of --tls-cert has expired on %s", text);
	if (from > now && !proven)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the certificate of --tls-cert is not valid before %s", text);
	if (to - now < WARN_S)
		log_warn("the certificate of --tls-cert expires on %s", text);
	return 0;
}

gnutls_certificate_credentials_t certificate_load(int certificate, int key, bool proven, struct err *e)
{
	struct pem cert_pem = {.size = 0}, key_pem = {.size = 0};
	gnutls_certificate_credentials_t credentials;
	int rc;

	if (gnutls_certificate_allocate_credentials(&credentials) < 0)
		DIE("no memory for a certificate");
	rc = pem_read(certificate, "certificate", &cert_pem, e) < 0 || pem_read(key, "key", &key_pem, e) < 0 ||
	     load_pair(credentials, &cert_pem, &key_pem, e) < 0 || check_dates(credentials, proven, e) < 0;
	pem_finish(&cert_pem);
	pem_finish(&key_pem);
	if (rc == 0)
		return credentials;
	gnutls_certificate_free_credentials(credentials);
	return NULL;
}
