/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A phrase for each code with which an action can end. */
#include "session/dialects/why.h"

#include "session/base/json.h"
#include "session/base/util.h"

struct reason {
	enum err_code code;
	bool is_models;
	const char *phrase; /* NULL: the error's own text */
};

static const struct reason reasons[] = {
	{ERR_BAD_FIELD, true, NULL},
	{ERR_UNKNOWN_FIELD, true, NULL},
	{ERR_MISSING_FIELD, true, NULL},
	{ERR_UNKNOWN_ACTION, true, NULL},
	{ERR_UNKNOWN_KEY, true, NULL},
	{ERR_UNSUPPORTED, true, NULL},
	{ERR_STALE_TARGET, true, "Not done: the screen near the target has changed since the last screenshot. Take a new screenshot and decide again"},
	{ERR_STALE_EPOCH, true, "Not done: somebody else has used the desktop since the last screenshot. Take a new screenshot and decide again"},
	{ERR_STALE_EPISODE, true, "Not done: the desktop was reset since the last screenshot. Take a new screenshot and decide again"},
	{ERR_DENIED, true, NULL},
	{ERR_SENSITIVE, true, NULL},
	{ERR_APPROVAL_PENDING, false, "Not done: a person is asked about this action, and has not answered yet"},
	{ERR_WAITING, false, "Not done: another action waits for a person's answer"},
	{ERR_MUST_OBSERVE, true, "Not done: a person has used the desktop since the last screenshot. Take a new screenshot and decide again"},
	{ERR_LEASE_LOST, false, "The action was stopped: a person has taken over the desktop. It goes on once the person gives it back"},
	{ERR_CONFLICT, false, "The action is not possible now: a mouse button or key is held already"},
	{ERR_CANCELLED, false, "The action was cancelled before it was done"},
	{ERR_PAUSED, false, "The action was stopped: the desktop is paused"},
	{ERR_TIMEOUT, false, "The time limit was reached before this action was done"},
	{ERR_TOO_LARGE, false, "The screenshots of this turn are too large together: ask for fewer of them"},
	{ERR_JOURNAL_FULL, false, "The action was not done: the desktop takes no more actions"},
	{ERR_GONE, false, "The action was not done: the desktop is gone"},
	{ERR_INPUT_LOST, false, "The action could not be delivered to the desktop"},
	{ERR_X_SILENT, false, "The desktop did not answer"},
};
static const struct reason other = {ERR_NONE, false, "The action failed"};

static const struct reason *find(const json_t *error)
{
	enum err_code code = err_from_wire(form_string(error, "code", ""));

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].code == code)
			return &reasons[i];
	return &other;
}

bool why_is_models(const json_t *error)
{
	return find(error)->is_models;
}

bool why_is_input(const json_t *error)
{
	return !find(error)->phrase;
}

const char *why_text(const json_t *error)
{
	const char *phrase = find(error)->phrase;

	return phrase ? phrase : form_string(error, "detail", other.phrase);
}
