/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's end of glovebox-access: it is started with the session and again when it ends; questions go to it with numbers, and answers are
 * matched by these. A helper that breaks the protocol is ended.
 */
#include "apps/access.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <unistd.h>

#include "apps/state.h"
#include "apps/text.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define PROGRAM "/run/glovebox/bin/glovebox-access"
#define READ_BYTES (2 * LIMIT_ACCESS_RECORD_BYTES)
#define UNSENT_BYTES (256 * 1024)
#define AGAIN_MS 500      /* from its end to its next start */
#define FOCUS_MS 2500     /* the answer about the focus */

/* The environment of the session, but for what leads to the display. */
static char **environment_of(const struct apps *apps)
{
	char **list = util_zalloc((apps->environment.n + 1) * sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < apps->environment.n; i++)
		if (strncmp(apps->environment.list[i], "DISPLAY=", 8) != 0 && strncmp(apps->environment.list[i], "XAUTHORITY=", 11) != 0)
			list[n++] = apps->environment.list[i];
	return list;
}

static void set_focus(struct access *access, const struct access_told *told)
{
	struct access_focus focus = {.known = told->known, .late = access->worked && !told->known && (told->late || access->parted)};

	if (told->known) {
		const struct access_item *item = &told->node;

		focus.has_node = told->has_node;
		focus.terminal = told->terminal;
		focus.prompt = told->prompt;
		focus.pid = told->pid;
		focus.window = told->window;
		(void)strcpy(focus.url, told->url);
		if (told->has_node)
			access_fill_node(&focus.node, item, told->window);
	}
	if (memcmp(&focus, &access->focus, sizeof(focus)) == 0)
		return;
	access->focus = focus;
	co_signal(&access->changed);
}

void access_forget_focus(struct access *access)
{
	const struct access_told nothing = {.known = false};

	set_focus(access, &nothing);
}

void access_fill_node(struct access_node *out, const struct access_item *item, uint32_t window)
{
	*out = (struct access_node){
		.id = item->id,
		.password = item->password,
		.editable = item->editable,
		.multi_line = (item->states >> STATE_MULTI_LINE) & 1,
		.x = item->x,
		.y = item->y,
		.width = item->width,
		.height = item->height,
		.pid = item->pid,
		.window = window,
	};
	(void)strcpy(out->role, item->role);
	(void)strcpy(out->name, item->name);
}

static struct access_question *find_question(struct access *access, uint32_t number)
{
	for (struct access_question *question = access->questions; question; question = question->next)
		if (question->number == number && number != 0 && !question->answered)
			return question;
	return NULL;
}

/* The helper is gone, or is to go: nothing that it said holds. */
static void lose(struct access *access)
{
	loop_remove(access->in);
	loop_remove(access->out);
	access->in = access->out = NULL;
	if (access->process) {
		spawner_signal(access->process, SIGKILL);
		spawner_release(access->process);
	}
	access->process = NULL;
	access->parted = access->worked;
	access->len = access->n_unsent = 0;
	for (struct access_question *question = access->questions; question; question = question->next)
		if (!question->answered && !question->aim)
			access_fail(question, ERR_TIMEOUT, "the accessibility helper has ended; it is started again");
	(void)snprintf(access->reason, sizeof(access->reason), "the accessibility helper is not running");
	access_forget_focus(access);
	co_signal(&access->news);
}

/* False: more nodes than were asked for. */
static bool add_item(struct access_question *question, const struct access_item *item)
{
	if (question->n_items >= question->max_items)
		return false;
	/* In steps of twice the size. */
	if ((question->n_items & (question->n_items - 1)) == 0)
		question->items = util_realloc(question->items, MAX(2 * question->n_items, 1) * sizeof(*question->items));
	question->items[question->n_items++] = *item;
	question->access->last_id = MAX(question->access->last_id, item->id);
	return true;
}

static void on_state(struct access *access, const struct access_record *record)
{
	(void)strcpy(access->reason, record->text);
	if (access->reason[0])
		log_info("no accessibility: %s", access->reason);
	access->heard = true;
	access->worked |= !access->reason[0];
	if (strncmp(record->address, "unix:path=/", 11) == 0 && !text_has_control(record->address, strlen(record->address)) &&
	    strcmp(record->address, access->address) != 0) {
		(void)strcpy(access->address, record->address);
		access->unpublished = true;
	}
	co_signal(&access->changed);
	access_moved(access);
}

