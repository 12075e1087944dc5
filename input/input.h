/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hands: pointer and keyboard by XTEST, typing of any text through spare keycodes, key names of all vendors. Knows nothing of
 * pictures and apps. One thread; everything that waits runs in a coroutine.
 */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include "session/base/action.h"
#include "session/base/space.h"
#include "session/base/x/xconn.h"

struct input;

/* What the stage lends, all of it or nothing: hands do not see. */
struct input_ops {
	/* Takes in what was drawn until now; *frame has grown if that was anything since the last look. */
	int (*look)(void *arg, uint64_t *frame, struct err *e);
	/* Waits until nothing was drawn for quiet_ms, counted from since_ms at the earliest (0: from now), at most until deadline_ms; then *is_quiet is
	 * false, and 0 is returned all the same. */
	int (*wait_quiet)(void *arg, int quiet_ms, int64_t since_ms, int64_t deadline_ms, bool *is_quiet, struct err *e);
	/* As of the last look: something was drawn on or close to the rectangle (native pixels) in a later frame than `since`, other than by blinking. */
	bool (*changed)(void *arg, struct rect rect, uint64_t since);
	/* A button is about to go down or up, or the wheel to turn: what is there may be another thing afterwards. May wait a moment. */
	void (*before_press)(void *arg);
	/* Has the session a stored secret of this name? */
	bool (*has_secret)(void *arg, const char *name);
	/* A stored secret is about to be typed: it may be, into what has the keys now, and from now on no picture shows that; *value, of *len bytes, is lent until
	 * secret_end. Errors: ERR_SECRET, those of a wait. */
	int (*secret_begin)(void *arg, const char *name, const char **value, size_t *len, struct err *e);
	/* It was typed, or not: false when the keys went elsewhere meanwhile. */
	bool (*secret_end)(void *arg);
	void *arg;
};

/* From now on what untrusted apps have copied can be pasted into trusted ones, and read: over this connection, of an untrusted client. It must
 * outlive `input`. Errors as xconn_reply. Must run in a coroutine. */
int input_carry(struct input *input, struct xconn *untrusted, struct err *e);
/* While that is paused nothing is carried. */
void input_pause_carry(struct input *input, bool paused);

/* Reads the keyboard map and selects what the ping barrier needs. `x` must outlive it; `ops` is copied, NULL is none. Must run in a coroutine. */
int input_create(struct input **input, struct xconn *x, const struct input_ops *ops, struct err *e);
void input_destroy(struct input *input);

/* Releases every key and button that rows have pressed and not released, and all that a person holds. Sends and flushes, waits for nothing: can be called
 * anywhere, also when X does not answer. */
void input_release(struct input *input);

/*
 * A person who is elsewhere has the hands (remote.h): keys as keysyms, the pointer in native pixels unless it is not on the screen, with a bit per
 * button, 1 << 0 the first. input_remote_release lets go of it all, as input_release does too: it sends and waits for nothing. The others must run in
 * a coroutine; errors as xconn_reply.
 */
int input_remote_key(struct input *input, uint32_t keysym, bool down, struct err *e);
int input_remote_pointer(struct input *input, uint32_t buttons, int x_px, int y_px, bool on_screen, struct err *e);
void input_remote_release(struct input *input);

/* A text that the person has copied there; and what has been copied here: input_remote_wait returns when it is another, *text is malloced and to be wiped,
 * or NULL when there is none or the person put it there. */
int input_remote_copy(struct input *input, const char *text, size_t len, struct err *e);
int input_remote_wait(struct input *input, struct err *e);
int input_remote_read(struct input *input, char **text, size_t *len, struct err *e);

/* A person gets the hands, and has given them back: between the two the clipboards, the locks and the key map are the person's, and afterwards what
 * they were, or empty. Twice is once. */
int input_hold_begin(struct input *input, struct err *e);
int input_hold_end(struct input *input, struct err *e);

/* Another client has taken all keys, or the pointer, for itself: what is typed then goes to it, whatever has the focus. Errors as xconn_reply. */
int input_is_grabbed(struct input *input, bool *is_grabbed, struct err *e);

/* Waits as the rows of the keyboard do before their first key, until what has the focus takes keys; the next of them finds that done. Must run in a
 * coroutine. Errors of the rows. */
int input_settle(struct input *input, struct err *e);

/* Waits, before what is at the place in these arguments (of a row that aims) is judged and pressed, until a window that has just come takes clicks; no row does
 * that by itself. Where no window has come lately, or a button is down already, it costs nothing. Must run in a coroutine. Errors as xconn_reply, and of a wait. */
int input_settle_at(struct input *input, const json_t *args, struct err *e);

/* Types the text in place of all that what has the focus holds (Ctrl+A), "" with BackSpace. Errors as the rows key and type; a text that cannot be typed is
 * refused before anything is pressed, at /value. Must run in a coroutine. */
int input_type_over(struct input *input, const char *text, int64_t deadline_ms, struct err *e);

/* Whether these arguments of a row that types put characters somewhere: a text, the name of a secret, or a key with nothing but Shift that stands for one. */
bool input_types(const json_t *args);

/* Whether the keys in these arguments may take the focus elsewhere: Tab, Return, Escape, or a shortcut (focus.h). */
bool input_moves(const json_t *args);

/* Whether rows hold a mouse button down. */
bool input_holds_button(const struct input *input);

/* What is held now: {"keys":["shift",…],"buttons":["left",…]}; the caller's reference. */
json_t *input_held(const struct input *input);

/* Rows: click move mouse_down mouse_up drag scroll key key_down key_up hold_key type type_secret clipboard_set clipboard_get cursor_position. Home: struct input *. */
extern const struct action_row input_rows[];
extern const size_t input_n_rows;

#endif
