/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps/access/wire */
/* longest: 4096 */
/* What glovebox-access says to the stage: never more than is there, and a record that is taken is the same when it is written again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "apps/access/wire/proto.h"
#include "session/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free struct access_record *record = util_alloc(sizeof(*record));
	auto_free char *again = util_alloc(LIMIT_ACCESS_RECORD_BYTES);
	size_t at = 0;

	while (at < size) {
		/* In memory of its own, so that a byte beyond it is seen. */
		auto_free char *copy = util_alloc(size - at);
		long used;

		memcpy(copy, data + at, size - at);
		used = access_unpack(copy, size - at, record);
		if (used <= 0)
			break;
		if ((size_t)used > size - at)
			DIE("%ld bytes of %zu", used, size - at);
		if (access_pack(record, again) != (size_t)used || memcmp(again, copy, (size_t)used) != 0)
			DIE("a record of op %d is another one when it is written", (int)record->op);
		at += (size_t)used;
	}
	return 0;
}
