/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drags. */
#include "input/drag.h"

#include <string.h>
#include <sys/param.h>
#include <xcb/xfixes.h>

#include "input/motion.h"
#include "session/base/util.h"

#define TARGET_TURNS 4

static void on_event(void *arg, const xcb_generic_event_t *event)
{
	struct drags *drags = arg;
	const xcb_xfixes_selection_notify_event_t *notice = (const void *)event;

	if ((event->response_type & 0x7f) != drags->event || notice->selection != drags->selection || notice->owner == XCB_NONE)
		return;
	drags->n_begun++;
	drags->begun_ms = util_now_ms();
	co_signal(&drags->begun);
}

int drag_init(struct drags *drags, struct pointer *pointer, struct ping *ping, const struct input_ops *ops, struct err *e)
{
	struct xconn *x = pointer->x;
	struct drags made = {.pointer = pointer, .ping = ping, .ops = ops};
	auto_free void *version = NULL;

	if (xconn_atom(x, "XdndSelection", &made.selection, e) < 0 ||
	    xconn_reply(x, xcb_xfixes_query_version(x->xcb, 5, 0).sequence, &version, e) < 0)
		return -1;
	made.event = (uint8_t)(xcb_get_extension_data(x->xcb, &xcb_xfixes_id)->first_event + XCB_XFIXES_SELECTION_NOTIFY);
	xcb_xfixes_select_selection_input(x->xcb, x->root, made.selection, XCB_XFIXES_SELECTION_EVENT_MASK_SET_SELECTION_OWNER);
	*drags = made;
	xconn_listen(x, &drags->listener, on_event, drags);
	return 0;
}

void drag_finish(struct drags *drags)
{
	if (drags->pointer)
		xconn_unlisten(drags->pointer->x, &drags->listener);
}

/* The window at a place that has read all it was sent, when this returns; without one that speaks, the window manager has. */
static int ask(struct drags *drags, struct pointer_point at, struct err *e)
{
	struct ping_target target;

	if (ping_aim_at(drags->ping, at.x_px, at.y_px, &target, e) < 0)
		return -1;
	return target.window ? ping_wait(drags->ping, &target, e) : ping_wait_wm(drags->ping, e);
}

/* The end of a drag: where the button went down and will go up, and the pixel before that. */
struct end {
	struct pointer_point press, back, at;
	int64_t end_ms, deadline_ms; /* when the button may go up, and when it must */
};

/* The window that was pressed sees the pointer move. */
static int nudge(struct drags *drags, const struct end *end, struct err *e)
{
	if (pointer_move(drags->pointer, end->back, e) < 0 || pointer_move(drags->pointer, end->at, e) < 0)
		return -1;
	return ask(drags, end->press, e);
}

/* Waits until a drag between windows has begun since the press, at most until then. */
static int hear_begun(struct drags *drags, int64_t until_ms, struct err *e)
{
	struct err reason = {0};

	while (drags->n_begun == drags->n_before && util_now_ms() < until_ms)
		if (co_wait_event(&drags->begun, until_ms, &reason) < 0 && reason.code != ERR_TIMEOUT) {
			*e = reason;
			return -1;
		}
	return 0;
}

static int look(const struct drags *drags, uint64_t *frame, struct err *e)
{
	*frame = 0;
	return drags->ops->look ? drags->ops->look(drags->ops->arg, frame, e) : 0;
}

/* Something that may be an answer has been drawn since the start: clocks, titles and what moves elsewhere are none. */
static bool is_answered(const struct drags *drags)
{
	const struct rect *way = &drags->way;
	const struct rect near = {way->x - DRAG_NEAR_PX, way->y - DRAG_NEAR_PX, way->width + 2 * DRAG_NEAR_PX, way->height + 2 * DRAG_NEAR_PX};

	return !drags->ops->changed || !drags->started_ms || drags->ops->changed(drags->ops->arg, near, drags->started_frame);
}