/* What is told while another window becomes active is of the window before it. */
static void on_focus(struct access *access, const struct access_record *record)
{
	struct access_question *question = find_question(access, record->question);

	if (question) {
		question->told = record->focus;
		access_end(question);
	}
	access->last_id = MAX(access->last_id, record->focus.node.id);
	if (!access->moved && record->focus.window == access->aimed_window && record->focus.pid == access->aimed_pid)
		set_focus(access, &record->focus);
}

static const enum err_code FAULTS[ACCESS_N_FAULTS] = {
	[ACCESS_NOT_FOUND] = ERR_NOT_FOUND, [ACCESS_SILENT] = ERR_TIMEOUT, [ACCESS_REFUSED] = ERR_CONFLICT,
	[ACCESS_UNSET] = ERR_CONFLICT, [ACCESS_SECRET] = ERR_SENSITIVE};

/* False when the helper broke the protocol. */
static bool on_record(struct access *access, const struct access_record *record)
{
	struct access_question *question = find_question(access, record->question);

	if (record->op == ACCESS_STATE)
		on_state(access, record);
	else if (record->op == ACCESS_FOCUSED)
		on_focus(access, record);
	else if (record->op != ACCESS_NODE && record->op != ACCESS_DONE && record->op != ACCESS_FAILED)
		return false;
	else if (!question)
		return true; /* it was given up */
	else if (record->op == ACCESS_NODE)
		return add_item(question, &record->item);
	else if (record->op == ACCESS_FAILED) {
		question->unset = record->fault == ACCESS_UNSET;
		access_fail(question, FAULTS[record->fault], record->text);
	} else {
		question->done = record->done;
		access_end(question);
	}
	return true;
}

static void on_out(void *arg, uint32_t events)
{
	struct access *access = arg;
	struct access_record *record;
	ssize_t n = read(access->process->out, access->record + access->len, READ_BYTES - access->len);
	size_t at = 0;
	long used = 0;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lose(access);
		return;
	}
	access->len += (size_t)n;
	record = util_alloc(sizeof(*record));
	while (access->process && (used = access_unpack(access->record + at, access->len - at, record)) > 0) {
		at += (size_t)used;
		if (!on_record(access, record))
			used = -1;
		if (used < 0)
			break;
	}
	free(record);
	if (used < 0) {
		log_info("the accessibility helper broke the protocol and is ended");
		lose(access);
		return;
	}
	memmove(access->record, access->record + at, access->len - at);
	access->len -= at;
}

static void on_in(void *arg, uint32_t events)
{
	struct access *access = arg;
	ssize_t n = write(access->process->in, access->unsent, access->n_unsent);

	(void)events;
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		lose(access);
		return;
	}
	if (n > 0) {
		access->n_unsent -= (size_t)n;
		memmove(access->unsent, access->unsent + n, access->n_unsent);
	}
	if (access->n_unsent == 0) {
		loop_remove(access->in);
		access->in = NULL;
	}
}

bool access_send_record(struct access *access, const struct access_record *record)
{
	if (!access->process || access->n_unsent + LIMIT_ACCESS_RECORD_BYTES > UNSENT_BYTES)
		return false;
	access->n_unsent += access_pack(record, access->unsent + access->n_unsent);
	if (!access->in)
		access->in = loop_add(access->apps->x->loop, access->process->in, EPOLLOUT, on_in, access);
	return true;
}

static int start_helper(struct access *access, struct err *e)
{
	static char program[] = PROGRAM;
	const char *other = getenv("GLOVEBOX_ACCESS"); /* of tests, without a jail */
	char *argv[2] = {other ? (char *)(uintptr_t)other : program, NULL};
	auto_free char **env = environment_of(access->apps);
	const struct access_record first = {.op = ACCESS_FIRST, .id = access->last_id + 1};
	const struct spawn spawn = {
		.group = INIT_GROUP_BASE,
		.folder = other ? "/" : ENVIRONMENT_HOME,
		.argv = argv,
		.env = env,
		.pipes = INIT_PIPE_STDIN | INIT_PIPE_STDOUT,
		.changed = &access->news,
	};
	struct process *process;

	if (spawner_start(access->apps->spawner, &spawn, util_now_ms() + LIMIT_ACCESS_START_MS, &process, e) < 0)
		return -1;
	access->process = process;
	access->out = loop_add(access->apps->x->loop, process->out, EPOLLIN, on_out, access);
	access->moved = true;
	access->first_id = first.id;
	(void)access_send_record(access, &first);
	return 0;
}

