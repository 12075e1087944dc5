/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* longest: 2048 */
/*
 * Heads of requests, a field a line ("Name: value"), and whether they open a WebSocket. What is refused has a text; a head that is taken frames its body in one way,
 * and a ticket that is found is a word.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "session/base/util.h"
#include "session/front/upgrade.h"

static void check_refused(const struct err *e)
{
	if (e->code == ERR_NONE || !e->msg[0] || !util_utf8_valid(e->msg, strlen(e->msg)))
		DIE("refused without a text");
}

static void try_upgrade(const struct head *head)
{
	struct err e = {0};
	char *ticket;

	if (upgrade_check(head, true, true, &e) < 0) {
		check_refused(&e);
		return;
	}
	ticket = upgrade_ticket(head);
	if (ticket && (!*ticket || strpbrk(ticket, " ,\t\r\n")))
		DIE("a ticket \"%s\"", ticket);
	free(ticket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head = {0};
	struct err e = {0};
	char key[LIMIT_KEY_CHARS + 1];
	auto_free char *text = util_alloc(size + 1);
	char *rest = text, *line;

	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strstr(line, ": ");
		size_t len = value ? (size_t)(value - line) : strlen(line);

		if (value)
			*value = '\0';
		value = value ? value + 2 : line + len;
		if (head_add(&head, line, len, value, strlen(value), &e) < 0) {
			check_refused(&e);
			return 0;
		}
	}
	if (head_finish(&head, &e) < 0) {
		check_refused(&e);
		return 0;
	}
	if (head.chunked && head.content_length)
		DIE("framed twice");
	if (head_key(&head, key, &e) == 0 && strlen(key) > LIMIT_KEY_CHARS)
		DIE("a key of %zu signs", strlen(key));
	(void)head_bearer(&head);
	try_upgrade(&head);
	return 0;
}
