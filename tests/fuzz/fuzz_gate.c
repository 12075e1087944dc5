/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* longest: 256 */
/* Answers that are looked through for a value: cut or passed on, it is the same however they come in pieces; what is passed on is what came, and never the value. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "sandbox/egress/inject_inner.h"
#include "session/base/util.h"

#define VALUE "k%y\"+/\\ 9z"

/* Passes it on in pieces of so many bytes; how many came out, -1 when it was cut. */
static ssize_t pass(const struct inject *inject, const char *text, size_t len, size_t piece, char *out)
{
	struct gate *gate = gate_create(inject);
	const char *passed = NULL;
	size_t n = 0, n_out = 0;
	bool cut = false;

	for (size_t at = 0; !cut && at < len; at += piece) {
		cut = gate_pass(gate, text + at, len - at < piece ? len - at : piece, &passed, &n) < 0;
		if (cut)
			break;
		memcpy(out + n_out, passed, n);
		n_out += n;
	}
	if (!cut) {
		gate_end(gate, &passed, &n);
		memcpy(out + n_out, passed ? passed : "", n);
		n_out += n;
	}
	if (n_out > len || memcmp(out, text, n_out) != 0)
		DIE("something else is passed on than came");
	if (memmem(out, n_out, VALUE, strlen(VALUE)))
		DIE("the value is passed on");
	gate_destroy(gate);
	return cut ? -1 : (ssize_t)n_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct inject inject; /* its tables are large */
	const char *text = (const char *)data;
	auto_free char *out = util_alloc(len + 1);
	size_t piece;
	ssize_t whole;

	if (inject.n_secrets == 0) {
		inject.secrets[0] = (struct injected){.name = "key", .value = VALUE, .len = strlen(VALUE)};
		inject.n_secrets = 1;
		inject_look_for(&inject, &inject.secrets[0]);
	}
	whole = pass(&inject, text, len, len + 1, out);
	if (whole >= 0 && (size_t)whole != len)
		DIE("not all is passed on");
	piece = 1 + fuzz_pick(data, len) % 11;
	if (pass(&inject, text, len, piece, out) != whole)
		DIE("in pieces of %zu bytes it is another answer", piece);
	return 0;
}
