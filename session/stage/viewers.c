/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Viewers coming and going. */
#include "session/stage/viewers.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/base/ipc.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/lease.h"
#include "session/stage/viewer.h"

#define LAST_WORDS_MS 500 /* for what a view had sent before it ended */

static struct viewer *find(const struct stage *stage, uint32_t number)
{
	struct viewer *viewer = stage->viewers.list;

	while (viewer && viewer->number != number)
		viewer = viewer->next;
	return viewer;
}

static void unlink_viewer(struct viewer *viewer)
{
	struct viewer **place = &viewer->stage->viewers.list;

	while (*place != viewer)
		place = &(*place)->next;
	*place = viewer->next;
}

static void free_viewer(struct viewer *viewer)
{
	for (size_t i = 0; i < N_VIEWER_ENDS; i++)
		util_close_fd(&viewer->ends[i]);
	if (viewer->segment)
		(void)munmap(viewer->segment, viewer->bytes);
	if (viewer->cut)
		explicit_bzero(viewer->cut, viewer->cut_total);
	free(viewer->cut);
	free(viewer);
}

void viewer_done(struct viewer *viewer)
{
	if (--viewer->n_running == 0)
		free_viewer(viewer);
}

uint32_t viewers_of(const struct stage *stage, const char *token, uint32_t wanted)
{
	uint32_t found = 0;

	for (const struct viewer *viewer = stage->viewers.list; viewer; viewer = viewer->next) {
		bool can = !viewer->gone && viewer->may_control && (viewer->controls || !viewer->is_here);

		if (can && strcmp(viewer->token, token) == 0 && (wanted > 0 ? viewer->number == wanted : viewer->is_here && viewer->number > found))
			found = viewer->number;
	}
	return found;
}

void viewers_release(struct stage *stage)
{
	if (stage->input)
		input_remote_release(stage->input);
	stage->viewers.hands = NULL;
}

/* Whoever may do or see more, or less, hears of it. */
static void watch_lease(void *arg)
{
	struct stage *stage = arg;

	do {
		const struct viewer *hands = stage->viewers.hands;

		if (hands && !lease_may_input(stage, hands->number))
			viewers_release(stage);
		for (struct viewer *viewer = stage->viewers.list; viewer; viewer = viewer->next)
			co_signal(&viewer->news);
	} while (co_wait_event(&stage->lease.changed, CO_FOREVER, NULL) == 0);
	stage->viewers.watcher = NULL;
}

/* What an app copies while a person has the hands is that person's. */
static void watch_copies(void *arg)
{
	struct stage *stage = arg;

	while (input_remote_wait(stage->input, NULL) == 0)
		for (struct viewer *viewer = stage->viewers.list; viewer; viewer = viewer->next)
			if (viewer->is_here && lease_may_input(stage, viewer->number)) {
				viewer->has_copied = true;
				co_signal(&viewer->news);
			}
	stage->viewers.copies = NULL;
}

void viewer_leave(struct viewer *viewer)
{
	struct stage *stage = viewer->stage;

	if (viewer->gone)
		return;
	viewer->gone = true;
	unlink_viewer(viewer);
	loop_cancel(viewer->unused);
	loop_cancel(viewer->closing);
	loop_remove(viewer->socket);
	loop_remove(viewer->taken_source);
	viewer->socket = viewer->taken_source = NULL;
	if (stage->viewers.hands == viewer)
		viewers_release(stage);
	if (!viewer->is_here) {
		free_viewer(viewer);
		return;
	}
	lease_viewer_gone(stage, viewer->number);
	co_cancel(viewer->shower);
	if (viewer->taker)
		co_cancel(viewer->taker);
	/* The view ends when this closes, though the coroutines may still be on their way out. */
	util_close_fd(&viewer->ends[VIEWER_SOCKET]);
}

static void on_unused(void *arg)
{
	struct viewer *viewer = arg;

	viewer->unused = NULL;
	viewer_leave(viewer);
}

static void on_closing(void *arg)
{
	struct viewer *viewer = arg;

	viewer->closing = NULL;
	viewer_leave(viewer);
}

