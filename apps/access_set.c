/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The action set_node. The app is asked to set the node; where it does not (browsers), the node is given the focus, and only when that is known to have come,
 * all that it holds is typed over.
 */
#include <string.h>
#include <sys/param.h>

#include "apps/state.h"
#include "session/base/util.h"

#define FOCUS_MS 1500 /* from the asking for the focus to its coming */
#define KEYS_MS 1500  /* until the app has taken the keys */
#define KEY_MS 3      /* and for each byte of the text; browsers are slow */
#define AGAIN_MS 100  /* it is asked about again, if nothing is told meanwhile */

static bool has_focus(const struct access_focus *focus, uint32_t id)
{
	return focus->known && focus->has_node && focus->node.id == id && focus->node.editable && !access_focus_secret(focus);
}

/* Waits until this very node gets the keys. */
static int await_focus(struct action_run *run, uint32_t id, struct err *e)
{
	struct access *access = &((struct apps *)run->home)->access;
	int64_t until_ms = MIN(util_now_ms() + FOCUS_MS, run->deadline_ms);
	struct access_focus focus;

	for (;;) {
		if (access_focus_now(access, until_ms, &focus, e) < 0)
			return -1;
		if (has_focus(&focus, id))
			return 0;
		if (util_now_ms() >= until_ms)
			return err_set(e, ERR_CONFLICT, NULL, "node %u does not get the focus, so that nothing was typed; has its window the keys? Else click on it and type", id);
		if (co_wait_event(access_changed(access), MIN(util_now_ms() + AGAIN_MS, until_ms), e) < 0 && e->code == ERR_CANCELLED)
			return -1;
	}
}

/* A Tab goes to the next field, a Return may send the form. */
static int check_keys(const struct access_item *item, const char *value, struct err *e)
{
	bool many = (item->states >> STATE_MULTI_LINE) & 1;

	if (value[strcspn(value, many ? "\t" : "\t\n\r")] == '\0')
		return 0;
	return err_set(e, ERR_CONFLICT, "/value", "node %u takes keys alone, of which a Tab%s would leave it", item->id, many ? "" : " or a Return");
}

/* Does the node hold the value, but for blanks at its end? */
static bool holds(const struct access_item *item, const char *value)
{
	size_t len = strlen(item->text);

	return strncmp(item->text, value, len) == 0 && (item->text_cut || value[len + strspn(value + len, " \t\r\n")] == '\0');
}

/* Waits until the app has taken the keys. */
static int read_back(struct action_run *run, const struct access_item *before, const char *value, struct access_item *item, struct err *e)
{
	struct access_record record = {.op = ACCESS_READ, .id = before->id};
	int64_t until_ms = MIN(util_now_ms() + KEYS_MS + KEY_MS * (int64_t)strlen(value), run->deadline_ms);
	struct access_item last;

	(void)strcpy(record.text, value);
	*item = *before;
	do {
		last = *item;
		if (access_ask_node(run, &record, item, NULL, e) < 0)
			return -1;
	} while (!holds(item, value) && (strcmp(item->text, last.text) != 0 || util_now_ms() < until_ms));
	if (!holds(item, value) && strcmp(item->text, before->text) == 0)
		return err_set(e, ERR_CONFLICT, NULL, "node %u got the focus and the keys, but holds what it held", record.id);
	return 0;
}

static int type_over(struct action_run *run, const char *value, struct access_item *item, struct err *e)
{
	const struct apps_ops *ops = &((struct apps *)run->home)->ops;
	struct access_record record = {.op = ACCESS_GRAB, .id = (uint32_t)form_int(run->args, "node", 0)};
	struct access_item before;

	if (access_ask_node(run, &record, &before, NULL, e) < 0 || check_keys(&before, value, e) < 0 || await_focus(run, record.id, e) < 0 ||
	    ops->type_over(ops->arg, value, run->deadline_ms, e) < 0)
		return -1;
	return read_back(run, &before, value, item, e);
}

int access_set_run(struct action_run *run, struct err *e)
{
	const struct apps_ops *ops = &((struct apps *)run->home)->ops;
	const char *value = form_string(run->args, "value", ""), *by = "accessibility";
	struct access_record record = {.op = ACCESS_SET, .id = (uint32_t)form_int(run->args, "node", 0)};
	struct access_item item;
	bool unset;
	int rc;

	(void)strcpy(record.text, value);
	rc = access_ask_node(run, &record, &item, &unset, e);
	if (rc < 0 && unset && ops->type_over) {
		by = "typing";
		rc = type_over(run, value, &item, e);
	}
	if (rc < 0)
		return -1;
	json_object_set_new(run->result, "node", json_integer(item.id));
	json_object_set_new(run->result, "by", json_string(by));
	access_put_node(run, &item, run->result);
	return 0;
}
