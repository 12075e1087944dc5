/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners and readers of clipboards. They have no loop: each waits for its next event. */
#include "tests/x/clips.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xcb/xcb.h>

#include <cmocka.h>

#include "session/base/util.h"

#define MAX_FORMS 4
#define DRIP_MS 20
#define READ_MS 200000

struct client {
	xcb_connection_t *x;
	xcb_window_t window;
	xcb_atom_t selection, targets, incr;
};

static xcb_atom_t atom(xcb_connection_t *x, const char *name)
{
	xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(x, xcb_intern_atom(x, 0, (uint16_t)strlen(name), name), NULL);
	xcb_atom_t found = reply ? reply->atom : XCB_NONE;

	free(reply);
	return found;
}

static void open_client(struct client *client, struct clips_display display, const char *selection)
{
	char protocol[] = "MIT-MAGIC-COOKIE-1", data[16];
	xcb_auth_info_t auth = {.namelen = (int)strlen(protocol), .name = protocol, .datalen = sizeof(data), .data = data};
	const uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;

	if (display.cookie)
		memcpy(data, display.cookie, sizeof(data));
	client->x = xcb_connect_to_display_with_auth_info(display.name, display.cookie ? &auth : NULL, NULL);
	if (xcb_connection_has_error(client->x))
		_exit(3);
	client->window = xcb_generate_id(client->x);
	xcb_create_window(client->x, 0, client->window, xcb_setup_roots_iterator(xcb_get_setup(client->x)).data->root, 0, 0, 1, 1, 0,
	                  XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, XCB_CW_EVENT_MASK, &events);
	client->selection = atom(client->x, selection);
	client->targets = atom(client->x, "TARGETS");
	client->incr = atom(client->x, "INCR");
}

/* The next event of this kind; ends the process without one. */
static xcb_generic_event_t *wait_event(struct client *client, uint8_t kind)
{
	xcb_generic_event_t *event;

	xcb_flush(client->x);
	while ((event = xcb_wait_for_event(client->x))) {
		if ((event->response_type & 0x7f) == kind)
			return event;
		free(event);
	}
	_exit(4);
}

/* --- owners --- */

struct owner {
	struct client client;
	enum clips_way way;
	struct clips_display display;
	struct clips_form forms[MAX_FORMS];
	xcb_atom_t target[MAX_FORMS], type[MAX_FORMS];
	size_t n;
};

static void put(struct owner *owner, const xcb_selection_request_event_t *asked, xcb_atom_t type, uint8_t unit, const void *data, size_t len)
{
	xcb_change_property(owner->client.x, XCB_PROP_MODE_REPLACE, asked->requestor, asked->property, type, unit, (uint32_t)(len / (unit / 8)), data);
}

static void notify(struct owner *owner, const xcb_selection_request_event_t *asked, xcb_atom_t property)
{
	const xcb_selection_notify_event_t event = {
		.response_type = XCB_SELECTION_NOTIFY, .time = asked->time, .requestor = asked->requestor, .selection = asked->selection,
		.target = asked->target, .property = property,
	};

	xcb_send_event(owner->client.x, 0, asked->requestor, XCB_EVENT_MASK_NO_EVENT, (const char *)&event);
	xcb_flush(owner->client.x);
}

static void wait_deleted(struct owner *owner, const xcb_selection_request_event_t *asked)
{
	for (bool deleted = false; !deleted;) {
		xcb_property_notify_event_t *event = (void *)wait_event(&owner->client, XCB_PROPERTY_NOTIFY);

		deleted = event->window == asked->requestor && event->atom == asked->property && event->state == XCB_PROPERTY_DELETE;
		free(event);
	}
}

static void give_pieces(struct owner *owner, const xcb_selection_request_event_t *asked, size_t i)
{
	const struct clips_form *form = &owner->forms[i];
	const uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE, len = (uint32_t)form->len;
	size_t piece = owner->way == CLIPS_DRIPS ? 1 : CLIPS_PIECE_BYTES;

	xcb_change_window_attributes(owner->client.x, asked->requestor, XCB_CW_EVENT_MASK, &events);
	put(owner, asked, owner->client.incr, 32, &len, sizeof(len));
	notify(owner, asked, asked->property);
	for (size_t at = 0, n = 1; n > 0; at += n) {
		wait_deleted(owner, asked);
		if (owner->way == CLIPS_STOPS && at > 0)
			return;
		if (owner->way == CLIPS_DRIPS)
			(void)poll(NULL, 0, DRIP_MS);
		if (owner->way == CLIPS_ENDLESS || owner->way == CLIPS_DRIPS)
			at = 0;
		n = MIN(piece, form->len - at);
		put(owner, asked, owner->type[i], 8, (const char *)form->data + at, n);
	}
	xcb_flush(owner->client.x);
}

static void give_targets(struct owner *owner, const xcb_selection_request_event_t *asked)
{
	xcb_atom_t list[1 + MAX_FORMS] = {owner->client.targets};

	memcpy(list + 1, owner->target, owner->n * sizeof(list[0]));
	put(owner, asked, XCB_ATOM_ATOM, owner->way == CLIPS_ODD_TARGETS ? 8 : 32, list, (1 + owner->n) * sizeof(list[0]));
	notify(owner, asked, asked->property);
}

static void take_over(struct owner *owner)
{
	static const struct clips_form rival = {"UTF8_STRING", NULL, "rival", 5};

	(void)clips_own(owner->display, "CLIPBOARD", CLIPS_GOOD, &rival, 1);
}

