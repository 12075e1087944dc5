/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real glovebox-init, spoken to as the stage does. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/un.h>

#include "session/base/limits.h"
#include "tests/unit/jail.h"

#define PATH_ENV "PATH=/usr/bin:/bin"

static void receive(const struct jail *jail, struct init_report *report)
{
	struct pollfd ready = {.fd = jail->stage, .events = POLLIN};
	size_t n_fds;

	assert_int_equal(poll(&ready, 1, 10000), 1);
	assert_int_equal(ipc_recv(jail->stage, report, sizeof(*report), NULL, 0, &n_fds, NULL), sizeof(*report));
}

static void expect(const struct jail *jail, uint32_t op, uint32_t tag, struct init_report *report)
{
	receive(jail, report);
	if (report->op != op || report->tag != tag)
		fail_msg("report %u of tag %u (error %d), expected %u of tag %u", report->op, report->tag, report->error, op, tag);
}

static int start(void **state)
{
	struct jail *jail = util_zalloc(sizeof(*jail));
	struct init_report ready;

	jail_start(jail);
	expect(jail, INIT_READY, 0, &ready);
	assert_int_equal(ready.pid, jail->pid);
	*state = jail;
	return 0;
}

/* The end of the link ends init. */
static int stop(void **state)
{
	struct jail *jail = *state;

	(void)close(jail->stage);
	jail_finish(jail);
	free(jail);
	return 0;
}

/* Strings are folder, argv…, environment…, as one text with NUL between them. */
static void spawn(const struct jail *jail, const struct init_spawn *what, const char *text, size_t len, const int *fds, size_t n_fds)
{
	char record[4096];
	struct init_spawn head = *what;

	head.op = INIT_SPAWN;
	memcpy(record, &head, sizeof(head));
	memcpy(record + sizeof(head), text, len);
	assert_int_equal(ipc_send(jail->stage, record, sizeof(head) + len, fds, n_fds, NULL), 0);
}

#define SPAWN(jail, what, text) spawn(jail, what, text, sizeof(text), NULL, 0)

