/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificate and key from two files. */
#ifndef FRONT_CERTIFICATE_H
#define FRONT_CERTIFICATE_H

#include <gnutls/gnutls.h>

#include <stdbool.h>

#include "session/base/err.h"

/* See tls_create. The caller's; NULL with *e. */
gnutls_certificate_credentials_t certificate_load(int certificate, int key, bool proven, struct err *e);

#endif