/* Of one without controls only its end comes. */
static void on_socket(void *arg, uint32_t events)
{
	struct viewer *viewer = arg;
	uint32_t over = EPOLLHUP | EPOLLERR | (viewer->controls ? EPOLLRDHUP : 0);

	if ((events & over) && !viewer->controls) {
		viewer_leave(viewer);
		return;
	}
	if (events & over) {
		/* Nothing more comes, but what was sent before. */
		loop_remove(viewer->socket);
		viewer->socket = NULL;
		viewer->closing = loop_at(viewer->stage->loop, util_now_ms() + LAST_WORDS_MS, on_closing, viewer);
	} else {
		/* Until that has been read its end alone is news. */
		loop_modify(viewer->socket, EPOLLRDHUP);
	}
	viewer->is_ready = true;
	co_signal(&viewer->asked);
}

static void on_taken(void *arg, uint32_t events)
{
	struct viewer *viewer = arg;
	uint64_t count;

	(void)events;
	if (read(viewer->ends[VIEWER_TAKEN], &count, sizeof(count)) != sizeof(count))
		return;
	viewer->taken = true;
	co_signal(&viewer->news);
}

static int map_segment(struct viewer *viewer, struct err *e)
{
	const struct space most = viewer->stage->ends.maximum;
	void *segment;

	viewer->bytes = view_segment_bytes(most.width_px, most.height_px);
	segment = mmap(NULL, viewer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, viewer->ends[VIEWER_PIXELS], 0);
	if (segment == MAP_FAILED)
		return err_sys(e, "mapping the segment of a viewer");
	viewer->segment = segment;
	util_close_fd(&viewer->ends[VIEWER_PIXELS]);
	return 0;
}

static void begin(struct viewer *viewer)
{
	struct stage *stage = viewer->stage;

	viewer->is_here = viewer->taken = true;
	viewer->since_ms = util_now_ms();
	viewer->socket = loop_add(stage->loop, viewer->ends[VIEWER_SOCKET], viewer->controls ? EPOLLIN | EPOLLRDHUP : 0, on_socket, viewer);
	viewer->taken_source = loop_add(stage->loop, viewer->ends[VIEWER_TAKEN], EPOLLIN, on_taken, viewer);
	viewer->n_running = viewer->controls ? 2 : 1;
	viewer->shower = co_start(stage->loop, viewer_show, viewer);
	viewer->taker = viewer->controls ? co_start(stage->loop, viewer_take, viewer) : NULL;
	if (!stage->viewers.watcher)
		stage->viewers.watcher = co_start(stage->loop, watch_lease, stage);
	if (!stage->viewers.copies)
		stage->viewers.copies = co_start(stage->loop, watch_copies, stage);
	if (viewer->controls)
		lease_viewer_here(stage, viewer->number, viewer->token);
}

static void add(struct stage *stage, const struct stage_label *label, int fds[N_VIEWER_ENDS])
{
	struct viewer *viewer = find(stage, label->viewer);
	struct err e;

	if (!viewer || viewer->is_here || !stage->is_open || stage->finished) {
		log_info("viewer %u is not expected", label->viewer);
		for (size_t i = 0; i < N_VIEWER_ENDS; i++)
			util_close_fd(&fds[i]);
		return;
	}
	loop_cancel(viewer->unused);
	viewer->unused = NULL;
	for (size_t i = 0; i < N_VIEWER_ENDS; i++)
		viewer->ends[i] = steal_fd(&fds[i]);
	viewer->controls = label->controls && viewer->may_control;
	if (map_segment(viewer, &e) < 0) {
		log_err(LOG_ERROR, &e, "viewer %u", viewer->number);
		viewer_leave(viewer);
		return;
	}
	begin(viewer);
}

bool viewers_receive(struct stage *stage, int warden_fd)
{
	struct stage_label label;
	size_t n_fds = 0;
	int fds[N_VIEWER_ENDS];
	ssize_t n = ipc_recv(warden_fd, &label, sizeof(label), fds, ARRAY_LEN(fds), &n_fds, NULL);

	if (n == (ssize_t)sizeof(label) && label.kind == STAGE_VIEWER && n_fds == N_VIEWER_ENDS)
		add(stage, &label, fds);
	else if (n == (ssize_t)sizeof(label) && label.kind == STAGE_EGRESS && n_fds == 1)
		egress_take(stage, fds[0]);
	else
		for (size_t i = 0; n > 0 && i < n_fds; i++)
			util_close_fd(&fds[i]);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EMSGSIZE));
}

void viewers_end(struct stage *stage)
{
	while (stage->viewers.list)
		viewer_leave(stage->viewers.list);
	if (stage->viewers.watcher)
		co_cancel(stage->viewers.watcher);
	if (stage->viewers.copies)
		co_cancel(stage->viewers.copies);
}

/* --- calls of the front --- */

