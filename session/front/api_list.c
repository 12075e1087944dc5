/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of sessions: filters and pages. */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/api.h"
#include "session/front/describe.h"
#include "session/front/request.h"

#define LABEL_PREFIX "label."
#define SHOWN_MAX 80

struct filter {
	unsigned int states; /* bits 1 << enum session_state */
	const char *owner, *image; /* NULL: any */
	json_t *query;       /* its label.NAME parameters; borrowed */
};

static const char *parameter(const struct request *request, const char *name)
{
	return json_string_value(json_object_get(request->target.query, name));
}

static int refuse(const char *path, const char *value, const char *rule, struct err *e)
{
	char shown[SHOWN_MAX];

	return err_set(e, ERR_BAD_FIELD, path, "%s is refused: %s", err_quote(shown, sizeof(shown), value, strlen(value)), rule);
}

/* "ready,ending" as bits; all of them without a text. */
static int read_states(const char *text, unsigned int *states, struct err *e)
{
	unsigned int found = 0;

	if (!text) {
		*states = ~0U;
		return 0;
	}
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		enum session_state state = 0;

		while (state < N_SESSION_STATES &&
		       (strlen(session_state_name(state)) != len || memcmp(session_state_name(state), at, len) != 0))
			state++;
		if (state == N_SESSION_STATES)
			return refuse("/state", text, "states are starting, ready, paused, ending, ended, failed, with commas between several", e);
		found |= 1U << state;
		at += len;
		if (!*at)
			break;
	}
	*states = found;
	return 0;
}

static int read_limit(const char *text, size_t *limit, struct err *e)
{
	const char *at = text ? text : "";
	size_t n = 0;
	char rule[40];

	while (*at >= '0' && *at <= '9' && n <= LIMIT_LIST)
		n = n * 10 + (size_t)(*at++ - '0');
	if (text && (*at || n < 1 || n > LIMIT_LIST)) {
		(void)snprintf(rule, sizeof(rule), "it is a number, 1..%d", LIMIT_LIST);
		return refuse("/limit", text, rule, e);
	}
	*limit = text ? n : LIMIT_LIST;
	return 0;
}

/* What the page begins with; `after` is the last session of the page before. */
static int read_after(const struct request *request, const struct session **first, struct err *e)
{
	const char *after = parameter(request, "after");
	const struct session *last = after ? sessions_find(&request->front->sessions, after) : NULL;

	if (after && (!last || !session_is_shown_to(last, &request->who)))
		return refuse("/after", after, "it is no session of the list (any more); begin again without it", e);
	*first = last ? last->next : request->front->sessions.first;
	return 0;
}

static bool has_labels(const struct session *session, json_t *query)
{
	const json_t *labels = json_object_get(session->spec, "labels");
	const char *name;
	json_t *value;

	json_object_foreach(query, name, value)
		if (strncmp(name, LABEL_PREFIX, strlen(LABEL_PREFIX)) == 0 &&
		    !json_equal(json_object_get(labels, name + strlen(LABEL_PREFIX)), value))
			return false;
	return true;
}

static bool passes(const struct session *session, const struct filter *filter)
{
	return filter->states & 1U << session->state && (!filter->owner || strcmp(session->owner, filter->owner) == 0) &&
	       (!filter->image || strcmp(form_string(session->spec, "image", ""), filter->image) == 0) &&
	       has_labels(session, filter->query);
}

/* The sessions from `from` on that the caller may see and asked for, at most `max`; *total counts them all, *last is the last one taken. */
static json_t *take(const struct request *request, const struct filter *filter, const struct session *from, size_t max, size_t *total,
                    const struct session **last)
{
	json_t *list = json_array();

	for (const struct session *session = from; session; session = session->next) {
		if (!session_is_shown_to(session, &request->who) || !passes(session, filter))
			continue;
		if ((*total)++ >= max)
			continue;
		(void)json_array_append_new(list, describe_session(session, NULL));
		*last = session;
	}
	return list;
}

int api_list(struct request *request, struct err *e)
{
	struct filter filter = {.owner = parameter(request, "owner"), .image = parameter(request, "image"), .query = request->target.query};
	const struct session *from, *last = NULL;
	size_t limit, total = 0, rest = 0;
	json_t *list;

	if (read_states(parameter(request, "state"), &filter.states, e) < 0 || read_limit(parameter(request, "limit"), &limit, e) < 0 ||
	    read_after(request, &from, e) < 0)
		return -1;
	json_decref(take(request, &filter, request->front->sessions.first, 0, &total, &last));
	list = take(request, &filter, from, limit, &rest, &last);
	reply_json(&request->reply, 200, json_pack("{s:o, s:I, s:o}", "sessions", list, "total", (json_int_t)total, "next",
	                                           rest > limit ? json_string(last->id) : json_null()));
	return 0;
}
