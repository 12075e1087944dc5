/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading files for callers. What goes out is masked (policy/leaks.h), and a mask has another length than what it hides: so a file is read through once before, to
 * know how long the answer is, and a second time to be sent. What has changed meanwhile ends the answer in the middle.
 */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "session/base/util.h"
#include "session/stage/files.h"

#define KEPT_BYTES LIMIT_COMING_BYTES /* of one answer, that is kept instead of being read twice */

/* One pass over a file. */
struct reading {
	struct files_work *work;
	bool sends;              /* else it counts, and keeps what is short */
	struct files_part part;  /* what of it is sent */
	uint64_t at;             /* bytes that may leave, so far */
	uint64_t sent;
	char *kept;              /* of KEPT_BYTES, or NULL */
	struct err *e;
};

static int send(struct reading *reading, const char *bytes, size_t len)
{
	struct files_work *work = reading->work;

	while (len > 0) {
		size_t n = MIN(len, (size_t)FILES_DATA_BYTES);

		if (files_check_lease(work, reading->e) < 0 || call_stream_wait(work->call, util_now_ms() + LIMIT_FILE_READER_MS, reading->e) < 0)
			return -1;
		call_stream_send(work->call, bytes, n);
		hash_add(work->hash, bytes, n);
		work->bytes += n;
		bytes += n;
		len -= n;
	}
	return 0;
}

/* What of these bytes lies in the part. */
static int take(void *arg, const char *bytes, size_t len)
{
	struct reading *reading = arg;
	const struct files_part *part = &reading->part;
	uint64_t from = MAX(reading->at, part->from), to = MIN(reading->at + len, part->from + part->len);
	uint64_t start = reading->at;

	reading->at += len;
	if (!reading->sends) {
		if (reading->kept && start < KEPT_BYTES)
			memcpy(reading->kept + start, bytes, MIN(len, KEPT_BYTES - (size_t)start));
		return 0;
	}
	if (from >= to)
		return 0;
	reading->sent += to - from;
	return send(reading, bytes + (from - start), (size_t)(to - from));
}

/* Reads `size` bytes from the helper's open file through what may leave. */
static int pass(struct reading *reading, const struct files_range *range, struct leaks_stream *stream)
{
	struct files_helper *helper = reading->work->helper;
	int64_t deadline_ms = util_now_ms() + LIMIT_FILE_SCAN_MS;
	uint64_t read = 0;

	if (files_send(helper, FILES_RANGE, range, sizeof(*range), files_step(), reading->e) < 0)
		return -1;
	for (;;) {
		if (files_receive(helper, reading->sends ? files_step() : MIN(files_step(), deadline_ms), reading->e) < 0)
			return -1;
		if (helper->head.op == FILES_PASS)
			break;
		read += helper->head.len;
		if (helper->head.op != FILES_DATA || helper->head.len == 0 || read > range->len)
			return err_set(reading->e, ERR_SESSION_FAILED, NULL, "the session's helper for files is not understood");
		if (leaks_stream_feed(stream, helper->data, helper->head.len) < 0)
			return -1;
	}
	if (leaks_stream_end(stream) < 0)
		return -1;
	return read == range->len ? 0 : err_set(reading->e, ERR_CONFLICT, NULL, "the file changed while it was read");
}

static bool is_withheld(const struct leak_hits *hits)
{
	for (size_t i = 0; i < LIMIT_SECRETS; i++)
		if (hits->secrets[i] > GATE_MOST_HITS)
			return true;
	return false;
}

static int pass_once(struct reading *reading, uint64_t size, const struct leaks *leaks, struct leak_hits *hits)
{
	const struct files_range range = {0, size};
	struct leaks_stream stream;
	int rc;

	leaks_stream_begin(&stream, leaks, take, reading);
	rc = pass(reading, &range, &stream);
	*hits = stream.hits;
	leaks_stream_finish(&stream);
	if (rc == 0 && is_withheld(hits))
		return err_set(reading->e, ERR_DENIED, NULL, "a stored secret is in the file again and again: it is withheld");
	return rc;
}

/* How long what may leave of it is; *kept is it, if that is short (malloced). */
static int measure(struct files_work *work, uint64_t size, uint64_t *len, char **kept, struct err *e)
{
	struct reading reading = {.work = work, .kept = size <= KEPT_BYTES ? util_alloc(KEPT_BYTES) : NULL, .e = e};
	struct leak_hits hits;

	if (pass_once(&reading, size, &work->stage->gate.leaks, &hits) < 0) {
		gate_note(work->stage, work->call, &hits);
		free(reading.kept);
		return -1;
	}
	gate_note(work->stage, work->call, &hits);
	*len = reading.at;
	if (reading.at > KEPT_BYTES) {
		free(reading.kept);
		reading.kept = NULL;
	}
	*kept = reading.kept;
	return 0;
}

