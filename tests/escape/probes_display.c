/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The display, as a client that has what an ordinary program of the jail has. Trusted ones are not asked: they may. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

#include "session/base/util.h"
#include "tests/escape/battery.h"

#define KEY 38
#define FIRST_OPCODE 128 /* of extensions */
#define LAST_OPCODE 160

/* What a try works on: a connection, the root, and a window of somebody else. */
struct client {
	xcb_connection_t *x;
	xcb_window_t root, other;
};

static bool open_client(struct client *client)
{
	xcb_query_tree_reply_t *tree;
	xcb_connection_t *x = xcb_connect(":0", NULL);

	*client = (struct client){.x = x};
	if (xcb_connection_has_error(x))
		return false;
	client->root = xcb_setup_roots_iterator(xcb_get_setup(x)).data->root;
	tree = xcb_query_tree_reply(x, xcb_query_tree(x, client->root), NULL);
	if (tree && xcb_query_tree_children_length(tree) > 0)
		client->other = xcb_query_tree_children(tree)[0];
	free(tree);
	return client->other != 0;
}

/* One request that has no reply: the display's error, or DONE. */
static int checked(xcb_connection_t *x, xcb_void_cookie_t cookie)
{
	auto_free xcb_generic_error_t *error = xcb_request_check(x, cookie);

	return error || xcb_connection_has_error(x) ? REFUSED : DONE;
}

static int replied(void *reply)
{
	int outcome = reply ? DONE : REFUSED;

	free(reply);
	return outcome;
}

static int picture(const struct client *c, xcb_window_t of)
{
	return replied(xcb_get_image_reply(c->x, xcb_get_image(c->x, XCB_IMAGE_FORMAT_Z_PIXMAP, of, 0, 0, 1, 1, ~0U), NULL));
}

static int picture_of_root(const struct client *c)
{
	return picture(c, c->root);
}

static int picture_of_other(const struct client *c)
{
	return picture(c, c->other);
}

static int select_on(const struct client *c, xcb_window_t window, uint32_t events)
{
	return checked(c->x, xcb_change_window_attributes_checked(c->x, window, XCB_CW_EVENT_MASK, &events));
}

static int keys_of_other(const struct client *c)
{
	return select_on(c, c->other, XCB_EVENT_MASK_KEY_PRESS | XCB_EVENT_MASK_BUTTON_PRESS);
}

static int redirect(const struct client *c)
{
	return select_on(c, c->root, XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT);
}

static int grab_keyboard(const struct client *c)
{
	auto_free xcb_grab_keyboard_reply_t *reply =
		xcb_grab_keyboard_reply(c->x, xcb_grab_keyboard(c->x, 0, c->root, XCB_CURRENT_TIME, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC), NULL);

	return reply && reply->status == XCB_GRAB_STATUS_SUCCESS ? DONE : REFUSED;
}

static int grab_pointer(const struct client *c)
{
	auto_free xcb_grab_pointer_reply_t *reply = xcb_grab_pointer_reply(
		c->x, xcb_grab_pointer(c->x, 0, c->root, XCB_EVENT_MASK_BUTTON_PRESS, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC, 0, 0, XCB_CURRENT_TIME), NULL);

	return reply && reply->status == XCB_GRAB_STATUS_SUCCESS ? DONE : REFUSED;
}

static int grab_key(const struct client *c)
{
	return checked(c->x, xcb_grab_key_checked(c->x, 0, c->root, XCB_MOD_MASK_ANY, XCB_GRAB_ANY, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC));
}

static int grab_button(const struct client *c)
{
	return checked(c->x, xcb_grab_button_checked(c->x, 0, c->root, XCB_EVENT_MASK_BUTTON_PRESS, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC, 0, 0,
	                                             XCB_BUTTON_INDEX_ANY, XCB_MOD_MASK_ANY));
}

static int remap(const struct client *c)
{
	const xcb_keysym_t b = 'b';

	return checked(c->x, xcb_change_keyboard_mapping_checked(c->x, 1, KEY, 1, &b));
}

static int modifiers(const struct client *c)
{
	static xcb_keycode_t none[8];
	auto_free xcb_set_modifier_mapping_reply_t *reply = xcb_set_modifier_mapping_reply(c->x, xcb_set_modifier_mapping(c->x, 1, none), NULL);

	return reply && reply->status == XCB_MAPPING_STATUS_SUCCESS ? DONE : REFUSED;
}

static int property(const struct client *c, xcb_window_t window)
{
	return checked(c->x, xcb_change_property_checked(c->x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_COMMAND, XCB_ATOM_STRING, 8, 1, "x"));
}

static int property_of_root(const struct client *c)
{
	return property(c, c->root);
}

static int property_of_other(const struct client *c)
{
	return property(c, c->other);
}

static int send_key(const struct client *c)
{
	xcb_key_press_event_t event = {.response_type = XCB_KEY_PRESS, .detail = KEY, .root = c->root, .event = c->other, .same_screen = 1};
	char bytes[32] = {0};

	memcpy(bytes, &event, sizeof(event));
	return checked(c->x, xcb_send_event_checked(c->x, 1, c->other, 0, bytes));
}

static int destroy(const struct client *c)
{
	return checked(c->x, xcb_destroy_window_checked(c->x, c->other));
}

static int kill_other(const struct client *c)
{
	return checked(c->x, xcb_kill_client_checked(c->x, c->other));
}

static int unmap(const struct client *c)
{
	return checked(c->x, xcb_unmap_window_checked(c->x, c->other));
}

