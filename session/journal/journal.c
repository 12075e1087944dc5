/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the journal. */
#include "session/journal/journal.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/chain.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/journal/pictures.h"

/*
 * Handing lines over stops the loop for as long as the disk takes. So it waits for a pause between calls, in which nobody waits for it;
 * but not for long, and without one not at all.
 */
#define SYNC_MS 1000       /* at the latest, after the first line that is not handed over */
#define SYNC_PAUSE_MS 50   /* without a line */
#define SYNC_APART_MS 500  /* a pause is used this often at most */

/* A line of which the disk took a part alone. Nothing may follow it before it is whole. */
struct torn {
	struct chain before; /* it */
	json_t *content;
	char *text;
	size_t written, len;
};

struct journal {
	struct loop *loop;
	int fd;
	struct chain chain;
	off_t size; /* bytes */
	struct loop_timer *sync; /* waiting while there is something to hand over */
	int64_t first_ms, last_ms; /* then: when the first and the last such line was written */
	int64_t synced_ms;
	struct pictures *pictures; /* the stage's, or NULL */
	struct torn torn; /* text NULL: there is none */
	bool hidden;      /* what happens now is no agent's business */
	journal_filter_fn *filter; /* NULL: lines are written as they come */
	void *filter_arg;
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
	if (journal->pictures)
		pictures_sync(journal->pictures);
	if (fdatasync(journal->fd) < 0)
		log_warn("the journal could not be handed to the disk");
	journal->synced_ms = util_now_ms();
}

void journal_destroy(struct journal *journal)
{
	if (!journal)
		return;
	journal_sync(journal);
	util_close_fd(&journal->fd);
	json_decref(journal->torn.content);
	free(journal->torn.text);
	free(journal);
}

static int64_t sync_due_ms(const struct journal *journal)
{
	int64_t pause_ms = MAX(journal->last_ms + SYNC_PAUSE_MS, journal->synced_ms + SYNC_APART_MS);

	return MIN(pause_ms, journal->first_ms + SYNC_MS);
}

static void on_sync(void *arg)
{
	struct journal *journal = arg;

	journal->sync = NULL;
	if (util_now_ms() < sync_due_ms(journal))
		journal->sync = loop_at(journal->loop, sync_due_ms(journal), on_sync, journal);
	else
		journal_sync(journal);
}

/* A line is whole: it is told, and handed over in a while. */
static void note_line(struct journal *journal, const json_t *content)
{
	if (journal->watch)
		journal->watch(journal->watch_arg, content);
	journal->last_ms = util_now_ms();
	if (journal->sync)
		return;
	journal->first_ms = journal->last_ms;
	journal->sync = loop_at(journal->loop, sync_due_ms(journal), on_sync, journal);
}

/* How much of it the disk took. */
static size_t write_some(int fd, const char *text, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* The rest of a torn line; true when there is none any more. */
static bool mend(struct journal *journal)
{
	struct torn *torn = &journal->torn;

	if (!torn->text)
		return true;
	torn->written += write_some(journal->fd, torn->text + torn->written, torn->len - torn->written);
	if (torn->written < torn->len)
		return false;
	note_line(journal, torn->content);
	json_decref(torn->content);
	free(torn->text);
	*torn = (struct torn){.text = NULL};
	return true;
}

static int refuse(struct err *e)
{
	return err_sys(e, "the journal of this session cannot be written");
}

void journal_set_pictures(struct journal *journal, struct pictures *pictures)
{
	journal->pictures = pictures;
}

void journal_watch(struct journal *journal, journal_watch_fn *fn, void *arg)
{
	journal->watch = fn;
	journal->watch_arg = arg;
}

/* A line of which a part is written has its place in the chain: it is made whole before the next one. */
static int write_line(struct journal *journal, json_t *content, struct err *e)
{
	struct chain before = journal->chain, next;
	auto_free char *text = chain_text(&before, content, &next);
	size_t len = strlen(text), written = write_some(journal->fd, text, len);

	if (written == 0)
		return refuse(e);
	journal->chain = next;
	journal->size += (off_t)len;
	if (written == len) {
		note_line(journal, content);
		return 0;
	}
	journal->torn = (struct torn){.before = before, .content = json_incref(content), .text = steal_ptr(&text), .written = written, .len = len};
	return refuse(e);
}

void journal_hide(struct journal *journal, bool hidden)
{
	journal->hidden = hidden;
}

/* Lines without anything of the screen. */
static bool is_bare(const char *event)
{
	static const char *const names[] = {"lease", "warning", "display_silent", "approval", "paused", "resumed", "failed", "end"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], event) == 0)
			return true;
	return false;
}

void journal_filter(struct journal *journal, journal_filter_fn *fn, void *arg)
{
	journal->filter = fn;
	journal->filter_arg = arg;
}

static json_t *filtered(const struct journal *journal, json_t *fields)
{
	json_t *passed;

	if (!fields || !journal->filter)
		return fields;
	passed = journal->filter(journal->filter_arg, fields);
	json_decref(fields);
	return passed;
}

int journal_add(struct journal *journal, const char *event, json_t *taken, struct err *e)
{
	json_t *fields = filtered(journal, taken);
	int rc = mend(journal) ? 0 : refuse(e);
	json_auto_t *content = rc == 0 ? chain_line(&journal->chain, event, fields) : NULL;

	json_decref(fields);
	if (content && journal->hidden && !is_bare(event))
		json_object_set_new(content, "private", json_true());
	return rc == 0 ? write_line(journal, content, e) : -1;
}

json_t *journal_head(const struct journal *journal)
{
	return chain_head(journal->torn.text ? &journal->torn.before : &journal->chain);
}

bool journal_is_full(const struct journal *journal)
{
	return journal->size >= LIMIT_JOURNAL_BYTES;
}

/* In place of a text: how long it is, and why that is all. */
static void hide_text(json_t *action, const char *name, const char *why)
{
	const json_t *text = json_object_get(action, name);

	if (json_is_string(text))
		json_object_set_new(action, name, json_pack("{s:I,s:s*}", "bytes", (json_int_t)json_string_length(text), "why", why));
}

/* The same of a chord, which may be a list: of one character, whatever it is called. */
static void hide_keys(json_t *action, const char *why)
{
	if (json_object_get(action, "keys"))
		json_object_set_new(action, "keys", json_pack("{s:i,s:s*}", "bytes", 1, "why", why));
}

static void hide_typed(json_t *action, enum journal_text text)
{
	static const char *const reasons[] = {
		[JOURNAL_TEXT_PASSWORD] = "password", [JOURNAL_TEXT_CLIPBOARD] = "clipboard", [JOURNAL_TEXT_UNKNOWN] = "unknown"};
	const char *why = reasons[text];

	if (text == JOURNAL_TEXT_KEPT)
		return;
	hide_text(action, "text", why);
	hide_text(action, "html", why);
	hide_text(action, "png", why);
	if (text != JOURNAL_TEXT_HIDDEN)
		hide_keys(action, why);
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

json_t *journal_action(const json_t *action, enum journal_text text)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)action);

	if (!copy)
		DIE("no memory for a line of the journal");
	hide_values(copy, "env");
	hide_text(copy, "stdin", NULL);
	hide_text(copy, "value", "node"); /* whether that is a password field is found out too late */
	hide_typed(copy, text);
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