static void give(struct owner *owner, const xcb_selection_request_event_t *asked)
{
	size_t i = 0;

	while (i < owner->n && owner->target[i] != asked->target)
		i++;
	if (owner->way == CLIPS_SILENT || (owner->way == CLIPS_HALF_SILENT && i < owner->n))
		return;
	if (owner->way == CLIPS_DIES && i < owner->n)
		_exit(0);
	if (owner->way == CLIPS_RIVAL && i < owner->n)
		take_over(owner);
	if (asked->target == owner->client.targets && owner->way != CLIPS_NO_TARGETS)
		give_targets(owner, asked);
	else if (i == owner->n || owner->way == CLIPS_RIVAL)
		notify(owner, asked, XCB_NONE);
	else if (owner->forms[i].len > CLIPS_PIECE_BYTES || owner->way == CLIPS_DRIPS || owner->way == CLIPS_ENDLESS || owner->way == CLIPS_STOPS)
		give_pieces(owner, asked, i);
	else {
		put(owner, asked, owner->type[i], owner->way == CLIPS_NUMBERS ? 32 : 8, owner->forms[i].data, owner->forms[i].len);
		notify(owner, asked, asked->property);
	}
}

static void storm(struct owner *owner)
{
	for (;;) {
		for (int i = 0; i < 100; i++)
			xcb_set_selection_owner(owner->client.x, owner->client.window, owner->client.selection, XCB_CURRENT_TIME);
		if (xcb_flush(owner->client.x) <= 0)
			_exit(0);
		xcb_generic_event_t *event;

		while ((event = xcb_poll_for_event(owner->client.x))) {
			if ((event->response_type & 0x7f) == XCB_SELECTION_REQUEST)
				give(owner, (const void *)event);
			free(event);
		}
	}
}

static void own(struct owner *owner, const char *selection, int ready)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_client(&owner->client, owner->display, selection);
	for (size_t i = 0; i < owner->n; i++) {
		const char *type = owner->forms[i].type;

		owner->target[i] = atom(owner->client.x, owner->forms[i].target);
		owner->type[i] = type ? atom(owner->client.x, type) : owner->target[i];
	}
	xcb_set_selection_owner(owner->client.x, owner->client.window, owner->client.selection, XCB_CURRENT_TIME);
	(void)atom(owner->client.x, "UTF8_STRING");
	if (write(ready, "r", 1) != 1)
		_exit(5);
	(void)close(ready);
	if (owner->way == CLIPS_STORM)
		storm(owner);
	for (;;) {
		xcb_generic_event_t *event = wait_event(&owner->client, XCB_SELECTION_REQUEST);

		give(owner, (const void *)event);
		free(event);
	}
}

pid_t clips_own(struct clips_display display, const char *selection, enum clips_way way, const struct clips_form *forms, size_t n)
{
	struct owner owner = {.way = way, .display = display, .n = n};
	int ends[2];
	char ready;
	pid_t pid;

	memcpy(owner.forms, forms, n * sizeof(*forms));
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		own(&owner, selection, ends[1]);
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &ready, 1), 1);
	(void)close(ends[0]);
	return pid;
}

void clips_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* --- reading --- */

/* What is in the property, which goes; *more: it is the begin of pieces, or one of them. */
static size_t take(struct client *client, xcb_atom_t property, int fd, bool *pieces)
{
	xcb_get_property_reply_t *reply = xcb_get_property_reply(
		client->x, xcb_get_property(client->x, 1, client->window, property, XCB_GET_PROPERTY_TYPE_ANY, 0, 1 << 28), NULL);
	size_t len = (size_t)xcb_get_property_value_length(reply);

	*pieces = reply->type == client->incr;
	if (!*pieces && util_write_all(fd, xcb_get_property_value(reply), len) < 0)
		_exit(5);
	free(reply);
	return len;
}

static void read_all(struct client *client, const char *target, int fd)
{
	xcb_atom_t place = atom(client->x, "_TEST_PLACE");
	xcb_selection_notify_event_t *answer;
	bool pieces;

	xcb_convert_selection(client->x, client->window, client->selection, atom(client->x, target), place, XCB_CURRENT_TIME);
	answer = (void *)wait_event(client, XCB_SELECTION_NOTIFY);
	if (answer->property == XCB_NONE)
		_exit(1);
	(void)take(client, place, fd, &pieces);
	for (size_t n = 1; pieces && n > 0;) {
		xcb_property_notify_event_t *event = (void *)wait_event(client, XCB_PROPERTY_NOTIFY);
		bool ignored;

		if (event->atom == place && event->state == XCB_PROPERTY_NEW_VALUE)
			n = take(client, place, fd, &ignored);
		free(event);
	}
}

void clips_read(struct clips_reading *reading, struct clips_display display, const char *selection, const char *target)
{
	struct client client;

	reading->fd = memfd_create("read", 0);
	reading->pid = fork();
	if (reading->pid != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(READ_MS / 1000);
	open_client(&client, display, selection);
	read_all(&client, target, reading->fd);
	_exit(0);
}

int clips_read_end(struct clips_reading *reading, char **data, size_t *len)
{
	int status;
	off_t size;

	if (waitpid(reading->pid, &status, WNOHANG) == 0)
		return 0;
	size = lseek(reading->fd, 0, SEEK_END);
	*len = (size_t)size;
	*data = NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		*data = util_zalloc(*len + 1);
		assert_int_equal(pread(reading->fd, *data, *len, 0), size);
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) {
		fail_msg("reading a clipboard ended with status %x", (unsigned int)status);
	}
	(void)close(reading->fd);
	return 1;
}
