/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on the screen: pixels by MIT-SHM into a segment passed by descriptor, the pointer drawn in, encoders, the desktop's
 * background. Knows nothing of input and apps. One thread; everything that waits runs in a coroutine.
 */
#ifndef DISPLAY_DISPLAY_H
#define DISPLAY_DISPLAY_H

#include "display/encode.h"
#include "display/ink.h"
#include "session/base/action.h"
#include "session/base/bytes.h"
#include "session/base/limits.h"
#include "session/base/part.h"
#include "session/base/space.h"
#include "session/base/x/xconn.h"

struct display;

/* The screen of `x` has its maximum size, at which the picture segment is made and attached; it gets the size `native`. Selects damage, paints
 * the root window. `x` must outlive it. Errors: ERR_UNSUPPORTED when the display's pixels or extensions are not what is needed, those of
 * xconn_reply. Must run in a coroutine. */
int display_create(struct display **display, struct xconn *x, struct space maximum, struct space native, struct err *e);
void display_destroy(struct display *display);

/* Waits until a window manager is there (_NET_SUPPORTING_WM_CHECK and _NET_CLIENT_LIST on the root), knows how large the screen is
 * (_NET_DESKTOP_GEOMETRY), and the painted background can be seen in the pixels. ERR_SESSION_FAILED at the deadline, with what was missing. */
int display_wait_ready(struct display *display, int64_t deadline_ms, struct err *e);

/* The size that the screen has now. Nobody but display_resize changes it: what a program inside makes of it is undone. */
struct space display_native(const struct display *display);

/* The frame in which it got this size; 0: it has had no other. */
uint64_t display_resized(const struct display *display);

/* A size that it can have: LIMIT_SIDE_MIN_PX or more on both sides (the caller has checked that), and not more than its maximum: ERR_DISPLAY_MAX. */
int display_check_size(const struct display *display, struct space size, struct err *e);

/*
 * Gives the screen this size, which display_check_size has found good. All of it is of a new frame then. Returns when the window manager has
 * followed and the screen has come to rest, or LIMIT_RESIZE_MS or the deadline is over (then *settled is false). On failure it has, or soon
 * gets again, the size that it had. Errors: ERR_CONFLICT when the display does not take it, those of xconn_reply. Must run in a coroutine.
 */
int display_resize(struct display *display, struct space size, int64_t deadline_ms, bool *settled, struct err *e);

/* Calls fn whenever the screen has got another size, before anybody sees anything of that. It must return soon. */
void display_on_resize(struct display *display, void (*fn)(void *arg, struct space native), void *arg);

/*
 * The frame of the last change that is known: of pixels that truly differ, or of the pointer when a picture with pointer is looked at. What
 * becomes known from now on has a greater one; several changes that nobody looked at in between count as one. It is what a caller is told.
 */
uint64_t display_frame(const struct display *display);

/* Takes in what was drawn until now: display_frame and the two below know of it then. Errors of xconn_reply. */
int display_update(struct display *display, struct err *e);

/* Pixels on or close to the rectangle (native pixels; tiles.h says how close) changed in later frames than `since`, other than by blinking
 * (blinks.h says what that is). The pointer is none. */
bool display_changed(const struct display *display, struct rect rect, uint64_t since);

/* Somebody decides on a picture that he has got, and will ask display_changed: for a while all changes are taken in as they are drawn. */
void display_attend(struct display *display);

/* Where pixels changed in later frames than `since`: at most `max` rectangles of native pixels, from whole tiles. */
size_t display_changes(const struct display *display, uint64_t since, struct rect *out, size_t max);

/* Where the pointer is, in native pixels. Errors of xconn_reply. */
int display_pointer(struct display *display, int *x, int *y, struct err *e);

/* How a caller says when the screen is quiet; both have these defaults. */
#define DISPLAY_QUIET_MS 200
#define DISPLAY_SETTLE_MS 3000
#define DISPLAY_QUIET_FIELDS                                                                                                             \
	{"quiet_ms", FIELD_INT, false, 0, LIMIT_QUIET_MS, NULL, NULL, "ms", "200", "nothing drawn for so long counts as settled"},      \
		{"timeout_ms", FIELD_INT, false, 0, LIMIT_CALL_MS, NULL, NULL, "ms", "3000", "wait no longer than this for it"}

/* What counts as quiet. Rectangles are native pixels. */
struct display_quiet {
	int quiet_ms;             /* no pixel changed for so long */
	int64_t since_ms;         /* counted from here at the earliest: when the last thing was done that may be answered by a change; 0: from now */
	struct rect region;       /* in here; width 0: anywhere */
	const struct rect *masks; /* but for what lies wholly in one of these */
	size_t n_masks;
};

/*
 * Waits for quiet, at most until deadline_ms (then *settled is false and 0 is returned). What was drawn until it returns is known then, as after
 * display_update: with quiet_ms 0 it is one. Errors of xconn_reply, among them ERR_CANCELLED.
 */
