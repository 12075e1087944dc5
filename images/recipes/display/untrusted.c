/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loaded into Xvfb: three requests of untrusted clients that the SECURITY extension refuses, so that ordinary programs break.
 *
 * A message to the root window is meant to pass (Xext/security.c, SecuritySend), but it is compared with the bit that marks sent events
 * already set. Without it a program answers no ping and asks the window manager for nothing. The root is nobody's: no message to a window
 * of a trusted client passes by this. The bell is refused with an error that ends programs of Xlib and GTK; this display has none to hear. So is
 * what an xterm does when text is marked: it stores that in a cut buffer, a property of the root.
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

enum { XACE_RESOURCE_ACCESS = 2, XACE_DEVICE_ACCESS = 3, XACE_PROPERTY_ACCESS = 4, XACE_SEND_ACCESS = 5 };
#define SET_PROPERTY_ACCESS (1UL << 8)
#define BELL_ACCESS (1UL << 27)
#define CHANGE_PROPERTY 18
#define CUT_BUFFER0 9 /* predefined atoms, up to CUT_BUFFER7 */
#define CUT_BUFFER7 16
#define CLIENT_MESSAGE 33
#define SENT 0x80
#define CLIENT_BITS 0x1FE00000u /* of an id: zero for what is the server's own */

struct drawable {
	uint8_t type, class, depth, bits_per_pixel;
	uint32_t id;
};

/* A client, as far as its request: opcode, mode, length, window, property, … */
struct client {
	const uint8_t *request;
};

struct resource_access {
	const struct client *client;
	uint32_t id, type;
	void *resource;
	uint32_t parent_type;
	void *parent;
	unsigned long mode;
	int status;
};

struct property_access {
	const struct client *client;
	const struct drawable *window;
	void *property;
	unsigned long mode;
	int status;
};

struct device_access {
	void *client, *device;
	unsigned long mode;
	int status;
};

struct send_access {
	void *client, *device;
	const struct drawable *window;
	uint8_t (*events)[32];
	int count;
	int status;
};

typedef void callback_fn(void **list, void *arg, void *access);

static bool stores_cut_buffer(const struct client *client)
{
	const uint8_t *request = client ? client->request : NULL;
	uint32_t window, property;

	if (!request || request[0] != CHANGE_PROPERTY)
		return false;
	memcpy(&window, request + 4, sizeof(window));
	memcpy(&property, request + 8, sizeof(property));
	return !(window & CLIENT_BITS) && property >= CUT_BUFFER0 && property <= CUT_BUFFER7;
}

static void on_resource(void **list, void *arg, void *access)
{
	struct resource_access *resource = access;

	(void)list, (void)arg;
	if ((resource->mode & SET_PROPERTY_ACCESS) && !(resource->id & CLIENT_BITS) && stores_cut_buffer(resource->client))
		resource->mode &= ~SET_PROPERTY_ACCESS;
}

static void on_property(void **list, void *arg, void *access)
{
	struct property_access *property = access;

	(void)list, (void)arg;
	if (!(property->window->id & CLIENT_BITS) && stores_cut_buffer(property->client))
		property->mode = 0;
}

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
	(void)add(&hooks[XACE_RESOURCE_ACCESS], on_resource, NULL);
	(void)add(&hooks[XACE_PROPERTY_ACCESS], on_property, NULL);
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
