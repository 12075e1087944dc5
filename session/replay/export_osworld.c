/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A journal as a trajectory of OSWorld. */
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/replay/export_pictures.h"

#define STAMP_SIZE 24

struct trajectory {
	struct reader *reader;
	const char *folder;
	struct archive_writer *zip;
	struct export_count *count;
	struct export_png png;
	char *text; /* lines so far */
	size_t len;
};

/* "2026-11-30T15:40:52.004Z" as "20261130@154052004000". */
static void write_stamp(const char *time, char stamp[STAMP_SIZE])
{
	size_t len = 0;

	for (const char *at = time ? time : ""; *at && len < 21; at++) {
		if (*at == 'T')
			stamp[len++] = '@';
		else if (*at >= '0' && *at <= '9')
			stamp[len++] = *at;
	}
	while (len > 0 && len < 21)
		stamp[len++] = '0';
	stamp[len] = '\0';
}

/* The name of the picture in the archive; NULL when there is none. */
static json_t *add_picture(struct trajectory *t, uint64_t number, const char *stamp, struct err *e)
{
	auto_free char *name = util_printf("step_%zu_%s.png", t->count->n_steps, stamp);

	if (number == 0)
		return json_null();
	if (!export_png_make(&t->png, t->reader, number)) {
		t->count->n_missing++;
		return json_null();
	}
	if (export_add(t->zip, t->folder, name, t->png.data, t->png.len, e) < 0)
		return NULL;
	t->count->n_pictures++;
	return json_string(name);
}

/* Success and what else the result says. */
static json_t *info_of(const struct reader_call *call, const struct reader_action *action)
{
	static const char *const members[] = {"ok", "error", "elapsed_ms", "node", "node_to"};
	json_t *info = json_pack("{s:s}", "request", call->request);

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(action->result, members[i]))
			json_object_set(info, members[i], json_object_get(action->result, members[i]));
	return info;
}

static void add_line(struct trajectory *t, const json_t *line)
{
	auto_free char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII); /* some take U+2028 for the end of a line */
	size_t len = text ? strlen(text) : 0;

	if (!text)
		DIE("no memory for a trajectory");
	t->text = util_realloc(t->text, t->len + len + 2);
	memcpy(t->text + t->len, text, len);
	t->text[t->len + len] = '\n';
	t->len += len + 1;
}

static int add_step(struct trajectory *t, const struct reader_call *call, size_t index, bool is_last, struct err *e)
{
	const struct reader_action *action = &call->actions[index];
	bool ends_call = index + 1 == call->n_actions && call->observation;
	char stamp[STAMP_SIZE];
	json_t *picture;

	t->count->n_steps++;
	write_stamp(json_string_value(json_object_get(action->intent, "time")), stamp);
	picture = add_picture(t, ends_call ? call->after : action->after, stamp, e);
	if (!picture)
		return -1;
	json_auto_t *line = json_pack("{s:I,s:s,s:O,s:f,s:b,s:o,s:o}", "step_num", (json_int_t)t->count->n_steps, "action_timestamp", stamp, "action",
	                              action->action, "reward", 0.0, "done", is_last, "info", info_of(call, action), "screenshot_file", picture);

	add_line(t, line);
	return 0;
}

static int add_steps(struct trajectory *t, struct err *e)
{
	size_t n_calls = reader_n_calls(t->reader), last = n_calls;

	while (last > 0 && reader_call(t->reader, last - 1)->n_actions == 0)
		last--;
	for (size_t i = 0; i < last; i++) {
		const struct reader_call *call = reader_call(t->reader, i);

		for (size_t k = 0; k < call->n_actions; k++) {
			if (t->count->n_steps + 1 >= LIMIT_ZIP_ENTRIES)
				return err_set(e, ERR_TOO_LARGE, NULL, "the journal has more than %d steps, which is more than an archive holds",
				               LIMIT_ZIP_ENTRIES - 1);
			if (add_step(t, call, k, i + 1 == last && k + 1 == call->n_actions, e) < 0)
				return -1;
		}
	}
	return 0;
}

int export_osworld(struct reader *reader, const char *name, struct archive_writer *zip, struct export_count *count, struct err *e)
{
	struct trajectory t = {.reader = reader, .folder = name, .zip = zip, .count = count};
	int rc;

	*count = (struct export_count){.n_steps = 0};
	rc = add_steps(&t, e);
	if (rc == 0)
		rc = export_add(zip, name, "traj.jsonl", t.text ? t.text : "", t.len, e);
	export_png_finish(&t.png);
	free(t.text);
	return rc;
}
