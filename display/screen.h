/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this folder share about one display. Owner: display.
 *
 * From the server to bytes: screen.c has the server copy what was damaged, blank.c leaves out what nobody may see, shown.c takes the rest over and says where pixels differ, tiles.c and
 * blinks.c remember when and whether it only blinks. look.c is one moment of it, with the pointer of cursor.c; picture.c and kept.c make whole
 * pictures of that, follow.c parts for a stream, copy.c pixels for who encodes them himself. encode.c has the formats; png.c the fast one: filter.c, matches.c, deflate.c, huffman.c. What callers
 * ask is in request.c and rows.c, what they wait for in ready.c; resize.c gives the screen another size; attend.c looks by itself while somebody decides on a picture.
 *
 * Memory: four bytes a pixel for the segment, as many for the private copy, and what is known of the tiles: 8.5 MB at 1280x800, 17 MB at 1920x1080,
 * 69 MB at 3840x2160. Beside it what is kept (LIMIT_KEPT_BYTES), and while a slow encoder works a copy and what it takes itself.
 */
#ifndef DISPLAY_SCREEN_H
#define DISPLAY_SCREEN_H

#include <xcb/shm.h>
#include <xcb/xfixes.h>

#include "display/blank.h"
#include "display/blinks.h"
#include "display/display.h"
#include "display/image.h"
#include "display/kept.h"
#include "display/tiles.h"
#include "session/base/x/wm.h"

/* What the last follower was told, for others that had the same and come right after it. */
struct screen_told {
	struct display_request request;
	struct display_has had, has;
	struct display_parts parts; /* n is 0: nothing is kept */
	int64_t at_ms;
};

/* What one has at a time; zero-initialised is ready to use. */
struct screen_turn {
	bool taken;
	struct screen_waiter *waiters; /* the first one first */
};

struct display {
	struct xconn *x;
	struct space native, maximum;
	struct resizing {            /* resize.c */
		uint32_t crtc, output, mode; /* of the server; mode: the one that it uses, if we made that; or 0 */
		struct wm wm;
		struct space actual;     /* what the server said last */
		bool running;            /* it is being resized: what it says meanwhile is ours */
		bool restoring;          /* it gets its size back */
		struct loop_timer *restore;
		int64_t restored_ms;
		uint64_t frame;          /* in which it got its size */
		void (*fn)(void *arg, struct space native);
		void *arg;
	} resizing;
	part_fn *part;               /* who knows windows */
	void *part_arg;
	display_blanks_fn *blanks;   /* who knows what is not shown, or NULL */
	void *blanks_arg;
	struct blanks blanked;       /* as of the last update */
	const xcb_xfixes_fetch_region_reply_t *damaged; /* of the update that is being taken, while they are asked for the second time; else NULL */
	struct xconn_listener listener;
	struct co_event drawn;       /* something was drawn, or `shown` has changed */
	struct co_event properties;  /* a property of the root window changed */
	uint64_t n_properties;       /* how often: who looks may miss the event while it looks */

	/* What is shown, as of the last screen_update. */
	struct image shown;          /* all of the screen, without the pointer; private */
	struct tiles tiles;          /* when which part of it changed */
	struct blinks blinks;        /* and which only blinks */
	uint64_t frame;              /* of the last change */
	int64_t changed_ms;          /* when that was seen */

	uint32_t damage;
	uint8_t damage_event;        /* the number of its event */
	bool told;                   /* something was drawn after the last update: the server tells no more until the next */
	int64_t told_ms;             /* when */
	int64_t since_ms;            /* what the last update brings was drawn after that */
	int64_t updated_ms;          /* when the last update was made */
	int64_t attend_until_ms;     /* until then what is told is taken in soon, though nobody looks */
	struct loop_timer *attend;   /* it will be then */
	bool attending;              /* it is being */
	unsigned int asked;          /* the request of the last update that took the damage back; what was told before it is old */
	bool updating;               /* one coroutine at a time */
	struct co_event updated;
	bool unsure;                 /* an update failed: `shown` may be anything, and the next one fetches all */
	struct screen_watch *watches;

