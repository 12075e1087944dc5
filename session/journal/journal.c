/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the journal. */
#include "session/journal/journal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/chain.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define SYNC_MS 1000

struct journal {
	struct loop *loop;
	int fd;
	struct chain chain;
	off_t size; /* bytes */
	struct loop_timer *sync; /* waiting while there is something to hand over */
	bool broken;
	journal_watch_fn *watch;
	void *watch_arg;
};

struct journal *journal_create(struct loop *loop, int fd)
{
	struct journal *journal = util_zalloc(sizeof(*journal));
	struct stat file;

	*journal = (struct journal){.loop = loop, .fd = fd, .size = fstat(fd, &file) == 0 ? file.st_size : 0};
	return journal;
}

void journal_sync(struct journal *journal)
{
	loop_cancel(journal->sync);
	journal->sync = NULL;
	if (fdatasync(journal->fd) < 0)
		log_warn("the journal could not be handed to the disk");
}

void journal_destroy(struct journal *journal)
{
	if (!journal)
		return;
	journal_sync(journal);
	util_close_fd(&journal->fd);
	free(journal);
}

static void on_sync(void *arg)
{
	struct journal *journal = arg;

	journal->sync = NULL;
	journal_sync(journal);
}

void journal_watch(struct journal *journal, journal_watch_fn *fn, void *arg)
{
	journal->watch = fn;
	journal->watch_arg = arg;
}

int journal_add(struct journal *journal, const char *event, json_t *fields, struct err *e)
{
	json_auto_t *content = chain_line(&journal->chain, event, fields);
	struct chain next;
	auto_free char *line = chain_text(&journal->chain, content, &next);

	json_decref(fields);
	if (journal->broken)
		return err_set(e, ERR_INTERNAL, NULL, "the journal of this session cannot be written");
	if (util_write_all(journal->fd, line, strlen(line)) < 0) {
		journal->broken = true;
		return err_sys(e, "the journal of this session cannot be written");
	}
	journal->chain = next;
	journal->size += (off_t)strlen(line);
	if (journal->watch)
		journal->watch(journal->watch_arg, content);
	if (!journal->sync)
		journal->sync = loop_at(journal->loop, util_now_ms() + SYNC_MS, on_sync, journal);
	return 0;
}

json_t *journal_head(const struct journal *journal)
{
	return chain_head(&journal->chain);
}

bool journal_is_full(const struct journal *journal)
{
	return journal->size >= LIMIT_JOURNAL_BYTES;
}

/* In place of a text: how long it is. */
static void hide_text(json_t *action, const char *name)
{
	const json_t *text = json_object_get(action, name);

	if (json_is_string(text))
		json_object_set_new(action, name, json_pack("{s:I}", "bytes", (json_int_t)json_string_length(text)));
}

static void hide_values(json_t *action, const char *name)
{
	json_t *values = json_object_get(action, name), *names;
	const char *key;
	json_t *value;

	if (!json_is_object(values))
		return;
	names = json_array();
	json_object_foreach(values, key, value)
		json_array_append_new(names, json_string(key));
	json_object_set_new(action, name, names);
}

json_t *journal_action(const json_t *action, bool keep_text)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)action);

	if (!copy)
		DIE("no memory for a line of the journal");
	hide_values(copy, "env");
	hide_text(copy, "stdin");
	if (!keep_text)
		hide_text(copy, "text");
	return copy;
}

int journal_write_session(int fd, const json_t *document, struct err *e)
{
	auto_free char *text = json_dumps(document, JSON_INDENT(2));

	if (!text)
		DIE("no memory for session.json");
	if (util_write_all(fd, text, strlen(text)) < 0 || util_write_all(fd, "\n", 1) < 0 || fdatasync(fd) < 0)
		return err_sys(e, "writing session.json");
	return 0;
}
