/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From rows to filters, by libseccomp. */
#include "sandbox/filters/table.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/filters/rows.h"

#define API_LEVEL 3 /* the first that kills processes; said, since libseccomp would ask the kernel of the machine that builds */

#ifdef CONFINE_SANITIZER
/* What the sanitizers' runtimes ask for beside the program. */
static const struct table_rule sanitizer_rows[] = {
	PLAIN(getpgrp), PLAIN(getrlimit), PLAIN(kill), PLAIN(pipe), PLAIN(readlink), PLAIN(setrlimit), PLAIN(wait4),
};
const char *const table_mark = "sanitizer_rows";
#else
const char *const table_mark = NULL;
#endif

const char *table_why(const struct table *table, size_t i)
{
	if (table->rules[i].why)
		return table->rules[i].why;
	while (i > 0 && table->rules[i].syscall)
		i--;
	return table->rules[i].syscall ? NULL : table->rules[i].why;
}

static uint32_t action_of(const struct table_rule *rule)
{
	return rule->verdict == TABLE_ALLOW ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)rule->deny_errno);
}

static uint32_t action_of_others(const struct table *table)
{
	return table->others == TABLE_OTHERS_ALLOWED ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)table->others);
}

static int add_rule(scmp_filter_ctx filter, const struct table *table, const struct table_rule *rule, struct err *e)
{
	struct scmp_arg_cmp tests[ARRAY_LEN(rule->tests)];
	int number = seccomp_syscall_resolve_name(rule->syscall);
	unsigned n_tests = 0;
	int error;

	if (number == __NR_SCMP_ERROR)
		return err_set(e, ERR_INTERNAL, NULL, "table %s: no system call is named %s", table->name, rule->syscall);
	/* libseccomp refuses a rule that says what the rest says anyway. */
	if (action_of(rule) == action_of_others(table))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rule->tests); i++)
		if (rule->tests[i].mask != 0)
			tests[n_tests++] = (struct scmp_arg_cmp){.arg = rule->tests[i].arg, .op = SCMP_CMP_MASKED_EQ,
			                                         .datum_a = rule->tests[i].mask, .datum_b = rule->tests[i].value};
	error = seccomp_rule_add_array(filter, action_of(rule), number, n_tests, tests);
	if (error < 0) {
		errno = -error;
		return err_sys(e, "table %s: the row of %s", table->name, rule->syscall);
	}
	return 0;
}

static int add_rules(scmp_filter_ctx filter, const struct table *table, struct err *e)
{
	for (size_t i = 0; i < table->n_rules; i++)
		if (table->rules[i].syscall && add_rule(filter, table, &table->rules[i], e) < 0)
			return -1;
#ifdef CONFINE_SANITIZER
	for (size_t i = 0; i < ARRAY_LEN(sanitizer_rows); i++)
		if (add_rule(filter, table, &sanitizer_rows[i], e) < 0)
			return -1;
#endif
	return 0;
}

/* libseccomp writes to a descriptor alone. */
static int export_filter(scmp_filter_ctx filter, const struct table *table, struct sock_filter **rows, size_t *n_rows, struct err *e)
{
	auto_fd fd = memfd_create("filter", MFD_CLOEXEC);
	auto_free struct sock_filter *code = NULL;
	struct stat st;
	int error;

	if (fd < 0)
		return err_sys(e, "memfd_create");
	/* Binary search by number instead of a walk through all rows. */
	error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (error == 0)
		error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (error == 0)
		error = seccomp_export_bpf(filter, fd);
	if (error < 0) {
		errno = -error;
		return err_sys(e, "table %s: compiling", table->name);
	}
	if (fstat(fd, &st) < 0)
		return err_sys(e, "table %s: compiling", table->name);
	if (st.st_size > (off_t)(BPF_MAXINSNS * sizeof(*code)))
		return err_set(e, ERR_INTERNAL, NULL, "table %s: its filter is longer than a kernel takes", table->name);
	code = util_alloc((size_t)st.st_size);
	if (pread(fd, code, (size_t)st.st_size, 0) != st.st_size)
		return err_sys(e, "table %s: reading its filter", table->name);
	*rows = steal_ptr(&code);
	*n_rows = (size_t)st.st_size / sizeof(**rows);
	return 0;
}

int table_compile(const struct table *table, struct sock_filter **rows, size_t *n_rows, struct err *e)
{
	int error = seccomp_api_set(API_LEVEL), result = -1;
	scmp_filter_ctx filter = error == 0 ? seccomp_init(action_of_others(table)) : NULL;

	if (!filter)
		return err_set(e, ERR_INTERNAL, NULL, "libseccomp does not start");
	if (add_rules(filter, table, e) == 0)
		result = export_filter(filter, table, rows, n_rows, e);
	seccomp_release(filter);
	return result;
}
