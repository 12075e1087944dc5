/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/base */
/* longest: 1024 */
/*
 * Allow lists: a list that the check takes can be used, and another cannot; none lets through localhost, odd spellings, or a name that no entry ends in at a label.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/egress/egress_rule.h"
#include "session/base/util.h"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static const char *find(const struct egress_rules *rules, const char *host)
{
	struct egress_host read;
	const struct egress_want want = {.host = &read, .port = 443, .is_read = true};
	const char *why = NULL, *rule;

	egress_host_read(host, strlen(host), &read);
	rule = egress_rules_find(rules, &want, &why);
	insist(rule || (why && *why), "a refusal says nothing");
	return rule;
}

static void check_rules(const json_t *list, const struct egress_rules *rules)
{
	static const char *const never[] = {"localhost", "a.localhost", "127.1", "0x7f.1", "2130706433", "a b", "", "no-entry-names-this"};
	const json_t *entry;
	size_t i;

	for (size_t n = 0; n < ARRAY_LEN(never); n++)
		insist(!find(rules, never[n]) || strcmp(never[n], "no-entry-names-this") == 0, "what is never reached is let through");
	json_array_foreach(list, i, entry) {
		const char *text = json_is_string(entry) ? json_string_value(entry) : NULL;

		/* One label more or another letter before an exact entry is another host. */
		if (json_array_size(list) == 1 && text && *text != '*' && *text != '[') {
			auto_free char *below = util_printf("x.%s", text), *glued = util_printf("x%s", text);

			insist(!find(rules, below) && !find(rules, glued), "an exact entry lets more through");
		}
	}
	insist(egress_rules_names(rules, "no-entry-names-this", 443) == (find(rules, "no-entry-names-this") != NULL), "two answers to one question");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_auto_t *list = NULL;
	struct egress_rules *rules = NULL;
	struct err first, e;
	struct faults faults = {.list = &first, .max = 1};
	int checked, created;

	if (json_parse((const char *)data, size, &list, &e) < 0)
		return 0;
	checked = egress_rules_check(list, "/allow", &faults);
	created = egress_rules_create(list, &rules, &e);
	insist(checked == created, "check and use differ");
	if (created < 0)
		insist(strcmp(first.path, e.path) == 0 && strcmp(first.msg, e.msg) == 0 && *first.msg, "check and use say different things");
	else
		check_rules(list, rules);
	egress_rules_destroy(rules);
	return 0;
}
