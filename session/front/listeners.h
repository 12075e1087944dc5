/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the front listens: sockets, certificate and names as the warden hands them over. Owner: session/front. One thread. */
#ifndef FRONT_LISTENERS_H
#define FRONT_LISTENERS_H

#include "session/front/conn.h"
#include "session/front/hosts.h"
#include "session/warden/proto.h"

struct listener {
	struct listeners *listeners;
	int fd;
	bool tls;
	struct loop_source *source;
	struct loop_timer *pause; /* while there are no descriptors left */
};

/* Zero-initialised with certificate -1 it is ready to use. */
struct listeners {
	struct listener list[LIMIT_LISTENERS];
	size_t n;
	int certificate;   /* until its key comes */
	bool proven;       /* a front has served with it before */
	char url[264];     /* the first place that a browser can reach, or "" */
	struct tls *tls;   /* for connections from now on */
	struct hosts *hosts;
	struct loop *loop;
	struct conns *conns;
};

/* What the warden sent; `fd` is taken. A certificate that is refused leaves the one before in force. */
int listeners_label(struct listeners *listeners, const struct front_label *label, int fd, struct err *e);

/* Accepts from now on. */
int listeners_start(struct listeners *listeners, struct loop *loop, struct conns *conns, struct err *e);

#endif