/* Sends a part of what may leave of it, which has `len` bytes in all. */
static int send_again(struct files_work *work, uint64_t size, uint64_t len, const struct files_part *part, struct err *e)
{
	static const struct leaks nothing = {.any = false};
	bool is_plain = !work->stage->gate.leaks.any;
	struct reading reading = {.work = work, .sends = true, .part = *part, .e = e};
	const struct files_range range = {part->from, part->len};
	struct leaks_stream stream;
	struct leak_hits hits;

	if (is_plain) {
		reading.part.from = 0;
		leaks_stream_begin(&stream, &nothing, take, &reading);
		return pass(&reading, &range, &stream);
	}
	if (pass_once(&reading, size, &work->stage->gate.leaks, &hits) < 0)
		return -1;
	return reading.at == len ? 0 : err_set(e, ERR_CONFLICT, NULL, "the file changed while it was read");
}

/* --- a file --- */

/* "from" and "most" instead of a Range: what of them there is, which may be nothing. Its reply is as if it were the whole file, and says how large that is. */
static bool find_window(const json_t *query, uint64_t len, struct files_part *out)
{
	const char *from = form_string(query, "from", NULL);

	if (!from)
		return false;
	out->from = MIN(strtoull(from, NULL, 10), len);
	out->len = MIN(strtoull(form_string(query, "most", "0"), NULL, 10), len - out->from);
	return true;
}

static json_t *headers_of(const char *tag, const struct files_part *part, uint64_t len, bool is_part, bool is_masked)
{
	json_t *headers = json_pack("{s:s,s:s}", "ETag", tag, "Accept-Ranges", "bytes");

	if (is_part)
		json_object_set_new(headers, "Content-Range", json_sprintf("bytes %llu-%llu/%llu", (unsigned long long)part->from,
		                                                           (unsigned long long)(part->from + part->len - 1), (unsigned long long)len));
	if (is_masked)
		json_object_set_new(headers, "Glovebox-Masked", json_string("true"));
	return headers;
}

static int tell_file(struct files_work *work, const struct files_opened *opened, struct err *e)
{
	const json_t *query = work->call->query;
	bool has_leaks = work->stage->gate.leaks.any, is_head = form_string(query, "head", NULL) != NULL, is_window;
	auto_free char *kept = NULL;
	json_auto_t *headers = NULL;
	uint64_t len = opened->size;
	struct files_part part;
	char tag[24];
	int range;

	(void)snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)opened->tag);
	if (strcmp(form_string(query, "if_none_match", ""), tag) == 0) {
		work->unchanged = json_pack("{s:s}", "ETag", tag);
		return 0;
	}
	if (has_leaks && measure(work, opened->size, &len, &kept, e) < 0)
		return -1;
	is_window = find_window(query, len, &part);
	range = is_window ? 1 : files_range(strcmp(form_string(query, "if_range", tag), tag) == 0 ? form_string(query, "range", NULL) : NULL, len, &part, e);
	if (range < 0)
		return -1;
	headers = headers_of(tag, &part, len, range == 0, has_leaks && len != opened->size);
	if (is_window)
		json_object_set_new(headers, "Glovebox-Size", json_sprintf("%llu", (unsigned long long)len));
	work->call->counts = json_pack("{s:s,s:I}", "file", work->name, "bytes", (json_int_t)(is_head ? 0 : part.len));
	if (!call_stream_open(work->call, range == 0 ? 206 : 200, "application/octet-stream", headers, (int64_t)part.len))
		return err_set(e, ERR_LEASE_LOST, NULL, "a person got the controls");
	work->is_told = true;
	work->is_hashed = !is_head;
	if (is_head || part.len == 0)
		return 0;
	if (kept) {
		struct reading reading = {.work = work, .e = e};

		return send(&reading, kept + part.from, (size_t)part.len);
	}
	return send_again(work, opened->size, len, &part, e);
}

/* --- what is in a folder --- */

static json_t *time_json(int64_t at_s)
{
	char text[32] = "";
	time_t at = (time_t)at_s;
	struct tm utc;

	if (gmtime_r(&at, &utc))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return json_string(text);
}