static void exit_codes_and_signals(void **state)
{
	struct jail *jail = *state;
	struct init_report report;

	SPAWN(jail, (&(struct init_spawn){.tag = 1, .n_argv = 3, .n_env = 1}), "/\0sh\0-c\0exit 42\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 1, &report);
	assert_int_equal(report.error, 0);
	assert_true(report.pid > 0);
	expect(jail, INIT_EXITED, 1, &report);
	assert_int_equal(report.status, 42);
	assert_int_equal(report.signo, 0);

	SPAWN(jail, (&(struct init_spawn){.tag = 2, .n_argv = 3, .n_env = 1}), "/\0sh\0-c\0kill -SEGV $$\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 2, &report);
	expect(jail, INIT_EXITED, 2, &report);
	assert_int_equal(report.status, -1);
	assert_int_equal(report.signo, SIGSEGV);
}

static void pipes(void **state)
{
	struct jail *jail = *state;
	static const char TEXT[] = "/usr\0sh\0-c\0cat; pwd; echo \"$A\" >&2; ls /proc/self/fd | tr '\\n' ' '\0" PATH_ENV "\0A=b c";
	struct init_report report;
	int in[2], out[2], err[2];
	char text[256] = "";

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	spawn(jail,
	      &(struct init_spawn){.tag = 1, .flags = INIT_PIPE_STDIN | INIT_PIPE_STDOUT | INIT_PIPE_STDERR, .n_argv = 3, .n_env = 2}, TEXT,
	      sizeof(TEXT), (const int[]){in[0], out[1], err[1]}, 3);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(err[1]);
	assert_int_equal(write(in[1], "hello\n", 6), 6);
	(void)close(in[1]);
	expect(jail, INIT_SPAWNED, 1, &report);
	expect(jail, INIT_EXITED, 1, &report);
	assert_int_equal(report.status, 0);
	/* One read each, after the end: it is all there, and end of file follows, since init kept no copy. 3 is the folder that ls reads. */
	for (ssize_t n = 0, at = 0; (n = read(out[0], text + at, sizeof(text) - (size_t)at - 1)) > 0;)
		at += n;
	assert_string_equal(text, "hello\n/usr\n0 1 2 3 ");
	memset(text, 0, sizeof(text));
	assert_int_equal(read(err[0], text, sizeof(text)), 4);
	assert_string_equal(text, "b c\n");
	assert_int_equal(read(err[0], text, sizeof(text)), 0);
	(void)close(out[0]);
	(void)close(err[0]);
}

static void clean_start(void **state)
{
	struct jail *jail = *state;
	static const char TEXT[] = "/\0sh\0-c\0env; grep -E '^NoNewPrivs|^Seccomp:' /proc/self/status; ps -o sid=,pgid= -p $$ | "
	                           "tr -s ' ' '\\n' | grep . | uniq | wc -l; umask\0" PATH_ENV;
	struct init_report report;
	int out[2];
	char text[1024] = "";

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	spawn(jail, &(struct init_spawn){.tag = 1, .flags = INIT_PIPE_STDOUT, .n_argv = 3, .n_env = 1}, TEXT, sizeof(TEXT), &out[1], 1);
	(void)close(out[1]);
	expect(jail, INIT_SPAWNED, 1, &report);
	expect(jail, INIT_EXITED, 1, &report);
	for (ssize_t n = 0, at = 0; (n = read(out[0], text + at, sizeof(text) - (size_t)at - 1)) > 0;)
		at += n;
	(void)close(out[0]);
	assert_string_equal(text, PATH_ENV "\nPWD=/\n"
	                                   "NoNewPrivs:\t1\nSeccomp:\t2\n1\n0022\n");
}

/* How many filters a process is under, by a line of its status. */
static int filters_in(const char *status)
{
	const char *line = strstr(status, "Seccomp_filters:");

	assert_non_null(line);
	return atoi(line + strlen("Seccomp_filters:"));
}

static int filters_of(pid_t pid)
{
	char path[64], *text = NULL;
	int fd, n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && util_read_file(fd, 65536, &text) > 0);
	n = filters_in(text);
	free(text);
	(void)close(fd);
	return n;
}

/* init carries both: one for itself and all that it starts, one more for each program that is not trusted. */
static void filters_are_loaded(void **state)
{
	struct jail *jail = *state;
	static const char TEXT[] = "/\0grep\0Seccomp_filters\0/proc/self/status\0" PATH_ENV;
	struct init_report report;
	int out[2];
	char text[64] = "";

	assert_int_equal(filters_of(jail->pid), filters_of(getpid()) + 1);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	spawn(jail, &(struct init_spawn){.tag = 1, .flags = INIT_PIPE_STDOUT, .n_argv = 3, .n_env = 1}, TEXT, sizeof(TEXT), &out[1], 1);
	(void)close(out[1]);
	expect(jail, INIT_SPAWNED, 1, &report);
	expect(jail, INIT_EXITED, 1, &report);
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	(void)close(out[0]);
	assert_int_equal(filters_in(text), filters_of(getpid()) + 2);
}

/* Read by the program itself: a shell would mend its mask. */
static void clean_signals(void **state)
{
	struct jail *jail = *state;
	static const char TEXT[] = "/\0grep\0^Sig[BI]\0/proc/self/status\0" PATH_ENV;
	struct init_report report;
	int out[2];
	char text[256] = "";

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	spawn(jail, &(struct init_spawn){.tag = 1, .flags = INIT_PIPE_STDOUT, .n_argv = 3, .n_env = 1}, TEXT, sizeof(TEXT), &out[1], 1);
	(void)close(out[1]);
	expect(jail, INIT_SPAWNED, 1, &report);
	expect(jail, INIT_EXITED, 1, &report);
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	(void)close(out[0]);
	assert_string_equal(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void groups_are_joined(void **state)
{
	struct jail *jail = *state;
	struct init_report report;

	for (uint8_t group = 0; group < INIT_N_GROUPS; group++) {
		char text[8] = "";

		SPAWN(jail, (&(struct init_spawn){.tag = 1U + group, .group = group, .n_argv = 1, .n_env = 1}), "/\0true\0" PATH_ENV);
		expect(jail, INIT_SPAWNED, 1U + group, &report);
		expect(jail, INIT_EXITED, 1U + group, &report);
		assert_int_equal(pread(jail->groups[group], text, sizeof(text), 0), 1);
		assert_string_equal(text, "0");
		if (group + 1 < INIT_N_GROUPS)
			assert_int_equal(pread(jail->groups[group + 1], text, sizeof(text), 0), 0);
	}
}

static void a_group_that_cannot_be_joined(void **state)
{
	struct jail *jail = *state;
	struct init_report report;

	assert_int_equal(fcntl(jail->groups[INIT_GROUP_APPS], F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE), 0);
	SPAWN(jail, (&(struct init_spawn){.tag = 1, .group = INIT_GROUP_APPS, .n_argv = 1, .n_env = 1}), "/\0true\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 1, &report);
	assert_int_equal(report.error, EPERM);
	assert_int_equal(report.status, INIT_STEP_PROCESS);
}

static void exec_errors(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int step, error;
	} rows[] = {
	        {"/\0no-such-program\0" PATH_ENV, sizeof("/\0no-such-program\0" PATH_ENV), INIT_STEP_EXEC, ENOENT},
	        {"/\0/etc/passwd\0" PATH_ENV, sizeof("/\0/etc/passwd\0" PATH_ENV), INIT_STEP_EXEC, EACCES},
	        {"/\0/etc/passwd/x\0" PATH_ENV, sizeof("/\0/etc/passwd/x\0" PATH_ENV), INIT_STEP_EXEC, ENOTDIR},
	        {"/nowhere\0true\0" PATH_ENV, sizeof("/nowhere\0true\0" PATH_ENV), INIT_STEP_FOLDER, ENOENT},
	        {"/etc/passwd\0true\0" PATH_ENV, sizeof("/etc/passwd\0true\0" PATH_ENV), INIT_STEP_FOLDER, ENOTDIR},
	        {"/\0true\0PATH=/nowhere", sizeof("/\0true\0PATH=/nowhere"), INIT_STEP_EXEC, ENOENT},
	        {"nowhere\0true\0" PATH_ENV, sizeof("nowhere\0true\0" PATH_ENV), INIT_STEP_REQUEST, EINVAL},
	};
	struct jail *jail = *state;
	struct init_report report;

	for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
		spawn(jail, &(struct init_spawn){.tag = i + 1, .n_argv = 1, .n_env = 1}, rows[i].text, rows[i].len, NULL, 0);
		expect(jail, INIT_SPAWNED, i + 1, &report);
		assert_int_equal(report.error, rows[i].error);
		assert_int_equal(report.status, rows[i].step);
	}
	/* No EXITED of those that failed comes between. */
	SPAWN(jail, (&(struct init_spawn){.tag = 99, .n_argv = 1, .n_env = 1}), "/\0true\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 99, &report);
}

static void send_signal(const struct jail *jail, uint32_t tag, int signo)
{
	struct init_signal request = {.op = INIT_SIGNAL, .tag = tag, .signo = signo};

	assert_int_equal(ipc_send(jail->stage, &request, sizeof(request), NULL, 0, NULL), 0);
}

static void signals_reach_the_group(void **state)
{
	struct jail *jail = *state;
	struct init_report report;
	int out[2];
	char line[32] = "";
	static const char TEXT[] = "/\0sh\0-c\0sleep 100 & echo $!; wait\0" PATH_ENV;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	spawn(jail, &(struct init_spawn){.tag = 5, .flags = INIT_PIPE_STDOUT, .n_argv = 3, .n_env = 1}, TEXT, sizeof(TEXT), &out[1], 1);
	(void)close(out[1]);
	expect(jail, INIT_SPAWNED, 5, &report);
	assert_true(read(out[0], line, sizeof(line) - 1) > 0);
	send_signal(jail, 5, SIGUSR1);
	expect(jail, INIT_REFUSED, 5, &report);
	assert_int_equal(report.error, EINVAL);
	send_signal(jail, 5, SIGKILL);
	expect(jail, INIT_EXITED, 5, &report);
	assert_int_equal(report.signo, SIGKILL);
	assert_int_equal(read(out[0], line, sizeof(line)), 0); /* the sleeping child had the pipe too: it is gone */
	(void)close(out[0]);
	send_signal(jail, 5, SIGKILL);
	expect(jail, INIT_REFUSED, 5, &report);
	assert_int_equal(report.error, ESRCH);
}

static void bad_records(void **state)
{
	static const char rows[][16] = {"", "x", "\1\0\0\0", "\1\0\0\0\1\0\0\0", "\2\0\0\0\1\0\0\0", "\3\0\0\0\1\0\0\0", "\377\377\377\377\1\0\0\0",
	                                "\6\0\0\0\1\0\0\0", "\10\0\0\0\1\0\0\0"};
	static const size_t lens[] = {1, 1, 4, 8, 8, 8, 8, 8, 8};
	static char huge[LIMIT_SPAWN_BYTES + 4096];
	struct jail *jail = *state;
	struct init_report report;
	int extra[4] = {0, 0, 0, 0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(ipc_send(jail->stage, rows[i], lens[i], NULL, 0, NULL), 0);
		receive(jail, &report);
		assert_true(report.error != 0);
		assert_true(report.op == INIT_REFUSED || (report.op == INIT_SPAWNED && report.status == INIT_STEP_REQUEST));
	}
	assert_int_equal(ipc_send(jail->stage, huge, sizeof(huge), NULL, 0, NULL), 0);
	expect(jail, INIT_REFUSED, 0, &report);
	assert_int_equal(report.error, EMSGSIZE);
	assert_int_equal(ipc_send(jail->stage, huge, 16, extra, 4, NULL), 0);
	expect(jail, INIT_REFUSED, 0, &report);
	SPAWN(jail, (&(struct init_spawn){.tag = 1, .n_argv = 2, .n_env = 1}), "/\0sleep\000100\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 1, &report);
	SPAWN(jail, (&(struct init_spawn){.tag = 1, .n_argv = 1, .n_env = 1}), "/\0true\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 1, &report);
	assert_int_equal(report.error, EEXIST);
	send_signal(jail, 1, SIGKILL);
	expect(jail, INIT_EXITED, 1, &report);
}

static void thousand_spawns(void **state)
{
	struct jail *jail = *state;
	struct init_report report;

	for (uint32_t tag = 1; tag <= 1000; tag++) {
		SPAWN(jail, (&(struct init_spawn){.tag = tag, .n_argv = 1, .n_env = 1}), "/\0/bin/true\0" PATH_ENV);
		expect(jail, INIT_SPAWNED, tag, &report);
		assert_int_equal(report.error, 0);
		expect(jail, INIT_EXITED, tag, &report);
		assert_int_equal(report.status, 0);
	}
}

static bool can_send(const struct jail *jail, int wait_ms)
{
	struct pollfd ready = {.fd = jail->stage, .events = POLLOUT};

	return poll(&ready, 1, wait_ms) == 1;
}

/* Reports wait while the stage does not read, and init reads no further requests then; none is lost, and order holds for each tag. */
static void a_stage_that_reads_late(void **state)
{
	enum { N = 1000 };
	struct jail *jail = *state;
	static int seen[N + 1];
	struct init_report report;
	uint32_t sent = 0;

	memset(seen, 0, sizeof(seen));
	for (int done = 0; done < 2 * N; done++) {
		while (sent < N && can_send(jail, done == 0 ? 200 : 0))
			SPAWN(jail, (&(struct init_spawn){.tag = ++sent, .n_argv = 1, .n_env = 1}), "/\0/bin/true\0" PATH_ENV);
		if (done == 0)
			assert_in_range(sent, 100, N - 1);
		receive(jail, &report);
		assert_int_equal(report.error, 0);
		assert_in_range(report.tag, 1, N);
		assert_int_equal(report.op, seen[report.tag] == 0 ? INIT_SPAWNED : INIT_EXITED);
		seen[report.tag]++;
	}
}

static void orphans_are_reaped(void **state)
{
	struct jail *jail = *state;
	struct init_report report;
	char path[64];
	char text[256] = "";
	int fd;

	SPAWN(jail, (&(struct init_spawn){.tag = 1, .n_argv = 3, .n_env = 1}), "/\0sh\0-c\0(setsid true &) & exit 0\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 1, &report);
	expect(jail, INIT_EXITED, 1, &report);
	/* A child that is reported after the orphans' end shows that init came by; then it has no child left. */
	SPAWN(jail, (&(struct init_spawn){.tag = 2, .n_argv = 2, .n_env = 1}), "/\0sleep\0000.2\0" PATH_ENV);
	expect(jail, INIT_SPAWNED, 2, &report);
	expect(jail, INIT_EXITED, 2, &report);
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", jail->pid, jail->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip(); /* a kernel without CONFIG_PROC_CHILDREN */
	assert_int_equal(read(fd, text, sizeof(text) - 1), 0);
	(void)close(fd);
}

/* Runs the launcher against init's door; our side of the link answers. */
static int launch(const struct jail *jail, const char *name, const struct init_launched *answer, char *said, size_t size)
{
	int err[2], status;
	pid_t pid;

	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(err[1], STDERR_FILENO);
		(void)setenv("GLOVEBOX_LAUNCH_SOCKET", jail->door, 1);
		jail_exec("glovebox-launch", name);
	}
	(void)close(err[1]);
	if (answer) {
		struct pollfd ready = {.fd = jail->stage, .events = POLLIN};
		struct init_launched reply = *answer;
		struct init_launch asked;
		size_t n_fds;

		assert_int_equal(poll(&ready, 1, 10000), 1);
		assert_int_equal(ipc_recv(jail->stage, &asked, sizeof(asked), NULL, 0, &n_fds, NULL), sizeof(asked));
		assert_int_equal(asked.op, INIT_LAUNCH);
		assert_string_equal(asked.name, name);
		reply.ticket = asked.ticket;
		assert_int_equal(ipc_send(jail->stage, &reply, sizeof(reply), NULL, 0, NULL), 0);
	}
	memset(said, 0, size);
	for (ssize_t n = 0, at = 0; (n = read(err[0], said + at, size - (size_t)at - 1)) > 0;)
		at += n;
	(void)close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void launcher(void **state)
{
	struct init_launched answer = {.op = INIT_LAUNCHED, .ok = 1};
	struct jail *jail = *state;
	char said[512];
	char name[200] = "";

	assert_int_equal(launch(jail, "editor", &answer, said, sizeof(said)), 0);
	assert_string_equal(said, "");
	answer = (struct init_launched){.op = INIT_LAUNCHED, .why = "this image has no such app"};
	assert_int_equal(launch(jail, "office-writer", &answer, said, sizeof(said)), 1);
	assert_string_equal(said, "glovebox-launch: office-writer: this image has no such app\n");
	assert_int_equal(launch(jail, "../sh", NULL, said, sizeof(said)), 1);
	assert_non_null(strstr(said, "a name is"));
	assert_int_equal(launch(jail, "-x", NULL, said, sizeof(said)), 2);
	memset(name, 'a', sizeof(name) - 1);
	assert_int_equal(launch(jail, name, NULL, said, sizeof(said)), 1);
	assert_non_null(strstr(said, "a name is"));
}

/* More callers than places: those that say nothing hold a place until their time is over, and then the next ones are served. */
static void a_full_door(void **state)
{
	struct init_launched answer = {.op = INIT_LAUNCHED, .ok = 1};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct jail *jail = *state;
	int idle[LIMIT_DOOR];
	char said[512];

	memcpy(name.sun_path, jail->door, strlen(jail->door) + 1);
	for (int i = 0; i < LIMIT_DOOR; i++) {
		idle[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(idle[i], (const struct sockaddr *)&name, sizeof(name)), 0);
	}
	(void)close(idle[0]);
	assert_int_equal(launch(jail, "editor", &answer, said, sizeof(said)), 0);
	assert_int_equal(write(idle[1], "-x\n", 3), 3);
	assert_int_equal(read(idle[1], &answer, sizeof(answer)), sizeof(answer));
	assert_int_equal(answer.ok, 0);
	for (int i = 1; i < LIMIT_DOOR; i++)
		(void)close(idle[i]);
}

/* Without the warden's byte nothing is started. */
static void refuses_to_start(void **state)
{
	struct jail jail = {.door = "/nowhere/x"};
	int stage[2], groups[2], go[2], status;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, stage), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, groups), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	(void)close(groups[0]);
	jail_fork(&jail, (const int[]){go[0], stage[1], groups[1]});
	(void)close(go[1]);
	(void)close(stage[1]);
	assert_int_equal(waitpid(jail.pid, &status, 0), jail.pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(read(stage[0], &byte, 1), 0);
	(void)close(stage[0]);
	(void)close(groups[1]);
	(void)close(go[0]);
}

#define WITH_INIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        WITH_INIT(exit_codes_and_signals),
	        WITH_INIT(pipes),
	        WITH_INIT(clean_start),
	        WITH_INIT(filters_are_loaded),
	        WITH_INIT(clean_signals),
	        WITH_INIT(groups_are_joined),
	        WITH_INIT(a_group_that_cannot_be_joined),
	        WITH_INIT(exec_errors),
	        WITH_INIT(signals_reach_the_group),
	        WITH_INIT(bad_records),
	        WITH_INIT(thousand_spawns),
	        WITH_INIT(a_stage_that_reads_late),
	        WITH_INIT(orphans_are_reaped),
	        WITH_INIT(launcher),
	        WITH_INIT(a_full_door),
	        cmocka_unit_test(refuses_to_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
