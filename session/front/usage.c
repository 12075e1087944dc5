/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking the warden, together and seldom. */
#include "session/front/usage.h"

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define USAGE_FRESH_MS 250

/* Asks now, as soon as the warden may be asked again. */
static int ask(struct usage *usage, int64_t deadline_ms, struct err *e)
{
	int64_t now_ms;
	int rc = 0;

	usage->asking = true;
	/* The warden reads its clock a little later than this one: some more, so that it does not refuse. */
	if (usage->asked_ms)
		rc = co_wait_until(usage->asked_ms + WARDEN_USAGE_MS * 5 / 4, e);
	now_ms = util_now_ms();
	if (rc == 0) {
		usage->asked_ms = now_ms;
		rc = warden_ask_usage(usage->warden, deadline_ms, e);
	}
	if (rc == 0)
		usage->sample_ms = now_ms;
	usage->asking = false;
	co_signal(&usage->told);
	return rc;
}

int usage_refresh(struct usage *usage, int64_t since_ms)
{
	int64_t now_ms = util_now_ms(), deadline_ms = now_ms + LIMIT_USAGE_MS;
	int64_t wanted_ms = now_ms - USAGE_FRESH_MS > since_ms ? now_ms - USAGE_FRESH_MS : since_ms;
	struct err e;
	int rc = 0;

	while (rc == 0 && (!usage->sample_ms || usage->sample_ms < wanted_ms))
		rc = usage->asking ? co_wait_event(&usage->told, deadline_ms, &e) : ask(usage, deadline_ms, &e);
	if (rc < 0)
		log_err(LOG_DEBUG, &e, "asking what sessions use");
	return rc;
}

void usage_take(struct usage *usage, struct sessions *all, const struct warden_event *event)
{
	struct session *session = *event->session ? sessions_find(all, event->session) : NULL;

	if (session)
		session->usage = event->usage;
	else if (!*event->session)
		usage->front = event->usage;
}