static int reparent(const struct client *c)
{
	return checked(c->x, xcb_reparent_window_checked(c->x, c->other, c->root, 0, 0));
}

static int access_control(const struct client *c)
{
	return checked(c->x, xcb_set_access_control_checked(c->x, XCB_ACCESS_CONTROL_DISABLE));
}

static int change_hosts(const struct client *c)
{
	static const uint8_t all[4] = {0};

	return checked(c->x, xcb_change_hosts_checked(c->x, XCB_HOST_MODE_INSERT, XCB_FAMILY_INTERNET, sizeof(all), all));
}

static int list_hosts(const struct client *c)
{
	return replied(xcb_list_hosts_reply(c->x, xcb_list_hosts(c->x), NULL));
}

static int font_path(const struct client *c)
{
	return checked(c->x, xcb_set_font_path_checked(c->x, 0, NULL));
}

static bool has_extension(const struct client *c, const char *name)
{
	auto_free xcb_query_extension_reply_t *reply = xcb_query_extension_reply(c->x, xcb_query_extension(c->x, (uint16_t)strlen(name), name), NULL);

	return reply && reply->present;
}

static int extensions(const struct client *c)
{
	static const char *const names[] = {"XTEST", "RECORD", "XInputExtension", "XKEYBOARD", "SECURITY", "Composite", "DAMAGE", "RANDR", "MIT-SHM",
	                                    "X-Resource", "GLX", "DRI3", "XVideo", "Present"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (has_extension(c, names[i]))
			return DONE;
	return REFUSED;
}

/* FakeInput of XTEST, whatever its number is: pressed, then released. */
static int fake_key(const struct client *c)
{
	for (int opcode = FIRST_OPCODE; opcode < LAST_OPCODE; opcode++)
		for (uint8_t kind = XCB_KEY_PRESS; kind <= XCB_KEY_RELEASE; kind++) {
			uint8_t bytes[36] = {(uint8_t)opcode, 2, 9, 0, kind, KEY};
			struct iovec parts[4] = {{NULL, 0}, {NULL, 0}, {bytes, sizeof(bytes)}, {NULL, 0}};
			const xcb_protocol_request_t request = {.count = 1, .opcode = (uint8_t)opcode, .isvoid = 1};
			xcb_void_cookie_t cookie = {xcb_send_request(c->x, XCB_REQUEST_CHECKED | XCB_REQUEST_RAW, parts + 2, &request)};

			if (checked(c->x, cookie) == DONE)
				return DONE;
		}
	return REFUSED;
}

static int (*const ATTEMPTS[])(const struct client *c) = {
	picture_of_root, picture_of_other, keys_of_other, redirect, grab_keyboard, grab_pointer, grab_key, grab_button, remap, modifiers,
	property_of_root, property_of_other, send_key, destroy, kill_other, unmap, reparent, access_control, change_hosts, list_hosts, font_path,
	extensions, fake_key,
};

static int try_display(const struct probe *probe)
{
	struct client client;

	/* REFUSED at the door would be no proof of anything behind it. */
	return open_client(&client) ? ATTEMPTS[probe->args[0]](&client) : DIED;
}

static int try_without_cookie(const struct probe *probe)
{
	(void)probe;
	(void)setenv("XAUTHORITY", "/dev/null", 1);
	return xcb_connection_has_error(xcb_connect(":0", NULL)) ? REFUSED : DONE;
}

static int try_wrong_cookie(const struct probe *probe)
{
	static char name[] = "MIT-MAGIC-COOKIE-1", data[16];
	xcb_auth_info_t auth = {.namelen = sizeof(name) - 1, .name = name, .datalen = sizeof(data), .data = data};

	(void)probe;
	return xcb_connection_has_error(xcb_connect_to_display_with_auth_info(":0", &auth, NULL)) ? REFUSED : DONE;
}

#define DISPLAY(text, attempt) \
	{.name = "X: " text, .layer = DISPLAY_TRUST, .try = try_display, .args = {(attempt)}, .expect = {REFUSED, NOT_TRIED, NOT_TRIED}}

static const struct probe probes[] = {
	DISPLAY("picture of the screen", 0), DISPLAY("picture of another window", 1), DISPLAY("keys of another window", 2),
	DISPLAY("be the window manager", 3), DISPLAY("grab the keyboard", 4), DISPLAY("grab the pointer", 5),
	DISPLAY("grab all keys", 6), DISPLAY("grab all buttons", 7), DISPLAY("remap a key", 8), DISPLAY("remap the modifiers", 9),
	DISPLAY("property of the screen", 10), DISPLAY("property of another window", 11), DISPLAY("send a key", 12),
	DISPLAY("destroy another window", 13), DISPLAY("end another client", 14), DISPLAY("unmap another window", 15),
	DISPLAY("reparent another window", 16), DISPLAY("turn access control off", 17), DISPLAY("let a host in", 18), DISPLAY("list the hosts", 19),
	DISPLAY("path of fonts", 20), DISPLAY("extensions", 21), DISPLAY("fake a key", 22),
	TRY_BY("X: without a cookie", DISPLAY_DOOR, try_without_cookie, REFUSED, DONE, NOT_TRIED),
	TRY_BY("X: with a wrong cookie", DISPLAY_DOOR, try_wrong_cookie, REFUSED, NOT_TRIED, NOT_TRIED),
};

const struct probe_table probes_display = {probes, ARRAY_LEN(probes)};
