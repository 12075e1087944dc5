/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing headers of tar, with what a plain one has no room for in one of pax before it. */
#include "session/base/tar.h"

#include <stdio.h>
#include <string.h>

#include "session/base/tar_places.h"

size_t tar_padding(uint64_t size)
{
	return (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

static void put_octal(unsigned char *field, size_t len, uint64_t value)
{
	field[--len] = '\0';
	while (len-- > 0) {
		field[len] = (unsigned char)('0' + (value & 7));
		value >>= 3;
	}
}

static void put_text(unsigned char *field, size_t size, const char *text)
{
	size_t len = strlen(text);

	memcpy(field, text, len < size ? len : size);
}

static void put_head(unsigned char block[TAR_BLOCK], char kind, const char *name, const char *target, const struct tar_entry *entry, uint64_t size)
{
	unsigned int sum = 0;

	memset(block, 0, TAR_BLOCK);
	put_text(block + NAME, MODE - NAME, name);
	put_octal(block + MODE, 8, entry->mode);
	put_octal(block + 108, 8, 0);
	put_octal(block + 116, 8, 0);
	put_octal(block + SIZE, 12, size);
	put_octal(block + MTIME, 12, (uint64_t)entry->mtime_s);
	block[KIND] = (unsigned char)kind;
	put_text(block + TARGET, MAGIC - TARGET, target);
	memcpy(block + MAGIC, "ustar\0" "00", 8);
	memset(block + CHECKSUM, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	(void)snprintf((char *)block + CHECKSUM, 8, "%06o", sum);
}

/* "LENGTH KEY=VALUE\n", whose length counts its own digits. */
static size_t put_record(char *out, size_t size, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, len = rest + 1;
	char digits[24];

	while ((size_t)snprintf(digits, sizeof(digits), "%zu", len) + rest != len)
		len++;
	return (size_t)snprintf(out, size, "%s %s=%s\n", digits, key, value);
}

size_t tar_head(const struct tar_entry *entry, unsigned char out[TAR_HEAD_MAX])
{
	static const char kinds[] = {[TAR_FILE] = '0', [TAR_FOLDER] = '5', [TAR_LINK] = '2'};
	char records[2 * TAR_NAME_SIZE + 128], number[24], name[TAR_NAME_SIZE + 1];
	bool is_large = entry->size >= UINT64_C(1) << 33;
	size_t len = 0, n = 0;

	(void)snprintf(name, sizeof(name), "%s%s", entry->name, entry->kind == TAR_FOLDER ? "/" : "");
	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)entry->size);
	if (strlen(name) > MODE - NAME)
		len += put_record(records + len, sizeof(records) - len, "path", name);
	if (entry->kind == TAR_LINK && strlen(entry->target) > MAGIC - TARGET)
		len += put_record(records + len, sizeof(records) - len, "linkpath", entry->target);
	if (is_large)
		len += put_record(records + len, sizeof(records) - len, "size", number);
	if (len > 0) {
		put_head(out, 'x', "PaxHeader", "", entry, len);
		memcpy(out + TAR_BLOCK, records, len);
		memset(out + TAR_BLOCK + len, 0, tar_padding(len));
		n = TAR_BLOCK + len + tar_padding(len);
	}
	put_head(out + n, kinds[entry->kind], name, entry->kind == TAR_LINK ? entry->target : "", entry, is_large ? 0 : entry->size);
	return n + TAR_BLOCK;
}
