/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: */
/* Origins of addresses, also of those that want to look like another's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/origin.h"
#include "session/base/util.h"

static void test_origins(void **state)
{
	static const struct {
		const char *url, *origin; /* NULL: it has none */
	} rows[] = {
		{"https://example.com", "https://example.com"},
		{"https://example.com/login?next=/#top", "https://example.com"},
		{"HTTPS://Example.COM:443/", "https://example.com"},
		{"http://example.com:80", "http://example.com"},
		{"http://example.com:443/", "http://example.com:443"},
		{"https://example.com:8443/", "https://example.com:8443"},
		{"https://example.com:/", "https://example.com"},
		{"http://127.0.0.1:8000/a", "http://127.0.0.1:8000"},
		{"http://[::1]:8000/a", "http://[::1]:8000"},
		{"https://[::1]/", "https://[::1]"},
		{"https://example.com@evil.test/", "https://evil.test"},
		{"https://user:pass@example.com/", "https://example.com"},
		{"https://evil.test/https://example.com", "https://evil.test"},
		{"https://evil.test\\@example.com/", "https://evil.test"},
		{"https://evil.test?@example.com/", "https://evil.test"},
		{"https://evil.test#@example.com/", "https://evil.test"},
		{"https://example.com.evil.test/", "https://example.com.evil.test"},
		{"https://example.com./", "https://example.com."},
		{"https://", NULL},
		{"https:///x", NULL},
		{"https://[::1", NULL},
		{"https://[]", NULL},
		{"https://[::1]x", NULL},
		{"https://a b/", NULL},
		{"https://ex%61mple.com/", NULL},
		{"https://example.com:99999/", NULL},
		{"https://example.com:0/", NULL},
		{"https://example.com:4a/", NULL},
		{"https://ex\xc3\xa4mple.com/", NULL},
		{"about:blank", NULL},
		{"file:///etc/passwd", NULL},
		{"javascript://example.com/%0aalert(1)", NULL},
		{"view-source:https://example.com/", NULL},
		{" https://example.com", NULL},
		{"", NULL},
	};
	char out[ORIGIN_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool has = origin_of(rows[i].url, out);

		if (has != !!rows[i].origin || strcmp(out, has ? rows[i].origin : "") != 0)
			fail_msg("%s gives \"%s\", not %s", rows[i].url, out, rows[i].origin ? rows[i].origin : "none");
		if (has)
			assert_true(origin_is(out));
	}
	assert_false(origin_is("https://Example.com"));
	assert_false(origin_is("https://example.com/"));
	assert_false(origin_is("https://example.com:443"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_origins)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
