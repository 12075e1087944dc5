/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where programs of the app jail find the way out, and where that leads. */
#ifndef RELAY_PROTO_H
#define RELAY_PROTO_H

#define RELAY_PORT 3128 /* on 127.0.0.1; speaks what glovebox-egress speaks: HTTP with CONNECT, and SOCKS5 */
#define RELAY_URL "http://127.0.0.1:3128"
#define RELAY_PROXY "/run/egress/proxy.sock"
#define RELAY_PROGRAM "/run/glovebox/bin/glovebox-relay"

#endif