int display_settle(struct display *display, const struct display_quiet *quiet, int64_t deadline_ms, bool *settled, struct err *e);

/* The fields with which a caller says what picture it wants, of the action screenshot and of whatever else takes pictures. */
#define DISPLAY_PICTURE_FIELDS                                                                                                           \
	{"region", FIELD_RECT, false, 0, 0, NULL, NULL, NULL, NULL, "part of the screen, in your space; absent is all of it"},          \
		{"format", FIELD_ENUM, false, 0, 0, "png jpeg webp raw", NULL, NULL, NULL,                                              \
	         "absent: png, or jpeg when that has more than max_bytes; raw: 3 bytes RGB a pixel"},                                  \
		{"quality", FIELD_INT, false, 1, 100, NULL, NULL, NULL, NULL, "of jpeg (absent: 80) and webp (absent: without loss)"},  \
		{"compression", FIELD_ENUM, false, 0, 0, "fast small", NULL, NULL, "\"fast\"", "of png; small takes many times as long"}, \
		{"max_bytes", FIELD_INT, false, LIMIT_PICTURE_MIN_BYTES, LIMIT_PICTURE_BYTES, NULL, NULL, "bytes", NULL,                \
	         "of the encoded picture, made to fit by less quality, then a smaller scale; absent: 3750000 if format is, else any"}, \
		{"space", FIELD_ANY, false, 0, 0, "native", &form_space, NULL, NULL,                                                               \
	         "scale of the picture: \"native\", or {\"width\",\"height\"} of the whole screen; absent is your space"},             \
		{"size", FIELD_OBJECT, false, 0, 0, NULL, &form_space, NULL, NULL, "of the picture itself, in place of a scale"}, \
		{"cursor", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "draw the pointer"}

/* What these fields' rows cannot say. ERR_BAD_FIELD and those of a form, with pointers relative to the object of the fields. */
int display_check_picture(const json_t *fields, struct err *e);

/* The form of a space as a caller writes it, at object[name]. */
int display_check_space(const json_t *object, const char *name, struct err *e);

/* A space as a caller writes it, checked: "native" or an object; absent is `fallback`. */
struct space display_read_space(const json_t *object, const char *name, struct space native, struct space fallback);

/*
 * Places that no picture shows, native pixels: they are of one colour in all that is taken of the screen, and nothing that is drawn there is a change. Who knows
 * them is asked whenever pixels are taken, before the server copies them and again before anybody sees them: what either answer names is blank. It may wait,
 * but not for this display.
 */
typedef size_t display_blanks_fn(void *arg, struct rect out[LIMIT_BLANKS]);
void display_use_blanks(struct display *display, display_blanks_fn *fn, void *arg);

/* While it answers after the server has copied: all of this rectangle was drawn anew since the last time. */
bool display_drawn_over(const struct display *display, struct rect rect);

/* While it answers after the server has copied: what is drawn in this rectangle. Else false. */
bool display_ink(const struct display *display, struct rect rect, struct ink *out);

/* Its answer has changed although nothing was drawn. Waits for nothing. */
void display_blanks_changed(struct display *display);

/* What a picture is to be like; zero fields are the defaults. Coordinates are native pixels. */
struct display_request {
	int x, y, width, height;       /* region; width 0 is all of it */
	int out_width, out_height;     /* size of the picture, 1..LIMIT_SIDE_MAX_PX; 0 is the region's */
	uint32_t window;               /* this one alone, with its menus and dialogs, in place of the region; 0: all that is there */
	struct space scale;            /* of such a picture: of the whole screen */
	bool no_cursor;
	enum encode_format format;
	int quality;                   /* 1..100; 0 is the format's own */
	long max_bytes;                /* of the encoded picture; 0: as many as it has */
	bool any_format;               /* to fit these, it may be JPEG */
};

/* The request that a checked object with the fields above, in the caller's space, asks for. */
struct display_request display_request_read(const json_t *fields, struct space space, struct space native);

/* The same for a window whose part of the screen is this: the region is that, and the picture of the size that the scale makes of it. */
struct display_request display_request_fit(const struct display_request *request, struct rect region, struct space native);

/* Its region. */
struct rect display_request_region(const struct display_request *request);

/* One picture. */
struct display_picture {
	struct bytes *bytes;       /* shared with whoever gets the same: display_picture_drop */
	uint64_t frame;            /* the frame it shows */
	uint64_t made;             /* and that in which it was made: nothing of it has changed since */
	int width, height;         /* of the picture */
	enum encode_format format;
	int quality;               /* 0: the format has none, or it is without loss */
	struct display_request asked; /* what was asked for, whole */
	struct part *part;         /* of a window alone: what it shows; else NULL */
	bool fell_back;            /* it is not that: as such it would have more than max_bytes */
};