/* The name of an entry, and its target behind that; false: it breaks its form. */
static bool read_entry(const struct files_helper *helper, struct files_entry *entry, const char **name, const char **target)
{
	const char *end = helper->data + helper->head.len;

	if (helper->head.len <= sizeof(*entry) + 1 || end[-1] != '\0')
		return false;
	memcpy(entry, helper->data, sizeof(*entry));
	*name = helper->data + sizeof(*entry);
	*target = *name + strlen(*name) + 1;
	if (*target >= end)
		*target = "";
	return entry->kind <= FILES_IS_OTHER && entry->mode <= 0777 && entry->mtime_s >= 0 && entry->size <= INT64_MAX;
}

static int not_understood(struct err *e)
{
	return err_set(e, ERR_SESSION_FAILED, NULL, "the session's helper for files is not understood");
}

/* The first `most` entries; done->more when there are others. */
static int list_entries(struct files_work *work, size_t most, json_t *list, struct files_done *done, struct err *e)
{
	static const char *const kinds[] = {"file", "folder", "link", "other"};
	struct files_helper *helper = work->helper;
	const char *name, *target;
	struct files_entry entry;

	for (size_t n = 0;; n++) {
		if (files_receive(helper, files_step(), e) < 0)
			return -1;
		if (helper->head.op == FILES_DONE && helper->head.len == sizeof(*done)) {
			memcpy(done, helper->data, sizeof(*done));
			done->more |= n > most;
			return 0;
		}
		if (helper->head.op != FILES_ENTRY || !read_entry(helper, &entry, &name, &target) || n >= FILES_MOST_ENTRIES ||
		    !util_utf8_valid(name, strlen(name)))
			return not_understood(e);
		if (n < most)
			json_array_append_new(list, json_pack("{s:s,s:s,s:I,s:o,s:o}", "name", name, "type", kinds[entry.kind], "size", (json_int_t)entry.size,
			                                      "mode", json_sprintf("%03o", entry.mode), "modified", time_json(entry.mtime_s)));
	}
}

static int tell_folder(struct files_work *work, struct err *e)
{
	const char *most = form_string(work->call->query, "most", NULL);
	json_auto_t *list = json_array();
	struct files_done done = {0};

	if (list_entries(work, most ? strtoul(most, NULL, 10) : FILES_MOST_ENTRIES, list, &done, e) < 0)
		return -1;
	work->entries = json_array_size(list);
	work->answer = json_pack("{s:s,s:O,s:b}", "path", work->path, "entries", list, "more", done.more != 0);
	if (done.unnamed > 0)
		json_object_set_new(work->answer, "not_utf8", json_integer(done.unnamed));
	return 0;
}

static int too_large(const struct files_work *work, struct err *e)
{
	return err_set(e, ERR_TOO_LARGE, NULL, "it says that it has more than the %llu MiB that all files of this session may have",
	               (unsigned long long)(work->most_bytes / (1024 * 1024)));
}

/* --- all beneath a folder --- */

/* Headers and content of one entry of the archive. */
static int send_bytes(struct files_work *work, const void *bytes, size_t len, struct err *e)
{
	struct reading reading = {.work = work, .e = e};

	return send(&reading, bytes, len);
}

static int send_head(struct files_work *work, const struct tar_entry *entry, struct err *e)
{
	auto_free unsigned char *head = util_alloc(TAR_HEAD_MAX);

	return send_bytes(work, head, tar_head(entry, head), e);
}

static int send_content(struct files_work *work, struct tar_entry *entry, struct err *e)
{
	static const char zeros[TAR_BLOCK];
	uint64_t size = entry->size;
	auto_free char *kept = NULL;
	struct files_part part;

	if (work->stage->gate.leaks.any && measure(work, size, &entry->size, &kept, e) < 0) {
		if (e->code != ERR_DENIED)
			return -1;
		work->skipped++; /* one that is withheld is left out */
		return files_send(work->helper, FILES_NEXT, NULL, 0, files_step(), e);
	}
	part = (struct files_part){0, entry->size};
	if (send_head(work, entry, e) < 0)
		return -1;
	if (entry->size > 0 && (kept ? send_bytes(work, kept, (size_t)entry->size, e) : send_again(work, size, entry->size, &part, e)) < 0)
		return -1;
	if (send_bytes(work, zeros, tar_padding(entry->size), e) < 0)
		return -1;
	return files_send(work->helper, FILES_NEXT, NULL, 0, files_step(), e);
}

