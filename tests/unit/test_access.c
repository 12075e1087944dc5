/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps/access/wire */
/* Records between the stage and glovebox-access: whole, cut, and against their form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "apps/access/wire/proto.h"
#include "session/base/util.h"

static char bytes[LIMIT_ACCESS_RECORD_BYTES];
static struct access_record record, got;

static void fill_text(char *text, size_t max)
{
	memset(text, 'a', max);
	text[max] = '\0';
}

/* The largest of each op. */
static void make(enum access_op op)
{
	memset(&record, 0, sizeof(record));
	record.op = op;
	record.question = 7;
	record.id = UINT32_MAX;
	record.x = -ACCESS_PLACE_MAX;
	record.fault = ACCESS_REFUSED;
	record.target = (struct access_target){.window = 5, .pid = INT32_MAX, .x = -5, .width = ACCESS_PLACE_MAX, .popup = true};
	fill_text(record.target.title, LIMIT_TITLE_BYTES);
	record.tree = (struct access_tree){LIMIT_TREE_NODES, LIMIT_TREE_DEPTH, LIMIT_TREE_MS, true};
	record.item = (struct access_item){.id = 9, .parent = 8, .states = UINT64_MAX, .n_children = INT32_MAX, .has_text = true};
	fill_text(record.item.role, LIMIT_NODE_ROLE_BYTES);
	fill_text(record.item.name, LIMIT_NODE_NAME_BYTES);
	fill_text(record.item.description, LIMIT_NODE_NAME_BYTES);
	fill_text(record.item.text, LIMIT_NODE_TEXT_BYTES);
	fill_text(record.item.actions, LIMIT_NODE_ACTIONS_BYTES);
	record.focus = (struct access_told){.known = true, .has_node = true, .prompt = true, .node = record.item};
	fill_text(record.focus.url, LIMIT_NODE_URL_BYTES);
	fill_text(record.done.hung, LIMIT_NODE_NAME_BYTES);
	fill_text(record.address, ACCESS_ADDRESS_BYTES);
	fill_text(record.text, op == ACCESS_PRESS || op == ACCESS_SET || op == ACCESS_READ ? LIMIT_NODE_VALUE_BYTES : LIMIT_NODE_NAME_BYTES);
}

/* Every op at its largest comes through as it was, and no shorter part of it does. */
static void goes_through(void **state)
{
	(void)state;
	for (int op = ACCESS_FIRST; op < ACCESS_N_OPS; op++) {
		char again[LIMIT_ACCESS_RECORD_BYTES];
		size_t len;

		make((enum access_op)op);
		len = access_pack(&record, bytes);
		assert_int_equal(access_unpack(bytes, len, &got), (long)len);
		assert_int_equal(got.op, op);
		assert_int_equal(access_pack(&got, again), len);
		assert_memory_equal(again, bytes, len);
		for (size_t cut = 0; cut < len; cut += 97)
			assert_int_equal(access_unpack(bytes, cut, &got), 0);
	}
}

/* A record with a length that its fields do not have. */
static void wrong_length(void **state)
{
	uint32_t len;

	(void)state;
	make(ACCESS_NODE);
	len = (uint32_t)access_pack(&record, bytes) - ACCESS_LENGTH_BYTES;
	for (int32_t other = -1; other <= 1; other += 2) {
		uint32_t wrong = (uint32_t)((int32_t)len + other);

		memcpy(bytes, &wrong, sizeof(wrong));
		assert_int_equal(access_unpack(bytes, sizeof(bytes), &got), -1);
	}
	len = LIMIT_ACCESS_RECORD_BYTES;
	memcpy(bytes, &len, sizeof(len));
	assert_int_equal(access_unpack(bytes, ACCESS_LENGTH_BYTES, &got), -1);
}

static long after_change(size_t at, const void *change, size_t len)
{
	size_t whole = access_pack(&record, bytes);

	memcpy(bytes + at, change, len);
	return access_unpack(bytes, whole, &got);
}

static void out_of_form(void **state)
{
	const uint32_t op = ACCESS_N_OPS, none = 0, fault = ACCESS_N_FAULTS;
	const uint8_t two = 2;
	const int32_t far = ACCESS_PLACE_MAX + 1;

	(void)state;
	make(ACCESS_FAILED);
	assert_int_equal(after_change(4, &op, sizeof(op)), -1);
	assert_int_equal(after_change(4, &none, sizeof(none)), -1);
	assert_int_equal(after_change(12, &fault, sizeof(fault)), -1);
	assert_int_equal(after_change(20, "\xFF", 1), -1);
	assert_int_equal(after_change(20, "", 1), -1);
	make(ACCESS_DONE);
	assert_int_equal(after_change(12, &two, 1), -1);
	make(ACCESS_AT);
	assert_int_equal(after_change(access_pack(&record, bytes) - 4, &far, sizeof(far)), -1);
}

/* Of a password field there is no text, whatever the helper says. */
static void password_without_text(void **state)
{
	size_t len;

	(void)state;
	make(ACCESS_NODE);
	record.item.text[0] = '\0';
	record.item.has_text = false;
	record.item.password = true;
	len = access_pack(&record, bytes);
	assert_int_equal(access_unpack(bytes, len, &got), (long)len);
	make(ACCESS_NODE);
	len = access_pack(&record, bytes);
	/* Behind the head: id, parent, pid, states, children, place. */
	assert_int_equal(bytes[12 + 4 + 4 + 4 + 8 + 4 + 16], 0);
	bytes[12 + 4 + 4 + 4 + 8 + 4 + 16] = 1;
	assert_int_equal(access_unpack(bytes, len, &got), -1);
}

/* Seeds of tests/fuzz/corpus/access are these records: written when a folder is named. */
static void write_seeds(const char *folder)
{
	for (int op = ACCESS_FIRST; op < ACCESS_N_OPS; op++) {
		char path[512];
		FILE *file;

		make((enum access_op)op);
		(void)snprintf(path, sizeof(path), "%s/op_%d", folder, op);
		file = fopen(path, "w");
		if (file) {
			(void)fwrite(bytes, 1, access_pack(&record, bytes), file);
			(void)fclose(file);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_through),
		cmocka_unit_test(wrong_length),
		cmocka_unit_test(out_of_form),
		cmocka_unit_test(password_without_text),
	};

	if (argc > 1) {
		write_seeds(argv[1]);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