	/* Of the server. */
	xcb_xfixes_region_t region;  /* where the damage was that is taken back */
	xcb_pixmap_t copy;           /* in the segment, as large as the screen: that as of an update, as far as it was damaged */
	xcb_gcontext_t gc;

	xcb_shm_seg_t segment;
	const uint32_t *shared;      /* the segment: the server can write here at any time, so nothing is looked at here */
	size_t shared_bytes;
	struct screen_turn look;     /* one looks at a time: a silent server is not asked again and again */
	struct screen_turn slow;     /* and one slow encoder works at a time: each has a copy of the screen, and more */

	struct display_follower *followers;
	struct screen_told last_told;
	size_t n_cursors;            /* of them, that have the pointer in their picture */
	uint8_t fixes_event, input_opcode; /* by which the server's news of the pointer are known */
	uint64_t moves;              /* how often such news came */

	uint32_t cursor_serial;      /* the pointer as it was last drawn */
	int cursor_x, cursor_y;

	struct kept kept[LIMIT_KEPT_PICTURES]; /* the last pictures */
	uint64_t n_looks;
};

/* The calm colour of an empty desktop. */
#define SCREEN_BACKGROUND 0x4A5F73U

/* Somebody waits for quiet: told when something was drawn that counts. On the stack of who waits. */
struct screen_watch {
	struct screen_watch *next;
	const struct display_quiet *quiet;
	int64_t drawn_ms; /* when it was last seen that something had been */
};

/*
 * Makes `shown` what the screen is now. One round trip: the server copies what was damaged into the segment, in one go with all of it, so
 * that `shown` is always one moment's screen; then each tile is compared with what it was. When pixels differ there is a new frame, their
 * tiles are of that frame, and `drawn` is signalled; a redraw of the same is nothing. Errors of xconn_reply, among them ERR_CANCELLED: `shown`
 * is as it was then, and the next update fetches all. Must run in a coroutine.
 */
int screen_update(struct display *display, struct err *e);

/* What others do with the screen's memory is over when this returns, and nobody begins until screen_unlock. ERR_CANCELLED. */
int screen_lock(struct display *display, struct err *e);
void screen_unlock(struct display *display);

/* Within that: as screen_update. */
int screen_update_locked(struct display *display, struct err *e);

/* The server's pixmap in the segment, for the screen as large as it is. Errors of xconn_reply. */
int screen_make_copy(struct display *display, struct err *e);

/* The screen has this size: nothing is known of it yet, and all of it is of a new frame. Within screen_lock. */
void screen_adopt(struct display *display, struct space native);

/* resize.c: asks the server what it has; gives the screen its size; hears of others who do so. Errors of xconn_reply. */
int resize_begin(struct display *display, struct err *e);
int resize_server(struct display *display, struct space size, struct err *e);
/* Tells all clients the size that they were told already: a window manager that begins just then may not have listened. */
void resize_tell_again(struct display *display);
void resize_on_event(struct display *display, const xcb_generic_event_t *event);
void resize_end(struct display *display);

/* ready.c: waits until the window manager knows how large the screen is. ERR_TIMEOUT, and errors of xconn_reply. */
int ready_wait_geometry(struct display *display, int64_t deadline_ms, struct err *e);

/* Is there anything for it to do? False right after a reply of the server: `shown` is the screen as it was when that was made. */
bool screen_has_news(const struct display *display);

/* Waits for its turn, in the order of arrival; screen_give_turn hands it on. ERR_CANCELLED. */
int screen_take_turn(struct screen_turn *turn, struct err *e);
void screen_give_turn(struct screen_turn *turn);

/* Something may have changed. */
void screen_tell_followers(const struct display *display);

/* Fields that are left out become what they stand for, so that requests can be compared. */
struct display_request screen_complete(const struct display *display, const struct display_request *asked);

/* The same for a screen that may have had another size when it was asked for: a region is cut to what is left of it, its last pixel at least. */
struct display_request screen_fit(const struct display *display, const struct display_request *asked);

bool screen_same_request(const struct display_request *a, const struct display_request *b);

/* Something was told: while somebody attends it is taken in before long. */
void screen_attend(struct display *display);

#endif
