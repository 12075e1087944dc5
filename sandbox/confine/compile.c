/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From rows to filters, by libseccomp; loading them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/confine/confine.h"
#include "sandbox/confine/rows.h"

#ifdef CONFINE_SANITIZER
/* The search for leaks at exit traces the process from another, which no table allows. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* What the sanitizers' runtimes ask for beside the program. */
static const struct confine_rule sanitizer_rows[] = {
	PLAIN(getpgrp), PLAIN(getrlimit), PLAIN(kill), PLAIN(pipe), PLAIN(readlink), PLAIN(setrlimit), PLAIN(wait4),
};
#endif

static uint32_t action_of(const struct confine_rule *rule)
{
	return rule->verdict == CONFINE_ALLOW ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)rule->deny_errno);
}

static uint32_t action_of_others(const struct confine_table *table)
{
	return table->others == CONFINE_OTHERS_ALLOWED ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)table->others);
}

static int add_rule(scmp_filter_ctx filter, const struct confine_table *table, const struct confine_rule *rule, struct err *e)
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

static int add_rules(scmp_filter_ctx filter, const struct confine_table *table, struct err *e)
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

static int export_filter(scmp_filter_ctx filter, const struct confine_table *table, int *out, struct err *e)
{
	auto_fd fd = memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
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
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return err_sys(e, "sealing a filter");
	*out = steal_fd(&fd);
	return 0;
}

const char *confine_why(const struct confine_table *table, size_t i)
{
	if (table->rules[i].why)
		return table->rules[i].why;
	while (i > 0 && table->rules[i].syscall)
		i--;
	return table->rules[i].syscall ? NULL : table->rules[i].why;
}

int confine_compile(const struct confine_table *table, int *fd, struct err *e)
{
	scmp_filter_ctx filter = seccomp_init(action_of_others(table));
	int result = -1;

	if (!filter)
		return err_set(e, ERR_INTERNAL, NULL, "libseccomp does not start");
	if (add_rules(filter, table, e) == 0)
		result = export_filter(filter, table, fd, e);
	seccomp_release(filter);
	return result;
}

int confine_load_compiled(int fd, struct err *e)
{
	auto_free struct sock_filter *code = NULL;
	struct sock_fprog program;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "looking at a filter");
	if (st.st_size <= 0 || st.st_size > (off_t)(BPF_MAXINSNS * sizeof(*code)) || st.st_size % (off_t)sizeof(*code) != 0)
		return err_set(e, ERR_INTERNAL, NULL, "a filter has %lld bytes", (long long)st.st_size);
	code = util_alloc((size_t)st.st_size);
	if (pread(fd, code, (size_t)st.st_size, 0) != st.st_size)
		return err_sys(e, "reading a filter");
	program = (struct sock_fprog){.len = (unsigned short)((size_t)st.st_size / sizeof(*code)), .filter = code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_sys(e, "loading a filter");
	return 0;
}

int confine_load(const struct confine_table *table, struct err *e)
{
	auto_fd fd = -1;

	if (confine_compile(table, &fd, e) < 0)
		return -1;
	return confine_load_compiled(fd, e);
}
