/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loaded into Xvfb: two requests of untrusted clients that the SECURITY extension refuses, so that ordinary programs break.
 *
 * A message to the root window is meant to pass (Xext/security.c, SecuritySend), but it is compared with the bit that marks sent events
 * already set. Without it a program answers no ping and asks the window manager for nothing. The root is nobody's: no message to a window
 * of a trusted client passes by this. The bell is refused with an error that ends programs of Xlib and GTK; this display has none to hear.
 *
 * XACE calls the callback that was registered last first. The server clears its callbacks when it starts, so ours come with its
 * first wait for clients. Declarations are those of xserver 21.1: Xext/xacestr.h, include/dixaccess.h, include/pixmapstr.h.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { XACE_DEVICE_ACCESS = 3, XACE_SEND_ACCESS = 5 };
#define BELL_ACCESS (1UL << 27)
#define CLIENT_MESSAGE 33
#define SENT 0x80
#define CLIENT_BITS 0x1FE00000u /* of an id: zero for what is the server's own */

struct device_access {
	void *client, *device;
	unsigned long mode;
	int status;
};

struct drawable {
	uint8_t type, class, depth, bits_per_pixel;
	uint32_t id;
};

struct send_access {
	void *client, *device;
	const struct drawable *window;
	uint8_t (*events)[32];
	int count;
	int status;
};

typedef void callback_fn(void **list, void *arg, void *access);

static void on_device(void **list, void *arg, void *access)
{
	(void)list, (void)arg;
	((struct device_access *)access)->mode &= ~BELL_ACCESS;
}

/* The copy is for the extension alone: what is delivered keeps the bit. */
static void on_send(void **list, void *arg, void *access)
{
	static uint8_t message[1][32];
	struct send_access *send = access;

	(void)list, (void)arg;
	if (!send->client || send->count != 1 || send->events[0][0] != (CLIENT_MESSAGE | SENT) || (send->window->id & CLIENT_BITS))
		return;
	memcpy(message[0], send->events[0], sizeof(message[0]));
	message[0][0] = CLIENT_MESSAGE;
	send->events = message;
}

/* Nothing of Xvfb is linked here: it may be loaded into other programs, where these are not. */
static void register_callbacks(void)
{
	int (*add)(void **list, callback_fn *fn, void *arg) = (int (*)(void **, callback_fn *, void *))dlsym(RTLD_DEFAULT, "AddCallback");
	void **hooks = dlsym(RTLD_DEFAULT, "XaceHooks");

	if (!add || !hooks)
		return;
	(void)add(&hooks[XACE_DEVICE_ACCESS], on_device, NULL);
	(void)add(&hooks[XACE_SEND_ACCESS], on_send, NULL);
}

int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout_ms)
{
	static bool registered;

	if (!registered) {
		registered = true;
		register_callbacks();
	}
	return (int)syscall(SYS_epoll_wait, epoll, events, max, timeout_ms);
}
