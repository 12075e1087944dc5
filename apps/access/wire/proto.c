/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the link between stage and helper: one list of fields for an op serves both directions. */
#include "apps/access/wire/proto.h"

#include <string.h>

#include "session/base/util.h"

/* Either end of a record: writes to `at`, or reads from it. */
struct cursor {
	char *out;      /* NULL when reading */
	const char *in;
	size_t left;
	bool bad;
};

static void bytes(struct cursor *cursor, void *value, size_t len)
{
	if (cursor->bad || cursor->left < len) {
		cursor->bad = true;
		return;
	}
	if (cursor->out) {
		memcpy(cursor->out, value, len);
		cursor->out += len;
	} else {
		memcpy(value, cursor->in, len);
		cursor->in += len;
	}
	cursor->left -= len;
}

static void number(struct cursor *cursor, int32_t *value, int32_t min, int32_t max)
{
	bytes(cursor, value, sizeof(*value));
	cursor->bad |= *value < min || *value > max;
}

static void count(struct cursor *cursor, uint32_t *value, uint32_t max)
{
	bytes(cursor, value, sizeof(*value));
	cursor->bad |= *value > max;
}

static void flag(struct cursor *cursor, bool *value)
{
	uint8_t byte = *value;

	bytes(cursor, &byte, 1);
	cursor->bad |= byte > 1;
	*value = byte == 1;
}

static void text(struct cursor *cursor, char *value, size_t max)
{
	uint32_t len = cursor->out ? (uint32_t)strlen(value) : 0;

	count(cursor, &len, (uint32_t)max);
	if (cursor->bad)
		return;
	bytes(cursor, value, len);
	if (cursor->bad)
		return;
	value[len] = '\0';
	cursor->bad |= strlen(value) != len || !util_utf8_valid(value, len);
}

static void place(struct cursor *cursor, int32_t *x, int32_t *y, int32_t *width, int32_t *height)
{
	number(cursor, x, -ACCESS_PLACE_MAX, ACCESS_PLACE_MAX);
	number(cursor, y, -ACCESS_PLACE_MAX, ACCESS_PLACE_MAX);
	number(cursor, width, 0, ACCESS_PLACE_MAX);
	number(cursor, height, 0, ACCESS_PLACE_MAX);
}

static void target(struct cursor *cursor, struct access_target *value)
{
	count(cursor, &value->window, UINT32_MAX);
	number(cursor, &value->pid, 0, INT32_MAX);
	place(cursor, &value->x, &value->y, &value->width, &value->height);
	flag(cursor, &value->popup);
	text(cursor, value->title, LIMIT_TITLE_BYTES);
}

static void item(struct cursor *cursor, struct access_item *value)
{
	count(cursor, &value->id, UINT32_MAX);
	count(cursor, &value->parent, UINT32_MAX);
	number(cursor, &value->pid, 0, INT32_MAX);
	bytes(cursor, &value->states, sizeof(value->states));
	count(cursor, &value->n_children, INT32_MAX);
	place(cursor, &value->x, &value->y, &value->width, &value->height);
	flag(cursor, &value->password);
	flag(cursor, &value->editable);
	flag(cursor, &value->text_cut);
	flag(cursor, &value->has_text);
	text(cursor, value->role, LIMIT_NODE_ROLE_BYTES);
	text(cursor, value->name, LIMIT_NODE_NAME_BYTES);
	text(cursor, value->description, LIMIT_NODE_NAME_BYTES);
	text(cursor, value->text, LIMIT_NODE_TEXT_BYTES);
	text(cursor, value->actions, LIMIT_NODE_ACTIONS_BYTES);
	cursor->bad |= value->password && (value->has_text || value->text[0]);
}

static void told(struct cursor *cursor, struct access_told *value)
{
	flag(cursor, &value->known);
	flag(cursor, &value->has_node);
	flag(cursor, &value->terminal);
	flag(cursor, &value->prompt);
	flag(cursor, &value->late);
	count(cursor, &value->window, UINT32_MAX);
	number(cursor, &value->pid, 0, INT32_MAX);
	item(cursor, &value->node);
	text(cursor, value->url, LIMIT_NODE_URL_BYTES);
}

