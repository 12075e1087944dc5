/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps/files */
/* longest: 4608 */
/* Archives: however they come in pieces, the same is read of them; what is taken has a name beneath its folder, and is the same when it is written and read again. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "apps/files/names.h"
#include "session/base/tar.h"
#include "session/base/util.h"

/* What was read of one. */
struct read {
	uint64_t hash, n;
	uint64_t left; /* of the present file */
	bool again;    /* it was written by this program */
};

static void add(struct read *read, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		read->hash = (read->hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
}

static int once_more(void *arg, const struct tar_entry *entry, struct err *e)
{
	const struct tar_entry *wanted = arg;

	(void)e;
	if (strcmp(entry->name, wanted->name) != 0 || entry->kind != wanted->kind || entry->size != wanted->size || entry->mode != wanted->mode ||
	    entry->mtime_s != wanted->mtime_s || (entry->kind == TAR_LINK && strcmp(entry->target, wanted->target) != 0))
		DIE("%s is another entry when it is written and read again", wanted->name);
	return 0;
}

static void write_and_read(const struct tar_entry *entry)
{
	auto_free struct tar_reader *reader = util_zalloc(sizeof(*reader));
	auto_free unsigned char *head = util_alloc(TAR_HEAD_MAX);
	const struct tar_ops ops = {.entry = once_more, .arg = (void *)(uintptr_t)entry};
	struct err e;

	tar_reader_init(reader, &ops);
	if (*entry->name && tar_reader_feed(reader, head, tar_head(entry, head), &e) < 0)
		DIE("%s is refused when it was written: %s", entry->name, e.msg);
	if (*entry->name && reader->n_entries != 1)
		DIE("%s is not read", entry->name);
	tar_reader_finish(reader);
}

static int take_entry(void *arg, const struct tar_entry *entry, struct err *e)
{
	struct read *read = arg;

	(void)e;
	if (read->left > 0)
		DIE("an entry within a file");
	if ((*entry->name && tar_name_fault(entry->name, strlen(entry->name))) || (!*entry->name && entry->kind != TAR_FOLDER))
		DIE("a name that is none was taken");
	if (entry->kind == TAR_LINK && tar_target_fault(entry->name, entry->target))
		DIE("a link that leads out was taken");
	read->left = entry->kind == TAR_FILE ? entry->size : 0;
	read->n++;
	add(read, entry->name, strlen(entry->name) + 1);
	if (read->n < 16)
		write_and_read(entry);
	return 0;
}

static int take_data(void *arg, const void *data, size_t len, struct err *e)
{
	struct read *read = arg;

	(void)e;
	if (len > read->left)
		DIE("more content than was said");
	read->left -= len;
	add(read, data, len);
	return 0;
}

static int read_all(const uint8_t *data, size_t len, size_t step, struct read *read)
{
	const struct tar_ops ops = {.entry = take_entry, .data = take_data, .arg = read};
	auto_free struct tar_reader *reader = util_zalloc(sizeof(*reader));
	struct err e;
	int rc = 0;

	tar_reader_init(reader, &ops);
	for (size_t at = 0; at < len && rc == 0; at += step)
		rc = tar_reader_feed(reader, data + at, step < len - at ? step : len - at, &e);
	if (rc == 0)
		rc = tar_reader_end(reader, &e);
	tar_reader_finish(reader);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct read one = {.hash = 1}, other = {.hash = 1};
	int rc = read_all(data, len, len + 1, &one);

	if (read_all(data, len, 509, &other) != rc || one.hash != other.hash || one.n != other.n)
		DIE("it is read in another way in pieces");
	return 0;
}
