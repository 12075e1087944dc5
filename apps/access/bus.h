/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a D-Bus daemon on the loop: calls that are under way by the hundred, each waited for in a coroutine with a deadline.
 *
 * A callee that leaves calls unanswered for LIMIT_ACCESS_SILENT_MS hangs: every wait for it ends, and it is asked nothing more until it
 * has answered the last probe. So it costs its silence once. One thread.
 */
#ifndef ACCESS_BUS_H
#define ACCESS_BUS_H

#include <dbus/dbus.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/base/co.h"

#define BUS_NAME_BYTES 64 /* of a unique name: longer ones are nobody's */

/* Somebody on the bus. */
struct peer {
	char name[BUS_NAME_BYTES + 1];
	bool hung;
	int64_t heard_ms; /* when it last answered something */
};

struct call;

struct bus {
	struct loop *loop;
	DBusConnection *connection; /* NULL: not connected */
	struct loop_source *source;
	struct loop_timer *soon;
	struct call *calls[1024]; /* by serial */
	void (*signal)(void *arg, DBusMessage *message); /* a signal came */
	void (*heard)(void *arg, const char *name);      /* an answer came after nobody waited for it any more */
	void (*lost)(void *arg);                         /* called once, from the loop */
	void *arg;
};

/* Connects; blocks as long as the daemon takes for the greeting, which the caller's alarm bounds. Errors: ERR_SESSION_FAILED. */
int bus_open(struct bus *bus, struct loop *loop, const char *address, struct err *e);
/* Ends all calls as unanswered. Nothing for zeroed memory. */
void bus_close(struct bus *bus);

/* A message to be given to bus_send. `to` may be NULL: the daemon itself. */
DBusMessage *bus_message(const char *to, const char *path, const char *interface, const char *member);

/* Sends the message, which it takes. A hung peer is sent nothing: the call is then unanswered at once. Never NULL; `peer` may be NULL, and else
 * outlives the call. */
struct call *bus_send(struct bus *bus, struct peer *peer, DBusMessage *message);

/* Waits for the reply, and ends the call. NULL: an error was the answer, or none came in time. The caller unrefs it. */
DBusMessage *bus_take(struct call *call, int64_t deadline_ms);
/* Ends the call unheard. NULL is fine. */
void bus_drop(struct call *call);

/* Both. */
DBusMessage *bus_ask(struct bus *bus, struct peer *peer, DBusMessage *message, int64_t deadline_ms);

/* The peer's memory ends: nobody may wait for it now. */
void bus_forget(struct bus *bus, const struct peer *peer);

/* Tells the daemon which signals are wanted. */
void bus_match(struct bus *bus, const char *rule);

#endif
