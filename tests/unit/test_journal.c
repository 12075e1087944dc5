/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/journal */
/* The journal as a reader sees it: sequence, chain, what is left out, a full disk. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/journal/journal.h"

#define SUFFIX_LEN (strlen(",\"hash\":\"\"}") + 64)

struct fixture {
	struct loop *loop;
	struct journal *journal;
	int fd; /* of the same file */
};

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));

	f->loop = loop_create(NULL);
	f->fd = memfd_create("journal", MFD_CLOEXEC);
	f->journal = journal_create(f->loop, dup(f->fd));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	journal_destroy(f->journal);
	loop_destroy(f->loop);
	(void)close(f->fd);
	free(f);
	return 0;
}

static char *content(const struct fixture *f)
{
	char *text;

	(void)lseek(f->fd, 0, SEEK_SET);
	assert_true(util_read_file(f->fd, 1 << 20, &text) >= 0);
	(void)lseek(f->fd, 0, SEEK_END);
	return text;
}

/* Checks sequence and chain as a reader would, from the header's words alone; returns how many lines there are. */
static int verify(const char *text)
{
	unsigned char input[4096] = {0}; /* hash so far, then the line */
	int n = 0;

	for (const char *line = text; strchr(line, '\n'); line = strchr(line, '\n') + 1) {
		size_t len = strcspn(line, "\n") - SUFFIX_LEN;
		char hex[65];

		assert_true(32 + len + 1 < sizeof(input));
		memcpy(input + 32, line, len);
		input[32 + len] = '}';
		assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, input, 32 + len + 1, input), 0);
		util_hex(hex, input, 32);
		json_t *object = json_loadb(line, strcspn(line, "\n"), 0, NULL);

		assert_non_null(object);
		assert_int_equal(json_integer_value(json_object_get(object, "seq")), ++n);
		assert_string_equal(json_string_value(json_object_get(object, "hash")), hex);
		json_decref(object);
	}
	return n;
}

static void test_chain(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20; i++)
		assert_int_equal(journal_add(f->journal, "intent", json_pack("{s:i,s:s}", "index", i, "text", "a\n\"é"), NULL), 0);
	assert_int_equal(journal_add(f->journal, "end", NULL, NULL), 0);
	auto_free char *text = content(f);

	assert_int_equal(verify(text), 21);
	assert_int_equal(text[strlen(text) - 1], '\n');
}

/* What a line is called cannot be taken over by what belongs to it. */
static void test_fields_do_not_replace(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(journal_add(f->journal, "result", json_pack("{s:i,s:s}", "seq", 99, "event", "start"), NULL), 0);
	auto_free char *text = content(f);

	assert_int_equal(verify(text), 1);
	assert_non_null(strstr(text, "\"event\":\"result\""));
	assert_null(strstr(text, "\"seq\":99"));
}

static void test_kept_and_left_out(void **state)
{
	json_t *action = json_pack("{s:s,s:s,s:{s:s},s:s}", "action", "exec", "text", "typed", "env", "PASSWORD", "hush", "stdin", "input");
	json_t *kept = journal_action(action, JOURNAL_TEXT_KEPT), *short_form = journal_action(action, JOURNAL_TEXT_HIDDEN);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(kept, "text")), "typed");
	auto_free char *text = json_dumps(short_form, JSON_COMPACT);
	auto_free char *kept_text = json_dumps(kept, JSON_COMPACT);

	assert_string_equal(text, "{\"action\":\"exec\",\"text\":{\"bytes\":5},\"env\":[\"PASSWORD\"],\"stdin\":{\"bytes\":5}}");
	assert_null(strstr(kept_text, "hush"));
	assert_null(strstr(kept_text, "input"));
	/* The action itself is as it was. */
	assert_string_equal(json_string_value(json_object_get(action, "stdin")), "input");
	json_decref(action);
	json_decref(kept);
	json_decref(short_form);
}

