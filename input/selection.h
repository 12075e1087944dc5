/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A selection (CLIPBOARD, PRIMARY): what its owner offers, read within limits, and content of ours, served to whoever asks.
 *
 * Both ways of ICCCM 2.4 to 2.7: whole, and in pieces (INCR). Each request is served by a coroutine of its own, so that a client that
 * stops in the middle holds up nobody. Owner: struct input. One thread.
 */
#ifndef INPUT_SELECTION_H
#define INPUT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"
#include "session/base/xconn.h"

/* The content in one format. */
struct selection_format {
	xcb_atom_t target, type;
	uint8_t unit; /* bits: 8, 16, 32 */
	char *data;
	size_t len;   /* bytes */
};

/* Counted: those who serve it keep it while they do. */
struct selection_content {
	unsigned int refs;
	size_t n, n_left_out; /* formats that are here, and that were offered and did not come */
	struct selection_format formats[LIMIT_SELECTION_FORMATS];
};

struct selection_request;

struct selection {
	struct xconn *x;
	struct xconn_listener listener;
	xcb_window_t window; /* ours, never mapped */
	xcb_atom_t name, targets, timestamp, incr, utf8_string, utf8_text, place;
	struct selection_content *content; /* what is served; NULL refuses everything */
	bool owned;
	xcb_timestamp_t since;
	struct selection_request *requests;
	size_t n_requests;
	xcb_window_t reader;     /* set by the owner: what the client of this window fetches is counted */
	unsigned int n_fetched;  /* how often it was given content to its end, */
	unsigned int n_refused;  /* and asked while there was none */
	struct co_event fetched; /* signalled in both cases */
	/* The conversion that is waited for. */
	xcb_atom_t asked;        /* its target, or 0 */
	bool answered, refused, has_piece;
	struct co_event heard;
};

/* `x` must outlive it. Errors as xconn_reply. Must run in a coroutine, as all below that return int. */
int selection_init(struct selection *selection, struct xconn *x, const char *name, struct err *e);
/* Nothing for zeroed memory. What is being served is broken off. */
void selection_finish(struct selection *selection);

/* Text in the formats that every toolkit asks for; the caller's reference. */
struct selection_content *selection_text(const struct selection *selection, const char *text, size_t len);
/* No content in any format; the caller's reference. */
struct selection_content *selection_nothing(void);
/* Gives a reference back; nothing for NULL. */
void selection_drop(struct selection_content *content);

/*
 * Stores in *content all that the owner offers, as far as it comes within LIMIT_SELECTION_MS and LIMIT_SELECTION_BYTES; n_left_out
 * counts the rest. NULL when nobody owns the selection. `time` is the server's, now. The caller's reference. Errors as xconn_reply.
 */
int selection_read(struct selection *selection, xcb_timestamp_t time, struct selection_content **content, struct err *e);

/* Owns the selection with this content, of which it takes its own reference; NULL gives the selection up. Errors as xconn_reply. */
int selection_set(struct selection *selection, xcb_timestamp_t time, struct selection_content *content, struct err *e);

#endif