/* How long after the start a drag between windows may still begin: longer where nothing answers it yet. */
static int read_patience(const struct drags *drags, int64_t *patience_ms, struct err *e)
{
	uint64_t frame;

	if (look(drags, &frame, e) < 0)
		return -1;
	*patience_ms = is_answered(drags) ? DRAG_BEGIN_MS : DRAG_LATE_MS;
	return 0;
}

/* Nudges once, and again while a drag between windows may begin. */
static int wait_begun(struct drags *drags, const struct end *end, int64_t busy_ms, struct err *e)
{
	int64_t since_ms = drags->started_ms ? drags->started_ms : util_now_ms();
	int64_t pause_ms = DRAG_NUDGE_MS, patience_ms, until_ms;

	do {
		if (nudge(drags, end, e) < 0 || hear_begun(drags, MIN(util_now_ms() + pause_ms, end->deadline_ms), e) < 0 ||
		    read_patience(drags, &patience_ms, e) < 0)
			return -1;
		pause_ms *= 2;
		until_ms = MIN(since_ms + patience_ms + busy_ms, end->deadline_ms);
	} while (drags->n_begun == drags->n_before && util_now_ms() < until_ms);
	return hear_begun(drags, MIN(end->end_ms, end->deadline_ms), e);
}

static int wait_until(int64_t until_ms, struct err *e)
{
	return until_ms > util_now_ms() ? co_wait_until(until_ms, e) : 0;
}

/* The pointer has the shape by which a source tells that nothing takes what is dragged: GTK's name, that of most themes, those of Qt. */
static int is_refused(struct drags *drags, bool *refused, struct err *e)
{
	static const char *const names[] = {"dnd-none", "no-drop", "dnd-no-drop", "not-allowed", "forbidden"};
	struct xconn *x = drags->pointer->x;
	auto_free void *reply = NULL;
	const xcb_xfixes_get_cursor_image_and_name_reply_t *cursor;

	if (xconn_reply(x, xcb_xfixes_get_cursor_image_and_name(x->xcb).sequence, &reply, e) < 0)
		return -1;
	cursor = reply;
	*refused = false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		*refused |= strlen(names[i]) == cursor->nbytes &&
		            memcmp(names[i], xcb_xfixes_get_cursor_image_and_name_name(cursor), cursor->nbytes) == 0;
	return 0;
}

/* While nothing takes it, nudges again and again: something still may. */
static int wait_taken(struct drags *drags, const struct end *end, int64_t until_ms, struct err *e)
{
	int64_t pause_ms = DRAG_NUDGE_MS;
	bool refused;

	if (is_refused(drags, &refused, e) < 0)
		return -1;
	while (refused && util_now_ms() < until_ms) {
		if (nudge(drags, end, e) < 0 || ask(drags, end->at, e) < 0 || co_wait_until(MIN(util_now_ms() + pause_ms, until_ms), e) < 0 ||
		    is_refused(drags, &refused, e) < 0)
			return -1;
		pause_ms *= 2;
	}
	return 0;
}

/* A drag between windows: source and target hear where the pointer is, some times, and tell each other what comes of it. */
static int wait_target(struct drags *drags, const struct end *end, int64_t busy_ms, struct err *e)
{
	int64_t until_ms = MIN(MAX(end->end_ms, drags->begun_ms + DRAG_TARGET_MS + busy_ms), end->deadline_ms);
	int64_t taken_ms = MIN(drags->begun_ms + DRAG_REFUSED_MS + busy_ms, end->deadline_ms);

	for (int turns = TARGET_TURNS; turns > 0; turns--)
		if (nudge(drags, end, e) < 0 || ask(drags, end->at, e) < 0 ||
		    wait_until(util_now_ms() + (until_ms - util_now_ms()) / turns, e) < 0)
			return -1;
	if (wait_taken(drags, end, taken_ms, e) < 0)
		return -1;
	return ask(drags, end->press, e);
}