/* What was typed into a password field is in no form there, however it was typed. */
static void test_typed_text(void **state)
{
	static const struct {
		enum journal_text text;
		const char *action, *kept;
	} rows[] = {
		{JOURNAL_TEXT_PASSWORD, "{\"action\":\"type\",\"text\":\"hush\"}", "{\"action\":\"type\",\"text\":{\"bytes\":4,\"why\":\"password\"}}"},
		{JOURNAL_TEXT_UNKNOWN, "{\"action\":\"type\",\"text\":\"hush\"}", "{\"action\":\"type\",\"text\":{\"bytes\":4,\"why\":\"unknown\"}}"},
		{JOURNAL_TEXT_HIDDEN, "{\"action\":\"type\",\"text\":\"hush\"}", "{\"action\":\"type\",\"text\":{\"bytes\":4}}"},
		{JOURNAL_TEXT_PASSWORD, "{\"action\":\"key\",\"keys\":\"h\"}", "{\"action\":\"key\",\"keys\":{\"bytes\":1,\"why\":\"password\"}}"},
		{JOURNAL_TEXT_UNKNOWN, "{\"action\":\"key\",\"keys\":[\"shift\",\"h\"]}", "{\"action\":\"key\",\"keys\":{\"bytes\":1,\"why\":\"unknown\"}}"},
		{JOURNAL_TEXT_NONE, "{\"action\":\"type\",\"text\":\"hush\"}", "{\"action\":\"type\",\"text\":{\"bytes\":4}}"},
		{JOURNAL_TEXT_NONE, "{\"action\":\"key\",\"keys\":\"h\"}", "{\"action\":\"key\",\"keys\":{\"bytes\":1}}"},
		{JOURNAL_TEXT_HIDDEN, "{\"action\":\"key\",\"keys\":\"h\"}", "{\"action\":\"key\",\"keys\":\"h\"}"},
		{JOURNAL_TEXT_KEPT, "{\"action\":\"set_node\",\"node\":7,\"value\":\"hush\"}",
		 "{\"action\":\"set_node\",\"node\":7,\"value\":{\"bytes\":4,\"why\":\"node\"}}"},
		/* What is hidden already stays so. */
		{JOURNAL_TEXT_HIDDEN, "{\"action\":\"type\",\"text\":{\"bytes\":4,\"why\":\"password\"}}",
		 "{\"action\":\"type\",\"text\":{\"bytes\":4,\"why\":\"password\"}}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *action = json_loads(rows[i].action, 0, NULL), *kept = journal_action(action, rows[i].text);
		auto_free char *text = json_dumps(kept, JSON_COMPACT);

		assert_string_equal(text, rows[i].kept);
	}
}

static int n_told;

static void on_line(void *arg, const json_t *line)
{
	(void)arg;
	assert_int_equal(json_integer_value(json_object_get(line, "seq")), ++n_told);
}

/* Number and hash are those of the last whole line. */
static void check_head(const struct fixture *f, int n)
{
	auto_free char *text = content(f);
	json_t *head = journal_head(f->journal);
	const char *hash = json_string_value(json_object_get(head, "hash"));

	assert_int_equal(json_integer_value(json_object_get(head, "seq")), n);
	*strrchr(text, '\n') = '\0'; /* behind it is what is torn */
	assert_non_null(strstr(strrchr(text, '\n') ? strrchr(text, '\n') : text, hash));
	json_decref(head);
}

/* Adds a line to a file that cannot grow beyond `size`. */
static int add_within(struct fixture *f, rlim_t size, const char *event, struct err *e)
{
	struct rlimit small = {size, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
	int rc;

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = journal_add(f->journal, event, json_pack("{s:i}", "index", 1), e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &large), 0);
	return rc;
}

/* Nothing follows a torn line before it is whole; with room again the journal goes on. */
static void test_full_disk(void **state)
{
	struct fixture *f = *state;
	struct err e;

	(void)signal(SIGXFSZ, SIG_IGN);
	n_told = 0;
	journal_watch(f->journal, on_line, NULL);
	assert_int_equal(journal_add(f->journal, "start", NULL, NULL), 0);
	for (rlim_t size = 200; size <= 220; size += 20) {
		assert_int_equal(add_within(f, size, size == 200 ? "intent" : "refused", &e), -1);
		assert_int_equal(e.code, ERR_INTERNAL);
		auto_free char *text = content(f);

		assert_int_equal(strlen(text), size);
		assert_int_equal(verify(text), 1);
		assert_int_equal(n_told, 1);
		check_head(f, 1); /* whoever keeps it finds it in the file, also when no more is written */
	}
	assert_int_equal(journal_add(f->journal, "result", NULL, &e), 0);
	auto_free char *text = content(f);

	assert_int_equal(verify(text), 3);
	assert_int_equal(n_told, 3);
	check_head(f, 3);
	assert_null(strstr(text, "refused"));
	assert_non_null(strstr(text, "\"event\":\"intent\",\"index\":1"));
	assert_int_equal(text[strlen(text) - 1], '\n');
}

/* A line of which the disk takes nothing leaves no trace, and no gap. */
static void test_disk_full_to_the_byte(void **state)
{
	struct fixture *f = *state;
	struct err e;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(journal_add(f->journal, "start", NULL, NULL), 0);
	auto_free char *before = content(f);

	assert_int_equal(add_within(f, strlen(before), "intent", &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	assert_int_equal(journal_add(f->journal, "end", NULL, &e), 0);
	auto_free char *text = content(f);

	assert_int_equal(verify(text), 2);
	assert_null(strstr(text, "intent"));
}

/* It is full while there is still room for what has begun. */
static void test_limit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ftruncate(f->fd, LIMIT_JOURNAL_BYTES - 10), 0);
	struct journal *large = journal_create(f->loop, dup(f->fd));

	assert_false(journal_is_full(large));
	assert_int_equal(journal_add(large, "intent", NULL, NULL), 0);
	assert_true(journal_is_full(large));
	assert_int_equal(journal_add(large, "end", NULL, NULL), 0);
	assert_false(journal_is_full(f->journal));
	journal_destroy(large);
}

static void test_session_document(void **state)
{
	struct fixture *f = *state;
	json_t *document = json_pack("{s:s}", "id", "sabc");

	assert_int_equal(journal_write_session(f->fd, document, NULL), 0);
	auto_free char *text = content(f);

	assert_string_equal(text, "{\n  \"id\": \"sabc\"\n}\n");
	json_decref(document);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_chain),     TEST(test_fields_do_not_replace), TEST(test_kept_and_left_out), TEST(test_typed_text),
		TEST(test_full_disk), TEST(test_disk_full_to_the_byte), TEST(test_limit),
		TEST(test_session_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