static void tree(struct cursor *cursor, struct access_tree *value)
{
	count(cursor, &value->max_nodes, LIMIT_TREE_NODES);
	count(cursor, &value->max_depth, LIMIT_TREE_DEPTH);
	count(cursor, &value->timeout_ms, LIMIT_TREE_MS);
	flag(cursor, &value->all);
}

static void fault(struct cursor *cursor, enum access_fault *value)
{
	uint32_t n = *value;

	count(cursor, &n, ACCESS_N_FAULTS - 1);
	*value = cursor->bad ? ACCESS_NOT_FOUND : (enum access_fault)n;
}

/* The fields of an op. */
static void fields(struct cursor *cursor, struct access_record *record)
{
	switch (record->op) {
	case ACCESS_CLIENTS:
		return;
	case ACCESS_FIRST:
	case ACCESS_GRAB:
	case ACCESS_PLACE:
		count(cursor, &record->id, UINT32_MAX);
		return;
	case ACCESS_AT:
		target(cursor, &record->target);
		number(cursor, &record->x, -ACCESS_PLACE_MAX, ACCESS_PLACE_MAX);
		number(cursor, &record->y, -ACCESS_PLACE_MAX, ACCESS_PLACE_MAX);
		return;
	case ACCESS_FOCUS:
		target(cursor, &record->target);
		return;
	case ACCESS_TREE:
		target(cursor, &record->target);
		tree(cursor, &record->tree);
		return;
	case ACCESS_PRESS:
	case ACCESS_SET:
	case ACCESS_READ:
		count(cursor, &record->id, UINT32_MAX);
		text(cursor, record->text, LIMIT_NODE_VALUE_BYTES);
		return;
	case ACCESS_STATE:
		text(cursor, record->text, LIMIT_NODE_NAME_BYTES);
		text(cursor, record->address, ACCESS_ADDRESS_BYTES);
		return;
	case ACCESS_FOCUSED:
		told(cursor, &record->focus);
		return;
	case ACCESS_NODE:
		item(cursor, &record->item);
		return;
	case ACCESS_DONE:
		flag(cursor, &record->done.truncated);
		text(cursor, record->done.hung, LIMIT_NODE_NAME_BYTES);
		return;
	case ACCESS_FAILED:
		fault(cursor, &record->fault);
		text(cursor, record->text, LIMIT_NODE_NAME_BYTES);
		return;
	case ACCESS_N_OPS:
		break;
	}
	cursor->bad = true;
}

static void head(struct cursor *cursor, struct access_record *record)
{
	uint32_t op = record->op;

	count(cursor, &op, ACCESS_N_OPS - 1);
	count(cursor, &record->question, UINT32_MAX);
	record->op = cursor->bad || op == 0 ? ACCESS_N_OPS : (enum access_op)op;
}

size_t access_pack(const struct access_record *record, char *out)
{
	struct cursor cursor = {.out = out + ACCESS_LENGTH_BYTES, .left = LIMIT_ACCESS_RECORD_BYTES - ACCESS_LENGTH_BYTES};
	struct access_record *source = (struct access_record *)(uintptr_t)record; /* which is only read */
	uint32_t len;

	head(&cursor, source);
	fields(&cursor, source);
	if (cursor.bad)
		DIE("a record of op %d breaks its form", (int)record->op);
	len = (uint32_t)(cursor.out - out) - ACCESS_LENGTH_BYTES;
	memcpy(out, &len, sizeof(len));
	return len + ACCESS_LENGTH_BYTES;
}

long access_unpack(const char *in, size_t len, struct access_record *record)
{
	struct cursor cursor = {.in = in + ACCESS_LENGTH_BYTES};
	uint32_t whole;

	if (len < ACCESS_LENGTH_BYTES)
		return 0;
	memcpy(&whole, in, sizeof(whole));
	if (whole > LIMIT_ACCESS_RECORD_BYTES - ACCESS_LENGTH_BYTES)
		return -1;
	if (len - ACCESS_LENGTH_BYTES < whole)
		return 0;
	cursor.left = whole;
	memset(record, 0, sizeof(*record));
	head(&cursor, record);
	fields(&cursor, record);
	return cursor.bad || cursor.left > 0 ? -1 : (long)whole + ACCESS_LENGTH_BYTES;
}
