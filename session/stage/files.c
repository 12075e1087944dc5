/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls for files: what is asked for, whether it may be, and what became of it. */
#include "session/stage/files.h"

#include <stdio.h>
#include <string.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/approvals.h"
#include "session/stage/judge.h"

#define MIB (UINT64_C(1024) * 1024)

/* As rules and cards see them. They are no actions of an act: these rows are never run. */
static const struct action_row rows[] = {
	{.name = "file_get", .lease = ACTION_ACTS, .flags = ACTION_WAITS},
	{.name = "file_put", .lease = ACTION_ACTS},
	{.name = "file_delete", .lease = ACTION_ACTS},
};

bool files_knows(const char *action)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, action) == 0)
			return true;
	return false;
}

static const struct action_row *row_of(const char *name)
{
	size_t i = 0;

	while (strcmp(rows[i].name, name) != 0)
		i++;
	return &rows[i];
}

int64_t files_step(void)
{
	return util_now_ms() + LIMIT_FILE_STEP_MS;
}

int files_check_lease(const struct files_work *work, struct err *e)
{
	return lease_check_answer(work->stage, work->call, e);
}

/* --- the path --- */

static int bad_path(const char *path, const char *rule, struct err *e)
{
	char shown[120];

	return err_set(e, ERR_BAD_REQUEST, NULL, "the path %s is refused: %s", err_quote(shown, sizeof(shown), path, strlen(path)), rule);
}

static bool is_beneath(const char *path, const char *root)
{
	size_t len = strlen(root);

	return strncmp(path, root, len) == 0 && (!path[len] || path[len] == '/');
}

/* "/~/notes.txt" is "/home/user/notes.txt". */
static int read_path(const json_t *query, char out[TAR_NAME_SIZE], struct err *e)
{
	const char *path = form_string(query, "path", "/"), *fault;
	bool is_home = is_beneath(path, "/~");
	size_t len = strlen(path) + strlen(FILES_HOME);

	if (len >= TAR_NAME_SIZE)
		return bad_path(path, "it is too long", e);
	(void)snprintf(out, TAR_NAME_SIZE, "%s%s", is_home ? FILES_HOME : "", is_home ? path + 2 : path);
	fault = tar_name_fault(out + 1, strlen(out + 1));
	if (fault)
		return bad_path(path, fault, e);
	if (!is_beneath(out, FILES_HOME) && !is_beneath(out, FILES_TMP))
		return err_set(e, ERR_FORBIDDEN, NULL, "the path %s is refused: only what is in /home/user and /tmp can be reached, as files/home/user/…, files/~/… and files/tmp/…",
		               err_quote((char[120]){""}, 120, out, strlen(out)));
	return 0;
}

static bool is_set(const json_t *query, const char *name)
{
	return strcmp(form_string(query, name, "false"), "true") == 0;
}

/* --- the rules --- */

/* Does no rule have a word for it? */
static bool is_allowed(struct stage *stage, const struct batch_step *step)
{
	auto_free struct judged *judged = util_zalloc(sizeof(*judged));

	return !stage->approvals.policy || (judge_step(stage, step, false, judged, NULL) == 0 && judged->answer.verdict == POLICY_ALLOW);
}

/* Waits for a person where a rule says so. The turn is for that alone: a transfer waits for no act, and holds none up. */
static int pass_rules(const struct files_work *work, struct err *e)
{
	struct stage *stage = work->stage;
	auto_free struct batch *batch = util_zalloc(sizeof(*batch));
	bool is_tree = work->is_tar || is_set(work->call->query, "recursive");
	json_auto_t *asked = json_pack("{s:s,s:o*}", "path", work->path, "tree", is_tree ? json_true() : NULL);
	const struct approvals_ask ask = {.call = work->call, .batch = batch, .deadline_ms = util_now_ms() + LIMIT_CALL_DEFAULT_MS};
	struct approvals_verdict verdict;
	enum journal_text text;
	bool has_turn = true;
	int rc;

	batch->steps[0] = (struct batch_step){.row = row_of(work->name), .place = stage_place(stage), .asked = asked, .args = asked};
	batch->n_steps = 1;
	if (is_allowed(stage, &batch->steps[0]))
		return 0;
	if (turns_take(&stage->turns, ask.deadline_ms, e) < 0)
		return -1;
	rc = approvals_check_begin(stage, work->call, batch, e);
	if (rc == 0)
		rc = approvals_gate(stage, &ask, &has_turn, &text, &verdict, e);
	if (has_turn)
		turns_pass(&stage->turns);
	return rc;
}

/* --- the journal --- */

