/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile grab | connections | pixmaps | control | keyboard: an X client that is in the way of all others. It shows a window, and grabs the server once there is
 * a file /tmp/grab; it takes all connections; it fills the server's memory; it tells openbox to restart and to end; it has the
 * server compile a keyboard. Says what came of it, one line, and then stays as it is. Static, so that it runs in any image.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

#define SIDE 4000
#define PIXMAPS 64
#define CONNECTIONS 1000

static _Noreturn void stay(void)
{
	for (;;)
		(void)pause();
}

static void grab(xcb_connection_t *x)
{
	const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
	xcb_window_t window = xcb_generate_id(x);

	xcb_create_window(x, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, 200, 100, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, NULL);
	xcb_map_window(x, window);
	xcb_flush(x);
	while (access("/tmp/grab", F_OK) < 0)
		(void)usleep(10000);
	xcb_grab_server(x);
	/* A process that is out of reach of a signal to the group holds the connection, too. */
	if (fork() == 0) {
		(void)setsid();
		stay();
	}
	free(xcb_get_input_focus_reply(x, xcb_get_input_focus(x), NULL));
	printf("grabbed\n");
}

static void take_connections(void)
{
	int n = 0;

	while (n < CONNECTIONS && !xcb_connection_has_error(xcb_connect(":0", NULL)))
		n++;
	printf("taken %d\n", n);
}

static void fill(xcb_connection_t *x)
{
	xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(x)).data->root;
	int n = 0, refused = 0;

	for (int i = 0; i < PIXMAPS; i++) {
		xcb_generic_error_t *error = xcb_request_check(x, xcb_create_pixmap_checked(x, 24, xcb_generate_id(x), root, SIDE, SIDE));

		n += !error;
		refused += error != NULL;
		free(error);
	}
	printf("made %d refused %d\n", n, refused);
}

/* 2 restarts it, 3 ends it; about the root, and about a window of our own. */
static void control(xcb_connection_t *x)
{
	xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(x)).data->root, own = xcb_generate_id(x);
	xcb_intern_atom_reply_t *atom = xcb_intern_atom_reply(x, xcb_intern_atom(x, 0, 11, "_OB_CONTROL"), NULL);

	xcb_create_window(x, XCB_COPY_FROM_PARENT, own, root, 0, 0, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, 0, NULL);
	for (uint32_t what = 2; atom && what <= 3; what++)
		for (int i = 0; i < 2; i++) {
			xcb_client_message_event_t event = {.response_type = XCB_CLIENT_MESSAGE, .format = 32, .window = i ? own : root, .type = atom->atom,
			                                    .data.data32 = {what}};
			char bytes[32];

			memcpy(bytes, &event, sizeof(bytes));
			xcb_send_event(x, 0, root, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT, bytes);
		}
	free(atom);
	free(xcb_get_input_focus_reply(x, xcb_get_input_focus(x), NULL));
	printf("told\n");
}

/* XkbUseExtension, then XkbGetKbdByName of a whole map, which the server runs a shell and a compiler for. */
static void compile_keyboard(xcb_connection_t *x)
{
	xcb_query_extension_reply_t *xkb = xcb_query_extension_reply(x, xcb_query_extension(x, 9, "XKEYBOARD"), NULL);
	uint8_t use[8] = {0, 0, 2, 0, 1, 0, 0, 0}, get[44] = {0, 23, 11, 0, 0, 1, 0x3F, 0, 0x3F, 0, 1};
	uint8_t *requests[] = {use, get};
	const size_t lens[] = {sizeof(use), sizeof(get)};
	uint8_t *reply = NULL;

	memcpy(get + 12, "\0\5evdev\10complete\10complete\5pc+us", 31);
	for (size_t i = 0; xkb && xkb->present && i < 2; i++) {
		struct iovec parts[4] = {{NULL, 0}, {NULL, 0}, {requests[i], lens[i]}, {NULL, 0}};
		const xcb_protocol_request_t request = {.count = 1, .opcode = xkb->major_opcode};
		unsigned sequence;

		requests[i][0] = xkb->major_opcode;
		sequence = xcb_send_request(x, XCB_REQUEST_CHECKED | XCB_REQUEST_RAW, parts + 2, &request);
		free(reply);
		reply = xcb_wait_for_reply(x, sequence, NULL);
	}
	printf("%s\n", !xkb || !xkb->present ? "no extension" : !reply ? "refused" : reply[10] ? "loaded" : "not loaded");
	free(xkb);
	free(reply);
}

int main(int argc, char **argv)
{
	xcb_connection_t *x = xcb_connect(":0", NULL);

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || xcb_connection_has_error(x))
		return 2;
	if (strcmp(argv[1], "grab") == 0)
		grab(x);
	else if (strcmp(argv[1], "connections") == 0)
		take_connections();
	else if (strcmp(argv[1], "control") == 0)
		control(x);
	else if (strcmp(argv[1], "keyboard") == 0)
		compile_keyboard(x);
	else
		fill(x);
	stay();
}
