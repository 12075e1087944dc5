/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loaded into Xvfb: what the SECURITY extension refuses to untrusted clients, so that ordinary programs break.
 *
 * A message to the root window is meant to pass (Xext/security.c, SecuritySend), but it is compared with the bit that marks sent events
 * already set. Without it a program answers no ping and asks the window manager for nothing. The root is nobody's, but what is said there
 * may be about anybody's window: a message passes if it is about a window of its sender, or answers a ping to one.
 *
 * The bell is refused with an error that ends programs of Xlib and GTK; this display has none to hear. So is what an xterm does when text is
 * marked: it stores that in a cut buffer, a property of the root.
 *
 * Of the extensions XFIXES is let through as far as it tells who owns a selection: LibreOffice knows from nothing else that what it copied
 * is not the clipboard any more. No pictures of the pointer, no hiding of it, no barriers; what its requests do with windows is asked of
 * the extension all the same.
 *
 * XACE calls the callback that was registered last first. The server clears its callbacks when it starts, so ours come with its
 * first wait for clients. Declarations are those of xserver 21.1: Xext/xacestr.h, include/extnsionst.h, include/dixaccess.h, include/dixstruct.h,
 * include/pixmapstr.h.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { XACE_EXT_DISPATCH = 1, XACE_RESOURCE_ACCESS = 2, XACE_DEVICE_ACCESS = 3, XACE_PROPERTY_ACCESS = 4, XACE_SEND_ACCESS = 5, XACE_EXT_ACCESS = 8 };
#define SET_PROPERTY_ACCESS (1U << 8)
#define BELL_ACCESS (1U << 27)
#define CHANGE_PROPERTY 18
#define CUT_BUFFER0 9 /* predefined atoms, up to CUT_BUFFER7 */
#define CUT_BUFFER7 16
#define CLIENT_MESSAGE 33
#define SENT 0x80
#define CLIENT_BITS 0x1FF00000u /* of an id with -maxclients 512: zero for what is the server's own */

struct drawable {
	uint8_t type, class, depth, bits_per_pixel;
	uint32_t id;
};

/* A client: its request (opcode, mode, length, window, property, …), and what all its ids begin with. */
struct client {
	const uint8_t *request;
	const void *private, *ready[2], *pending[2];
	uint32_t id_bits;
};

struct resource_access {
	const struct client *client;
	uint32_t id, type;
	void *resource;
	uint32_t parent_type;
	void *parent;
	uint32_t mode;
	int status;
};

struct property_access {
	const struct client *client;
	const struct drawable *window;
	void *property;
	uint32_t mode;
	int status;
};

struct device_access {
	void *client, *device;
	uint32_t mode;
	int status;
};

struct extension {
	int index;
	void *close_down;
	const char *name;
};

struct extension_access {
	const struct client *client;
	const struct extension *extension;
	uint32_t mode;
	int status;
};

struct send_access {
	const struct client *client;
	void *device;
	const struct drawable *window;
	uint8_t (*events)[32];
	int count;
	int status;
};

typedef void callback_fn(void **list, void *arg, void *access);

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static bool stores_cut_buffer(const struct client *client)
{
	const uint8_t *request = client ? client->request : NULL;

	if (!request || request[0] != CHANGE_PROPERTY)
		return false;
	return !(word_at(request, 4) & CLIENT_BITS) && word_at(request, 8) >= CUT_BUFFER0 && word_at(request, 8) <= CUT_BUFFER7;
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

static bool is_ping(uint32_t protocol)
{
	static const char name[] = "_NET_WM_PING";
	uint32_t (*make_atom)(const char *name, unsigned int len, int make) =
		(uint32_t (*)(const char *name, unsigned int len, int make))dlsym(RTLD_DEFAULT, "MakeAtom");

	return make_atom && make_atom(name, sizeof(name) - 1, 0) == protocol;
}

static bool is_own(const struct client *client, uint32_t id)
{
	return (id & CLIENT_BITS) != 0 && (id & CLIENT_BITS) == client->id_bits;
}

/* Is the message about a window of who sends it? An answer to a ping is about the root, with the window as its third number. */
static bool is_about_own(const struct client *client, const uint8_t *message)
{
	uint32_t window = word_at(message, 4);

	return is_own(client, window) || (!(window & CLIENT_BITS) && is_ping(word_at(message, 12)) && is_own(client, word_at(message, 20)));
}

/* Requests of XFIXES that are let through: version, save set, selections, regions and what they clip, names of cursors, a client's own cursors. */
static bool is_let_through(uint8_t request)
{
	enum { SELECT_CURSOR_INPUT = 3, GET_CURSOR_IMAGE = 4, GET_CURSOR_IMAGE_AND_NAME = 25, CHANGE_CURSOR = 26, EXPAND_REGION = 28 };

	return request != SELECT_CURSOR_INPUT && request != GET_CURSOR_IMAGE &&
	       (request < GET_CURSOR_IMAGE_AND_NAME || request == CHANGE_CURSOR || request == EXPAND_REGION);
}

/* Says the name of an extension that untrusted clients have instead. */
static void let_through(struct extension_access *access)
{
	static const struct extension allowed = {.name = "XC-MISC"};

	access->extension = &allowed;
}

static bool is_xfixes(const struct extension_access *access)
{
	return access->extension && access->extension->name && strcmp(access->extension->name, "XFIXES") == 0;
}

static void on_query(void **list, void *arg, void *access)
{
	(void)list, (void)arg;
	if (is_xfixes(access))
		let_through(access);
}

static void on_dispatch(void **list, void *arg, void *access)
{
	struct extension_access *extension = access;

	(void)list, (void)arg;
	if (is_xfixes(extension) && is_let_through(extension->client->request[1]))
		let_through(extension);
}

/* The copy is for the extension alone: what is delivered keeps the bit. */
static void on_send(void **list, void *arg, void *access)
{
	static uint8_t message[1][32];
	struct send_access *send = access;

	(void)list, (void)arg;
	if (!send->client || send->count != 1 || send->events[0][0] != (CLIENT_MESSAGE | SENT) || (send->window->id & CLIENT_BITS) ||
	    !is_about_own(send->client, send->events[0]))
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
	(void)add(&hooks[XACE_EXT_ACCESS], on_query, NULL);
	(void)add(&hooks[XACE_EXT_DISPATCH], on_dispatch, NULL);
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
