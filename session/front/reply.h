/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes back to a caller: status, headers, and a body that is in memory or comes from a stage. Every reply carries the
 * security headers and the request's id. Owner: session/front. No threads.
 */
#ifndef FRONT_REPLY_H
#define FRONT_REPLY_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>

#include "session/base/faults.h"
#include "session/front/flow.h"
#include "session/front/stage.h"

struct reply {
	int status;                 /* 0: there is none yet */
	const char *type;           /* media type; NULL when there is no body */
	char *body;                 /* malloced, the reply's; NULL with `text` or `stream` */
	const char *text;           /* a body that stays */
	size_t len;                 /* of body or text */
	int file_fd;                /* a body in a file, of its first len bytes; the reply's; with has_file */
	bool has_file;
	struct stage_reply *stream; /* the reply's */
	struct flow *flow;          /* a body that is still being made; the reply's */
	int64_t stream_len;         /* bytes of a stream's whole body, if it says so; 0: it does not */
	bool is_endless;            /* the stream's body goes on until either side closes, and so does a flow's */
	json_t *headers;            /* {"Name":"value"} beside those of every reply, or NULL */
	MHD_UpgradeHandler upgrade; /* the connection goes over to another protocol: called with the closure of reply_build; or NULL */
	int upgrade_fd;             /* what that is for, the reply's until it is stolen; with upgrade */
	bool is_page;               /* of the console: it may load its own scripts, style and pictures, and be kept */
	bool must_close;            /* the connection is not to be used again */
};

/* Each sets a reply that has none yet, or replaces a refusal. */
void reply_json(struct reply *reply, int status, json_t *taken); /* the object's reference is taken */
void reply_empty(struct reply *reply, int status);
void reply_text(struct reply *reply, const char *type, const char *text, size_t len); /* 200; text stays the caller's */
void reply_file(struct reply *reply, const char *type, int fd, size_t len); /* 200; fd is taken */
void reply_refusal(struct reply *reply, const struct faults *faults, const char *request_id); /* at least one */
/* 200 with a malloced text, which is taken. */
void reply_text_taken(struct reply *reply, const char *type, char *taken, size_t len);
/* The stage's reply (taken): its status, type, headers and body. */
void reply_relay(struct reply *reply, struct stage_reply *stream);

/* 200 with a body of this type that is still being made; the reader's end of the flow is taken. */
void reply_flow(struct reply *reply, const char *type, struct flow *flow);

/* 101: the connection becomes a WebSocket of a protocol, whose handler may steal fd, which is taken. */
void reply_websocket(struct reply *reply, const char *key, const char *protocol, MHD_UpgradeHandler handler, int fd);

/* What comes of a body from a stage or a flow: as stage_reply_read and stage_reply_watch. */
bool reply_comes(const struct reply *reply);
enum stage_read reply_read(struct reply *reply, char *out, size_t max, size_t *n);
void reply_watch(struct reply *reply, loop_timer_fn *fn, void *arg);

void reply_header(struct reply *reply, const char *name, const char *value);

/* The reply for libmicrohttpd. A stream whose whole body is not here yet is read by `read` with its closure. */
struct MHD_Response *reply_build(struct reply *reply, const char *request_id, MHD_ContentReaderCallback read, void *arg);

void reply_finish(struct reply *reply);

#endif