static const struct field give_fields[] = {
	{"token", FIELD_STRING, true, 1, VIEWER_TOKEN_BYTES, NULL, NULL, NULL, NULL, "its id"},
	{"role", FIELD_ENUM, true, 0, 0, "viewer controller operator owner", NULL, NULL, NULL, "of the token"},
};
static const struct form give_form = {give_fields, ARRAY_LEN(give_fields), NULL};
static const struct field one_fields[] = {
	{"viewer", FIELD_INT, true, 1, UINT32_MAX, NULL, NULL, NULL, NULL, "its number"},
};
static const struct form one_form = {one_fields, ARRAY_LEN(one_fields), NULL};

static int read_body(const struct call *call, const struct form *form, json_t **body, struct err *e)
{
	return json_parse(call->body, call->body_len, body, e) < 0 ? -1 : form_check(form, *body, "", NULL, e);
}

static int check_room(const struct stage *stage, struct err *e)
{
	size_t n = 0;

	if (!stage->is_open || stage->finished)
		return err_set(e, stage->finished ? ERR_GONE : ERR_NOT_READY, NULL, "there is no picture of this session now");
	for (const struct viewer *viewer = stage->viewers.list; viewer; viewer = viewer->next)
		n++;
	if (n >= LIMIT_VIEWERS)
		return err_set(e, ERR_VIEWER_LIMIT, NULL, "%d watch this session, or are about to, which is the most that may", LIMIT_VIEWERS);
	return 0;
}

void viewers_call_give(struct stage *stage, struct call *call)
{
	json_auto_t *body = NULL, *reply = NULL;
	struct viewer *viewer;
	struct err e;

	if (read_body(call, &give_form, &body, &e) < 0 || check_room(stage, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	viewer = util_zalloc(sizeof(*viewer));
	*viewer = (struct viewer){.stage = stage, .number = ++stage->viewers.last, .ends = {-1, -1, -1}, .since_ms = util_now_ms()};
	(void)snprintf(viewer->token, sizeof(viewer->token), "%s", form_string(body, "token", ""));
	(void)snprintf(viewer->role, sizeof(viewer->role), "%s", form_string(body, "role", ""));
	viewer->may_control = strcmp(viewer->role, "viewer") != 0;
	viewer->unused = loop_at(stage->loop, util_now_ms() + LIMIT_VIEWER_MS, on_unused, viewer);
	viewer->next = stage->viewers.list;
	stage->viewers.list = viewer;
	reply = json_pack("{s:I}", "viewer", (json_int_t)viewer->number);
	call_reply_json(call, 200, NULL, reply);
}

/* The viewer that the call names; NULL: it was refused. */
static struct viewer *named(struct stage *stage, struct call *call)
{
	json_auto_t *body = NULL;
	struct viewer *viewer = NULL;
	struct err e;

	if (read_body(call, &one_form, &body, &e) == 0) {
		viewer = find(stage, (uint32_t)form_int(body, "viewer", 0));
		if (!viewer)
			(void)err_set(&e, ERR_NOT_FOUND, "/viewer", "v%ld does not watch this session", form_int(body, "viewer", 0));
	}
	if (!viewer)
		call_refuse(call, &e);
	return viewer;
}

static void reply_done(struct call *call)
{
	json_auto_t *reply = json_object();

	call_reply_json(call, 200, NULL, reply);
}

void viewers_call_silent(struct stage *stage, struct call *call)
{
	const struct viewer *viewer = named(stage, call);

	if (!viewer)
		return;
	if (stage->viewers.hands == viewer)
		viewers_release(stage);
	reply_done(call);
}

void viewers_call_end(struct stage *stage, struct call *call)
{
	struct viewer *viewer = named(stage, call);

	if (!viewer)
		return;
	viewer_leave(viewer);
	reply_done(call);
}

void viewers_call_list(struct stage *stage, struct call *call)
{
	json_auto_t *reply = json_pack("{s:[]}", "viewers");
	json_t *list = json_object_get(reply, "viewers");

	for (const struct viewer *viewer = stage->viewers.list; viewer; viewer = viewer->next)
		if (viewer->is_here)
			json_array_append_new(list, json_pack("{s:I,s:s,s:s,s:b,s:I}", "viewer", (json_int_t)viewer->number, "token", viewer->token,
			                                      "role", viewer->role, "controls", viewer->controls, "since_ms",
			                                      (json_int_t)(util_now_ms() - viewer->since_ms)));
	call_reply_json(call, 200, NULL, reply);
}