static int note(const struct files_work *work, const char *state, const struct err *why, struct err *e)
{
	const struct stage *stage = work->stage;
	const struct call *call = work->call;
	json_t *fields = json_pack("{s:{s:s,s:s},s:s,s:s,s:s,s:b,s:s,s:I,s:I}", "actor", "role", call->role_name, "token", call->token, "request", call->request_id,
	                           "call", work->name, "path", work->path, "tar", work->is_tar, "state", state, "epoch", (json_int_t)stage->epoch, "episode",
	                           (json_int_t)stage->episode);

	if (strcmp(state, "begun") != 0) {
		json_object_set_new(fields, "bytes", json_integer((json_int_t)work->bytes));
		if (work->is_tar)
			json_object_set_new(fields, "entries", json_integer((json_int_t)work->entries));
		if (work->skipped > 0)
			json_object_set_new(fields, "skipped", json_integer((json_int_t)work->skipped));
	}
	if (work->is_hashed && strcmp(state, "done") == 0) {
		char digest[2 * HASH_BYTES + 1];

		util_hex(digest, work->digest, HASH_BYTES);
		json_object_set_new(fields, "sha256", json_string(digest));
	}
	if (why)
		json_object_set_new(fields, "code", json_string(err_info(why->code)->wire));
	return journal_add(stage->journal, "file", fields, e);
}

