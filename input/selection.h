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
#include "session/base/x/xconn.h"

/* The content in one format. */
struct selection_format {
	xcb_atom_t target, type;
	uint8_t unit; /* bits: 8, 16, 32 */
	char *data;
	size_t len;   /* bytes */
	bool borrowed; /* the data are those of a format before it */
};

/* Counted: those who serve it keep it while they do. */
struct selection_content {
	unsigned int refs;
	size_t n, n_left_out; /* formats that are here, and that were offered and did not come */
	bool carried;         /* an app gave it, over another connection */
	struct selection_format formats[LIMIT_SELECTION_FORMATS];
};

struct selection_request;

#define SELECTION_PLACES 8 /* properties that conversions take in turn: what comes late for one is not taken for another's */

struct selection {
	struct xconn *x;
	struct xconn_listener listener;
	xcb_window_t window; /* ours, never mapped */
	xcb_atom_t name, targets, timestamp, incr, utf8_string, utf8_text, places[SELECTION_PLACES];
	struct selection_content *content; /* what is served; NULL refuses everything */
	bool owned;
	xcb_timestamp_t since;
	struct selection_request *requests;
	size_t n_requests;
	struct selection *sibling; /* set by the owner: another one of the same connection, or NULL */
	xcb_window_t reader;     /* set by the owner: what the client of this window fetches is counted */
	bool once;               /* set by the owner: what it has been given is there for nobody any more */
	unsigned int n_served;   /* how often it asked, for whatever, */
	unsigned int n_fetched;  /* was given content to its end, */
	unsigned int n_refused;  /* and asked while there was none */
	struct co_event fetched; /* signalled in each of these cases */
	/* The conversion that is waited for. */
	xcb_atom_t asked;        /* its target, or 0 */
	xcb_atom_t place;        /* its property */
	unsigned int n_asked;
	bool answered, refused, has_piece, deserted; /* deserted: its owner is gone */
	struct co_event heard;
};

/* `x` must outlive it. Errors as xconn_reply. Must run in a coroutine, as all below that return int. */
int selection_init(struct selection *selection, struct xconn *x, const char *name, struct err *e);
/* Nothing for zeroed memory. What is being served is broken off. */
void selection_finish(struct selection *selection);

/* No content in any format; the caller's reference. */
struct selection_content *selection_nothing(void);
/* Adds a format; `data` (malloced) is taken. Aborts beyond LIMIT_SELECTION_FORMATS. */
void selection_add(struct selection_content *content, xcb_atom_t target, char *data, size_t len);
/* Adds one more target with the same data as the last one. */
void selection_add_same(struct selection_content *content, xcb_atom_t target);
/* Text in the formats that every toolkit asks for; the caller's reference. */
struct selection_content *selection_text(const struct selection *selection, const char *text, size_t len);
/* Gives a reference back; nothing for NULL. */
void selection_drop(struct selection_content *content);
/* The format for this target; NULL when it is not there, and for no content. */
const struct selection_format *selection_find(const struct selection_content *content, xcb_atom_t target);

/* The window that owns the selection, or 0. Errors as xconn_reply. */
int selection_owner(struct selection *selection, xcb_window_t *owner, struct err *e);

/* What came of a conversion. Beside this -1, with errors as xconn_reply. */
enum selection_answer {
	SELECTION_CAME,    /* 0: it is there */
	SELECTION_REFUSED, /* the owner does not give it in this form; or nobody owns it any more */
	SELECTION_LATE,    /* it did not answer, or did not go on, within LIMIT_SELECTION_ANSWER_MS, or was not done at the deadline */
	SELECTION_LARGE,   /* it is more than `max` */
};

/*
 * Asks the owner for one form of what it has, of at most `max` bytes; `time` is the server's, now. On SELECTION_CAME format->data is the caller's. One
 * conversion of a selection at a time.
 */
int selection_convert(struct selection *selection, xcb_atom_t target, xcb_timestamp_t time, size_t max, int64_t deadline_ms,
                      struct selection_format *format, struct err *e);

/* The owner is gone: what it has not answered it never will. */
void selection_desert(struct selection *selection);

/*
 * Stores in *content all that the owner offers, as far as it comes until the deadline and within LIMIT_SELECTION_BYTES; n_left_out
 * counts the rest. NULL when nobody owns the selection. `time` is the server's, now. The caller's reference. Errors as xconn_reply.
 */
int selection_read(struct selection *selection, xcb_timestamp_t time, int64_t deadline_ms, struct selection_content **content, struct err *e);

/*
 * Owns the selection with this content, of which it takes its own reference; NULL gives the selection up. Of contents that were replaced, those
 * that are still being fetched are kept up to LIMIT_SELECTION_STALE_BYTES. Errors as xconn_reply.
 */
int selection_set(struct selection *selection, xcb_timestamp_t time, struct selection_content *content, struct err *e);

#endif
