/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the filters of all tables as C, for sandbox/confine/filters.c to include. Runs while Glovebox is built: programs load what was compiled here, with
 * one system call and without libseccomp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/filters/table.h"
#include "session/base/util.h"

#define NAMED(ident) {#ident, &table_##ident},

static const struct {
	const char *ident;
	const struct table *table;
} ALL[] = {CONFINE_FILTERS(NAMED)};

static int print_filter(const char *ident, const struct table *table, struct err *e)
{
	auto_free struct sock_filter *rows = NULL;
	size_t n_rows;

	if (table_compile(table, &rows, &n_rows, e) < 0)
		return -1;
	printf("static const struct sock_filter %s_rows[] = {\n", ident);
	for (size_t i = 0; i < n_rows; i++)
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", rows[i].code, rows[i].jt, rows[i].jf, rows[i].k);
	printf("};\nconst struct confine_filter confine_%s = {\"%s\", (enum confine_land)%d, %s_rows, %zu};\n", ident, table->name, (int)table->land, ident,
	       n_rows);
	return 0;
}

int main(void)
{
	struct err e = {0};

	printf("/* %zu filters of the tables in sandbox/filters, of struct sock_filter {code, jt, jf, k}. */\n", ARRAY_LEN(ALL));
	if (table_mark)
		printf("extern const char %s[];\nconst char %s[] = \"\";\n", table_mark, table_mark);
	for (size_t i = 0; i < ARRAY_LEN(ALL); i++)
		if (print_filter(ALL[i].ident, ALL[i].table, &e) < 0) {
			fprintf(stderr, "filters: %s%s%s\n", e.msg, e.sys_errno ? ": " : "", e.sys_errno ? strerror(e.sys_errno) : "");
			return EXIT_FAILURE;
		}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