/* What the gate leaves of a name, or of a link's target. */
static void mask_text(const struct files_work *work, const char *text, char out[TAR_NAME_SIZE])
{
	struct leak_hits hits = {.rules = {0}};
	size_t len = 0;
	auto_free char *masked = leaks_mask(&work->stage->gate.leaks, text, strlen(text), &hits, &len);

	(void)snprintf(out, TAR_NAME_SIZE, "%s", masked ? masked : text);
}

static int send_entry(struct files_work *work, struct err *e)
{
	static const enum tar_kind kinds[] = {TAR_FILE, TAR_FOLDER, TAR_LINK};
	auto_free struct tar_entry *out = util_zalloc(sizeof(*out));
	const char *name, *target;
	struct files_entry entry;

	if (!read_entry(work->helper, &entry, &name, &target) || entry.kind == FILES_IS_OTHER || tar_name_fault(name, strlen(name)) ||
	    (entry.kind == FILES_IS_LINK && (!*target || strlen(target) >= TAR_NAME_SIZE || tar_target_fault(name, target))))
		return not_understood(e);
	mask_text(work, name, out->name);
	mask_text(work, target, out->target);
	if (tar_name_fault(out->name, strlen(out->name)) || (entry.kind == FILES_IS_LINK && tar_target_fault(out->name, out->target)))
		return not_understood(e);
	/* What the helper has counted before may have grown; whoever fetches it has made room for no more than all. */
	if (entry.size > work->most_bytes - MIN(work->packed, work->most_bytes))
		return too_large(work, e);
	work->packed += entry.size;
	out->kind = kinds[entry.kind];
	out->mode = entry.mode;
	out->mtime_s = entry.mtime_s;
	out->size = entry.kind == FILES_IS_FILE ? entry.size : 0;
	work->entries++;
	return out->kind == TAR_FILE ? send_content(work, out, e) : send_head(work, out, e);
}

static int send_entries(struct files_work *work, struct err *e)
{
	static const char end[TAR_END_BYTES];

	for (;;) {
		if (files_receive(work->helper, files_step(), e) < 0)
			return -1;
		if (work->helper->head.op == FILES_DONE)
			return send_bytes(work, end, sizeof(end), e);
		if (work->helper->head.op != FILES_ENTRY || work->entries >= FILES_MOST_PACKED)
			return not_understood(e);
		if (send_entry(work, e) < 0)
			return -1;
	}
}

static int get_tar(struct files_work *work, struct err *e)
{
	const char *argv[] = {"pack", work->path, NULL};
	json_auto_t *headers = NULL;
	struct files_count count;

	if (files_start(work->helper, work->stage->apps, argv, files_step(), e) < 0 ||
	    files_expect(work->helper, FILES_COUNT, &count, sizeof(count), util_now_ms() + LIMIT_FILE_SCAN_MS, e) < 0)
		return -1;
	if (count.bytes > work->most_bytes)
		return too_large(work, e);
	work->skipped = count.skipped;
	headers = json_pack("{s:o,s:o}", "Glovebox-Entries", json_sprintf("%llu", (unsigned long long)count.entries), "Glovebox-Skipped",
	                    json_sprintf("%llu", (unsigned long long)count.skipped));
	work->call->counts = json_pack("{s:s,s:I}", "file", work->name, "bytes", (json_int_t)MIN(count.bytes, work->most_bytes));
	if (!call_stream_open(work->call, 200, "application/x-tar", headers, -1))
		return err_set(e, ERR_LEASE_LOST, NULL, "a person got the controls");
	work->is_told = true;
	work->is_hashed = !form_string(work->call->query, "head", NULL);
	return work->is_hashed ? send_entries(work, e) : 0;
}

int files_get_run(struct files_work *work, struct err *e)
{
	const char *argv[] = {"get", work->path, NULL}, *kind = form_string(work->call->query, "kind", "");
	struct files_opened opened;

	if (work->is_tar)
		return get_tar(work, e);
	if (files_start(work->helper, work->stage->apps, argv, files_step(), e) < 0 || files_receive(work->helper, files_step(), e) < 0)
		return -1;
	if (work->helper->head.op == FILES_FOLDER)
		return strcmp(kind, "file") == 0 ? err_set(e, ERR_CONFLICT, NULL, "it is a folder, where a file was asked for") : tell_folder(work, e);
	if (work->helper->head.op != FILES_OPENED || work->helper->head.len != sizeof(opened))
		return not_understood(e);
	memcpy(&opened, work->helper->data, sizeof(opened));
	if (strcmp(kind, "folder") == 0)
		return err_set(e, ERR_CONFLICT, NULL, "it is a file, where a folder was asked for");
	return opened.size > work->most_bytes ? too_large(work, e) : tell_file(work, &opened, e);
}
