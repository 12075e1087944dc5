/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile grab | connections | pixmaps: an X client that is in the way of all others. It shows a window, and grabs the server once there is
 * a file /tmp/grab; it takes all connections; it fills the server's memory. Says what came of it, one line, and then stays as it is. Static, so that it runs in any image.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/xcb.h>

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
	else
		fill(x);
	stay();
}
