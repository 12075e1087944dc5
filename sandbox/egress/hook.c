/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front is not believed: a record that is not of the form is nothing. */
#include "sandbox/egress/hook.h"

#include <string.h>

#define SIGNS "abcdefghijklmnopqrstuvwxyz0123456789"

bool hook_check(struct hook_event *event, size_t len)
{
	if (len < offsetof(struct hook_event, body) || event->len != len - offsetof(struct hook_event, body) || event->kind >= HOOK_N_EVENTS)
		return false;
	event->session[sizeof(event->session) - 1] = event->id[sizeof(event->id) - 1] = '\0';
	/* They go into header fields and lines of the log. */
	return strspn(event->session, SIGNS) == strlen(event->session) && strspn(event->id, SIGNS) == strlen(event->id);
}