static void note_end(struct files_work *work, const struct err *why)
{
	struct err e;

	hash_end(work->hash, work->digest);
	if (note(work, why ? "failed" : "done", why, &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

/* --- a call --- */

static int check(const struct files_work *work, struct err *e)
{
	const struct stage *stage = work->stage;
	bool only_looks = strcmp(work->name, "file_get") == 0;

	if (lease_check_act(stage, work->call, only_looks, e) < 0)
		return -1;
	if (stage->n_files >= LIMIT_FILE_CALLS)
		return err_set(e, ERR_BUSY, NULL, "%d calls for files of this session run already", LIMIT_FILE_CALLS);
	if (journal_is_full(stage->journal))
		return err_set(e, ERR_JOURNAL_FULL, NULL, "the journal has its %d MiB: nothing is read or written any more", LIMIT_JOURNAL_BYTES / (1024 * 1024));
	return 0;
}

static int begin(struct files_work *work, struct err *e)
{
	const json_t *query = work->call->query;
	const json_t *limits = json_object_get(work->stage->spec, "limits");

	work->is_tar = strcmp(form_string(query, "format", ""), "tar") == 0;
	work->most_bytes = (uint64_t)form_int(limits, "disk_mb", 1024) * MIB;
	if (read_path(query, work->path, e) < 0 || check(work, e) < 0 || pass_rules(work, e) < 0)
		return -1;
	/* It may have waited for a person. */
	return stage_check_ready(work->stage, e) < 0 || check(work, e) < 0 ? -1 : note(work, "begun", NULL, e);
}

static void count(const struct files_work *work)
{
	json_decref(work->call->counts);
	work->call->counts = json_pack("{s:s,s:I}", "file", work->name, "bytes", (json_int_t)work->bytes);
}

static void answer(const struct files_work *work)
{
	count(work);
	if (work->unchanged)
		call_reply(work->call, 304, "application/octet-stream", work->unchanged, "", 0);
	else
		call_reply_json(work->call, 200, NULL, work->answer);
}

static void run(struct stage *stage, struct call *call, const char *name, int (*fn)(struct files_work *work, struct err *e))
{
	auto_free struct files_work *work = util_zalloc(sizeof(*work));
	struct err e;
	int rc;

	*work = (struct files_work){.stage = stage, .call = call, .name = name};
	if (begin(work, &e) < 0) {
		call_refuse(call, &e);
		return;
	}
	work->hash = hash_begin();
	work->helper = util_alloc(sizeof(*work->helper));
	work->helper->process = NULL;
	stage->n_files++;
	rc = fn(work, &e);
	stage->n_files--;
	/* Nothing waits behind the answer: the front sends the next call then. */
	files_finish(work->helper);
	free(work->helper);
	note_end(work, rc < 0 ? &e : NULL);
	if (rc < 0 && e.code == ERR_DISK_FULL)
		meters_hit(stage, METER_DISK, (double)(work->most_bytes / MIB), (double)(work->most_bytes / MIB));
	if (work->is_told)
		call_stream_end(call, rc == 0);
	else if (rc < 0)
		call_refuse(call, &e);
	else
		answer(work);
	json_decref(work->answer);
	json_decref(work->unchanged);
}

void files_get_call(struct stage *stage, struct call *call)
{
	run(stage, call, "file_get", files_get_run);
}

/* --- writing --- */

static int too_large(const struct files_work *work, struct err *e)
{
	return err_set(e, ERR_TOO_LARGE, NULL, "the body has more bytes than the %llu MiB that all files of this session may have (limits.disk_mb)",
	               (unsigned long long)(work->most_bytes / MIB));
}

static int check_mode(const char *mode, struct err *e)
{
	char shown[40];

	if (strspn(mode, "01234567") == strlen(mode) && (strlen(mode) == 3 || (strlen(mode) == 4 && mode[0] == '0')))
		return 0;
	return err_set(e, ERR_BAD_FIELD, "/mode", "%s is not allowed here: it must be three octal digits, such as 755", err_quote(shown, sizeof(shown), mode, strlen(mode)));
}

static int start_put(struct files_work *work, struct err *e)
{
	const json_t *query = work->call->query;
	const char *mode = form_string(query, "mode", NULL), *argv[5] = {work->is_tar ? "unpack" : "put", work->path};
	char option[16];
	size_t n = 2;

	if (mode && check_mode(mode, e) < 0)
		return -1;
	if (strtoull(form_string(query, "length", "0"), NULL, 10) > work->most_bytes)
		return too_large(work, e);
	(void)snprintf(option, sizeof(option), "mode=%s", mode ? mode : "");
	if (mode)
		argv[n++] = option;
	if (is_set(query, "parents"))
		argv[n++] = "parents";
	return files_start(work->helper, work->stage->apps, argv, files_step(), e);
}

static int ignore(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return 0;
}

/* The body, piece by piece, by a search for secrets: from the digest of a text that is known but for a short one it could be guessed. */
static int pass_pieces(struct files_work *work, struct leaks_stream *search, struct err *e)
{
	auto_free char *piece = util_alloc(FILES_DATA_BYTES);
	size_t n;

	for (;;) {
		if (call_body_read(work->call, piece, FILES_DATA_BYTES, files_step(), &n, e) < 0)
			return -1;
		if (n == 0)
			return 0;
		work->bytes += n;
		hash_add(work->hash, piece, n);
		(void)leaks_stream_feed(search, piece, n);
		if (work->bytes > work->most_bytes)
			return too_large(work, e);
		if (files_check_lease(work, e) < 0 || files_send(work->helper, FILES_DATA, piece, n, files_step(), e) < 0)
			return -1;
	}
}

static int pass_body(struct files_work *work, struct err *e)
{
	static const struct leak_hits none;
	struct leaks_stream search;
	int rc;

	leaks_stream_begin(&search, &work->stage->gate.leaks, ignore, NULL);
	rc = pass_pieces(work, &search, e);
	(void)leaks_stream_end(&search);
	work->is_hashed = memcmp(&search.hits, &none, sizeof(none)) == 0;
	leaks_stream_finish(&search);
	return rc;
}

static json_t *put_answer(const struct files_work *work, const struct files_done *done)
{
	if (work->is_tar)
		return json_pack("{s:s,s:I,s:I}", "path", work->path, "bytes", (json_int_t)done->bytes, "entries", (json_int_t)done->files);
	return json_pack("{s:s,s:I,s:b}", "path", work->path, "bytes", (json_int_t)done->bytes, "created", done->created != 0);
}

static int put(struct files_work *work, struct err *e)
{
	struct files_done done;

	if (start_put(work, e) < 0 || pass_body(work, e) < 0 || files_check_lease(work, e) < 0 || stage_check_ready(work->stage, e) < 0 ||
	    files_send(work->helper, FILES_COMMIT, NULL, 0, files_step(), e) < 0 ||
	    files_expect(work->helper, FILES_DONE, &done, sizeof(done), util_now_ms() + LIMIT_FILE_SCAN_MS, e) < 0)
		return -1;
	work->entries = done.files;
	work->answer = put_answer(work, &done);
	return 0;
}

void files_put_call(struct stage *stage, struct call *call)
{
	run(stage, call, "file_put", put);
}

static int drop(struct files_work *work, struct err *e)
{
	const char *argv[] = {"drop", work->path, is_set(work->call->query, "recursive") ? "tree" : NULL, NULL};
	struct files_done done;

	if (files_start(work->helper, work->stage->apps, argv, files_step(), e) < 0 ||
	    files_expect(work->helper, FILES_DONE, &done, sizeof(done), util_now_ms() + LIMIT_FILE_SCAN_MS, e) < 0)
		return -1;
	work->entries = done.files;
	work->answer = json_pack("{s:s,s:I}", "path", work->path, "deleted", (json_int_t)done.files);
	return 0;
}

void files_drop_call(struct stage *stage, struct call *call)
{
	run(stage, call, "file_delete", drop);
}