/* What callers call a format: png, however it is compressed. */
const char *display_format_name(enum encode_format format);

/* Who knows windows; without it there are no pictures of one alone. */
void display_use_windows(struct display *display, part_fn *fn, void *arg);

/* Takes a picture. The same request for the same frame gives the same bytes. Errors of xconn_reply, of an encoder; ERR_CONFLICT when the region
 * is not on the screen any more, which has been resized since it was asked for; of part_fn for a window's. */
int display_picture(struct display *display, const struct display_request *request, struct display_picture *out, struct err *e);
void display_picture_drop(struct display_picture *picture);

/*
 * {"format","quality","width","height","data"} with the bytes in Base64, and if the picture is not what was asked for the "fallback":
 * {"reason":"max_bytes","max_bytes","asked":{"format","quality","width","height"}}. The caller's reference. ERR_TOO_LARGE: it has more than
 * LIMIT_PICTURE_INLINE_BYTES.
 */
int display_picture_json(const struct display_picture *picture, json_t **out, struct err *e);

/*
 * A caller that keeps a picture of its own and gets what changes in it. In the memory of who follows, from display_follow_begin to
 * display_follow_end; its fields are display's.
 */
struct display_follower {
	struct display_follower *next;
	struct display_request asked;
	struct display_request request; /* the same for the screen as large as it is: of a region what is left of it */
	struct co_event *news;
	struct display_has {
		bool picture;           /* else nothing yet */
		uint64_t frame, moves;  /* that it shows */
		uint32_t cursor_serial; /* the pointer in it, and what that covers in native pixels; width 0: none is drawn */
		struct rect cursor;
	} has;
};

/* Begins with a follower that has no picture yet; of the request max_bytes does not count. When the screen is resized it gets the whole picture next. `news` (the caller's) is signalled from now on whenever something may have changed. */
void display_follow_begin(struct display *display, const struct display_request *request, struct co_event *news,
                          struct display_follower *follower);
void display_follow_end(struct display *display, struct display_follower *follower);

/* Something may have changed in its picture. A screen that is still has no news. */
bool display_follow_has_news(const struct display *display, const struct display_follower *follower);

/* Parts of one and the same frame of a picture: put into it one after another they make it what display_picture shows of this frame. */
struct display_parts {
	uint64_t frame;
	struct space native; /* the size of the screen in that frame */
	int width, height;   /* of the picture */
	bool whole;          /* it is all of the picture, in one part */
	size_t n;   /* 0: nothing has changed in it */
	struct display_part {
		struct rect rect;    /* in pixels of the picture */
		struct bytes *bytes; /* in the format of the request */
	} list[LIMIT_CHANGED];
};

/* What has changed since the last call, or at first the whole picture; out is to be ended by display_parts_finish. Errors as display_picture. */
int display_follow(struct display *display, struct display_follower *follower, struct display_parts *out, struct err *e);

/* The same, but of a picture without pointer, and as far as the display has told: where it has told nothing it is not asked, which costs nothing. What was
 * drawn right before may come with the next call. */
int display_follow_told(struct display *display, struct display_follower *follower, struct display_parts *out, struct err *e);

/* It gets the whole picture next, as at first; of another request (but for its pointer), if that is not NULL. */
void display_follow_anew(struct display *display, struct display_follower *follower, const struct display_request *request);
void display_parts_finish(struct display_parts *parts);

/* What has changed of all of the screen, as pixels; and the pointer, which is not drawn in. */
struct display_copy {
	bool (*may)(void *arg); /* set by the caller: asked when the screen is known, right before it is copied */
	void *arg;
	struct space native; /* the size of the screen; rows of the copy are as wide */
	struct rect rects[LIMIT_CHANGED];
	size_t n;            /* 0: no pixel has changed */
	bool has_new_cursor;
	int cursor_width, cursor_height, hot_x, hot_y; /* width 0: there is none */
	uint32_t *cursor;    /* premultiplied 0xAARRGGBB; NULL unless there is a new one */
	int pointer_x, pointer_y;
};

/*
 * Makes `pixels`, the caller's memory for the largest size that the screen can have, what the screen is now, as far as it has changed since the
 * follower's last copy; at first, and when the screen has been resized, all of it. The follower was begun with a request without fields. `out` is to
 * be ended by display_copy_finish. ERR_FORBIDDEN when it may not be copied, and nothing was; else errors as display_picture.
 */
int display_copy(struct display *display, struct display_follower *follower, uint32_t *pixels, struct display_copy *out, struct err *e);
void display_copy_finish(struct display_copy *copy);

/* Rows: screenshot wait_settled resize_display. Home: struct display *. */
extern const struct action_row display_rows[];
extern const size_t display_n_rows;

/* A picture in JSON, as display_picture_json makes it. */
extern const struct shape display_shapes[];
extern const size_t display_n_shapes;

#endif
