/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System call tables, and filters made of them: read and compiled while Glovebox is built (main_filters.c) and by tests, linked by no program of it.
 * What programs have is confine_load of sandbox/confine.
 */
#ifndef FILTERS_TABLE_H
#define FILTERS_TABLE_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/confine/confine.h"
#include "session/base/err.h"

enum table_verdict { TABLE_ALLOW, TABLE_DENY };

/* A test of one argument (0..5): (argument & mask) == value. A mask of 0 is no test. */
struct table_test {
	unsigned arg;
	uint64_t mask, value;
};

/*
 * One row: a call, the tests that all must hold for the row to apply (each of another argument), and the verdict. Rows of one call
 * that have tests all say the same verdict. A row without a call begins a group and says what that is for.
 */
struct table_rule {
	const char *syscall;
	enum table_verdict verdict;
	int deny_errno; /* TABLE_DENY */
	struct table_test tests[3];
	const char *why; /* NULL for the plain ones: they are there for what their group is (table_why) */
};

/* Of what no row names (table.others), beside errno values: ENOSYS lets libraries fall back. */
enum { TABLE_OTHERS_ALLOWED = -1 };

struct table {
	const char *name; /* "stage": names the process "glovebox-stage" */
	const struct table_rule *rules;
	size_t n_rules;
	int others; /* errno, or TABLE_OTHERS_ALLOWED */
	enum confine_land land; /* of those that confine_enter takes */
};

/* table_app in table_app.c, and so on: each is compiled to the filter of its name. */
#define TABLE_DECLARE(name) extern const struct table table_##name;
CONFINE_FILTERS(TABLE_DECLARE)

/* What row `i` of a table is there for: its own words, or those of its group. NULL if nobody said. */
const char *table_why(const struct table *table, size_t i);

/* The name of a symbol that each program has whose filters allow more, for a sanitizer; NULL: these do not. */
extern const char *const table_mark;

/*
 * Compiles a table for the architecture that this was built for: calls of another one kill. *rows is the caller's, to be freed. What comes out is
 * the same on any kernel. Errors: ERR_INTERNAL, a row that libseccomp does not take.
 */
int table_compile(const struct table *table, struct sock_filter **rows, size_t *n_rows, struct err *e);

#endif