/* Until the windows at both ends have seen what there is to see. */
static int rest(struct drags *drags, const struct end *end, struct err *e)
{
	int64_t asked_ms = util_now_ms(), busy_ms;

	if (ask(drags, end->press, e) < 0)
		return -1;
	busy_ms = MIN(DRAG_BUSY_FACTOR * (util_now_ms() - asked_ms), DRAG_BUSY_MS);
	if (drags->n_begun == drags->n_before && wait_begun(drags, end, busy_ms, e) < 0)
		return -1;
	return drags->n_begun == drags->n_before ? 0 : wait_target(drags, end, busy_ms, e);
}

static struct pointer_point pixel_before(struct pointer_point from, struct pointer_point at)
{
	int length = motion_distance(from, at);

	return length == 0 ? at : motion_between(at, from, 1, length);
}

static struct pointer_point press_of(const struct drags *drags)
{
	return (struct pointer_point){drags->pointer->last_press.x_px, drags->pointer->last_press.y_px};
}

void drag_note_press(struct drags *drags)
{
	drags->n_before = drags->n_begun;
	drags->started_ms = 0;
	drags->way = (struct rect){0};
}

/* The way goes on to here. */
static void note_way(struct drags *drags, struct pointer_point at)
{
	struct rect *way = &drags->way;
	struct pointer_point from = press_of(drags);
	int left, top;

	if (way->width == 0)
		*way = (struct rect){from.x_px, from.y_px, 1, 1};
	left = MIN(way->x, at.x_px);
	top = MIN(way->y, at.y_px);
	*way = (struct rect){left, top, MAX(way->x + way->width, at.x_px + 1) - left, MAX(way->y + way->height, at.y_px + 1) - top};
}

/* The window knows that this is no click before the pointer goes on. */
int drag_see(struct drags *drags, struct pointer_point at, struct err *e)
{
	note_way(drags, at);
	if (drags->started_ms || motion_distance(press_of(drags), at) < DRAG_START_PX)
		return 0;
	if (ask(drags, press_of(drags), e) < 0 || look(drags, &drags->started_frame, e) < 0)
		return -1;
	drags->started_ms = util_now_ms();
	return 0;
}

int drag_settle(struct drags *drags, struct pointer_point at, int64_t deadline_ms, struct err *e)
{
	struct pointer_point press = press_of(drags);
	const struct end end = {.press = press, .back = pixel_before(press, at), .at = at, .deadline_ms = deadline_ms};

	return !drags->started_ms && motion_distance(press, at) == 0 ? 0 : rest(drags, &end, e);
}

static int see(void *arg, struct pointer_point at, struct err *e)
{
	return drag_see(arg, at, e);
}

/* All but the release. */
static int press_and_move(struct drags *drags, const struct drag_path *path, size_t *reached, struct err *e)
{
	const struct pointer_point *last = &path->points[path->n_points - 1];
	const struct end end = {
		.press = path->points[0],
		.back = pixel_before(last[-1], *last),
		.at = *last,
		.end_ms = util_now_ms() + path->duration_ms,
		.deadline_ms = path->deadline_ms,
	};
	const struct motion motion = {
		.pointer = drags->pointer,
		.points = path->points,
		.n_points = path->n_points,
		.duration_ms = path->duration_ms * 4 / 5,
		.deadline_ms = path->deadline_ms,
		.seen = see,
		.arg = drags,
	};

	drag_note_press(drags);
	*reached = 1;
	if (pointer_press(drags->pointer, path->button, path->points[0], e) < 0 || motion_run(&motion, reached, e) < 0)
		return -1;
	return rest(drags, &end, e);
}

int drag_run(struct drags *drags, const struct drag_path *path, size_t *reached, struct err *e)
{
	int rc = press_and_move(drags, path, reached, e);

	hands_button(drags->pointer->hands, path->button, false);
	xconn_flush(drags->pointer->x);
	return rc == 0 ? xconn_sync(drags->pointer->x, e) : -1;
}