/* The focus of the window that is active now. */
static void follow(struct access *access)
{
	struct err e;
	struct access_focus focus;

	(void)access_focus_now(access, util_now_ms() + FOCUS_MS, &focus, &e);
}

/* Where apps that start from now on look for the bus: in their environment, and for Qt at the root window. (Qt 5 and 6 that ask the session
 * bus, and find it there, tell of themselves before they are connected, which fails, and then never again.) */
static void publish(struct access *access)
{
	struct apps *apps = access->apps;
	xcb_atom_t atom;

	access->unpublished = false;
	environment_accessible(&apps->environment, access->address);
	if (xconn_atom(apps->x, "AT_SPI_BUS", &atom, NULL) < 0)
		return;
	xcb_change_property(apps->x->xcb, XCB_PROP_MODE_REPLACE, apps->x->root, atom, XCB_ATOM_STRING, 8, (uint32_t)strlen(access->address),
	                    access->address);
	xconn_flush(apps->x);
}

static void keep(void *arg)
{
	struct access *access = arg;
	struct err e;

	while (!co_cancelled(co_self())) {
		if (!access->process && start_helper(access, &e) < 0) {
			(void)snprintf(access->reason, sizeof(access->reason), "the helper could not be started: %s", e.msg);
			access->heard = true;
			co_signal(&access->changed);
			(void)co_wait_until(util_now_ms() + LIMIT_ACCESS_START_MS, NULL);
			continue;
		}
		if (access->unpublished)
			publish(access);
		if (access->moved)
			follow(access);
		else if (access->process)
			(void)co_wait_event(&access->news, CO_FOREVER, NULL);
		if (!access->process)
			(void)co_wait_until(util_now_ms() + AGAIN_MS, NULL);
	}
	access->keeper = NULL;
	apps_rest(access->apps);
}

void access_moved(struct access *access)
{
	if (!access->keeper)
		return;
	access->moved = true;
	access_forget_focus(access);
	co_signal(&access->news);
}

int access_start(struct access *access, struct apps *apps, struct err *e)
{
	int64_t deadline_ms = util_now_ms() + LIMIT_ACCESS_START_MS;
	struct err why;

	access->apps = apps;
	access->record = util_alloc(READ_BYTES);
	access->unsent = util_alloc(UNSENT_BYTES);
	access->keeper = co_start(apps->x->loop, keep, access);
	while (!access->heard)
		if (co_wait_event(&access->changed, deadline_ms, &why) < 0) {
			if (why.code == ERR_TIMEOUT)
				break;
			*e = why;
			return -1;
		}
	if (access->unpublished)
		publish(access);
	if (!access->heard)
		(void)snprintf(access->reason, sizeof(access->reason), "the accessibility helper does not say how it stands");
	return 0;
}

void access_stop(struct access *access)
{
	if (access->keeper)
		co_cancel(access->keeper);
	for (struct access_question *question = access->questions; question; question = question->next)
		if (question->aim)
			co_cancel(question->aim);
}

bool access_rests(const struct access *access)
{
	return !access->keeper && access->n_aims == 0;
}

void access_finish(struct access *access)
{
	loop_remove(access->in);
	loop_remove(access->out);
	spawner_release(access->process);
	free(access->record);
	free(access->unsent);
}

const char *access_unavailable(const struct access *access)
{
	if (!access->apps)
		return "accessibility is off in this session, or its image has no session bus";
	return access->reason[0] || !access->process ? access->reason : NULL;
}

bool access_parted(const struct access *access)
{
	return access->parted;
}

bool access_worked(const struct access *access)
{
	return access->worked;
}

const struct access_focus *access_focus(const struct access *access)
{
	return &access->focus;
}

struct co_event *access_changed(struct access *access)
{
	return &access->changed;
}
