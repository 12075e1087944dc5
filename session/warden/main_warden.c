/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gloveboxd, the warden: the one process that is root, or root of a user namespace of its own. It starts the front and builds sessions; it reads no JSON and no HTTP. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/config.h"
#include "session/warden/front.h"
#include "session/warden/hooks.h"
#include "session/warden/notify.h"
#include "session/warden/options.h"
#include "session/warden/prepare.h"
#include "session/warden/probe.h"
#include "session/warden/secrets.h"
#include "session/warden/session.h"
#include "session/warden/settle.h"
#include "session/warden/token.h"
#include "session/warden/usage.h"
#include "session/warden/user.h"
#include "session/warden/warden.h"

#define EXIT_USAGE 2

static char console_code[TOKEN_CODE_SIZE];
static int manager = -1; /* the service manager's socket */
static int exit_status = EXIT_FAILURE;

/* Takes the operator's files, if they are named, as sealed copies, and has those check them that will read them. */
static int take_config(struct warden *warden, const struct options *options, struct err *e)
{
	bool only_checks = options->wish == OPTIONS_CHECK_CONFIG;
	uid_t uid = geteuid() == 0 ? warden_uid(warden, 0, SLOT_FRONT) : 0;
	int rc;

	if (config_copy(options->config, false, &warden->config, e) < 0)
		return -1;
	rc = options->config ? config_check(warden->config, options->config, "glovebox-front", warden->programs[PROGRAM_FRONT], uid, !only_checks, e) : 0;
	if (rc != 0)
		return rc < 0 ? -1 : err_set(e, ERR_BAD_FIELD, NULL, "the configuration is wrong: nothing was started");
	return hooks_create(&warden->hooks, options->webhooks, warden->programs[PROGRAM_EGRESS], uid, only_checks, e);
}

/* Makes a folder, or takes the one that is there. Images are no secret, and the front must read their manifests. */
static int make_open_folder(const char *path, struct err *e)
{
	if (mkdir(path, 0755) == 0)
		return chmod(path, 0755) < 0 ? err_sys(e, "%s", path) : 0;
	return errno == EEXIST ? 0 : err_sys(e, "making %s", path);
}

/* The folder of images, with the folder of their manifests, which the front shows. */
static int find_images(struct warden *warden, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	auto_free char *real = NULL;

	if (dir)
		(void)snprintf(path, sizeof(path), "%s", dir);
	else
		(void)state_path(&warden->state, path, sizeof(path), "images", "");
	if (make_open_folder(path, e) < 0)
		return -1;
	real = realpath(path, NULL);
	if (!real || strlen(real) >= sizeof(warden->images) - 16)
		return err_sys(e, "%s", path);
	(void)snprintf(warden->images, sizeof(warden->images), "%s", real);
	(void)snprintf(path, sizeof(path), "%s/manifests", warden->images);
	return make_open_folder(path, e);
}

/* The token, the console's code, and what the front must know. */
static int make_hello(struct warden *warden, uint32_t request_ms, struct err *e)
{
	struct warden_hello *hello = &warden->hello;
	char token[TOKEN_SIZE];
	struct err given = {0};
	int gives;

	*hello = (struct warden_hello){.op = WARDEN_HELLO, .max_sessions = warden->ceilings.sessions, .request_ms = request_ms};
	if (token_load(warden->state.fd, token, e) < 0 || token_hash(token, hello->operator_token_sha256, e) < 0)
		return -1;
	gives = warden->user.ordinary ? token_give_to_caller(token, &given) : token_give_to_sudo_user(token, &given);
	if (gives < 0)
		log_err(LOG_WARN, &given, "the command line of the user who started this gets no token");
	explicit_bzero(token, sizeof(token));
	token_make_code(console_code);
	return token_hash(console_code, hello->code_sha256, e);
}

/* The jails get copies of the tools. */
static int share_tools(const struct warden *warden, int tools[N_STATE_TOOLS], struct err *e)
{
	int rc = state_mount_share(&warden->state, tools, e);

	for (int i = 0; i < N_STATE_TOOLS; i++)
		util_close_fd(&tools[i]);
	return rc;
}

/* Everything up to the loop, in an order in which the cheap refusals come first and nothing is left half made. */
static int set_up(struct warden *warden, const struct options *options, struct err *e)
{
	int tools[N_STATE_TOOLS];
	char groups[600], cgroup2[600];

	if (prepare_ceilings(&warden->ceilings, options->ceilings, e) < 0 || prepare_programs(warden->programs, tools, e) < 0 ||
	    take_config(warden, options, e) < 0)
		return -1;
	if (options->wish == OPTIONS_CHECK_CONFIG)
		return 0;
	if (notify_open(&manager, e) < 0 || state_open(&warden->state, options->state, e) < 0 || find_images(warden, options->images, e) < 0 ||
	    make_hello(warden, options->request_ms, e) < 0 || serve_open(&warden->serve, options, e) < 0)
		return -1;
	warden->has_tools = tools[STATE_TOOL_LAUNCH] >= 0 || tools[STATE_TOOL_ACCESS] >= 0 || tools[STATE_TOOL_RELAY] >= 0;
	(void)state_path(&warden->state, warden->build, sizeof(warden->build), "build", "");
	(void)state_path(&warden->state, groups, sizeof(groups), "groups", "");
	(void)state_path(&warden->state, cgroup2, sizeof(cgroup2), "cgroup2", "");
	/* Who is root of a user namespace alone could not send anybody back to the host's network. */
	warden->net = warden->user.ordinary ? -1 : open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (warden->net < 0 && !warden->user.ordinary)
		return err_sys(e, "the network namespace");
	if (settle_mounts(e) < 0 || cgroup_create(&warden->cgroups, warden->state.name, groups, cgroup2, e) < 0 ||
	    state_prepare(&warden->state, warden_uid(warden, 0, SLOT_FRONT), e) < 0 || share_tools(warden, tools, e) < 0)
		return -1;
	return settle_rights(warden->user.ordinary, e);
}

static void on_request(struct warden *warden, const struct warden_request *request)
{
	if (request->op == WARDEN_CREATE)
		session_create(warden, request);
	else if (request->op == WARDEN_SEAL)
		session_seal(warden, request->session);
	else if (request->op == WARDEN_SET_TTL)
		session_set_ttl(warden, request);
	else if (request->op == WARDEN_DROP_JOURNAL)
		session_drop_journal(warden, request);
	else if (request->op == WARDEN_USAGE)
		usage_answer(warden, request);
	else if (request->op == WARDEN_ADD_VIEWER)
		session_add_viewer(warden, request);
	else
		session_end(warden, request->session);
}

static void on_secret(struct warden *warden, const struct warden_secret *secret)
{
	struct err e = {0};
	int rc = secret->op == WARDEN_PUT_SECRET ? secrets_put(&warden->state, secret, &e) : secrets_drop(&warden->state, secret->name, &e);

	if (rc < 0 && e.code == ERR_INTERNAL)
		log_err(LOG_ERROR, &e, "the secret %s", secret->name);
	front_answer(warden->front, secret->tag, "", rc, &e);
}

static void on_serving(struct warden *warden)
{
	const char *url = serve_browser_url(&warden->serve);
	struct err e = {0};

	if (url)
		fprintf(stderr, "console: %s/#code=%.4s-%s\n", url, console_code, console_code + 4);
	explicit_bzero(console_code, sizeof(console_code));
	fputs("READY", stdout);
	for (size_t i = 0; i < warden->serve.n_listeners; i++)
		printf(" %s", warden->serve.listeners[i].url);
	puts("");
	(void)fflush(stdout);
	if (notify_ready(manager, &e) < 0)
		log_err(LOG_WARN, &e, "the service manager");
	util_close_fd(&manager);
}

static void on_settled(struct warden *warden)
{
	if (!warden->sessions)
		front_stop(warden->front);
}

static void on_hooks_gone(struct warden *warden)
{
	exit_status = EXIT_SUCCESS;
	loop_stop(warden->loop);
}

static void on_front_gone(struct warden *warden, bool served)
{
	if (warden->stopping) {
		hooks_stop(warden->hooks, warden, on_hooks_gone);
	} else if (!served) {
		log_error("the front ended before it served");
		loop_stop(warden->loop);
	} else {
		session_end_all(warden, true);
	}
}

static void on_signal(void *arg, int signo)
{
	struct warden *warden = arg;

	if (warden->stopping)
		return;
	if (signo == SIGHUP && warden->serve.tls.certificate >= 0) {
		front_renew(warden->front);
		return;
	}
	log_info("ending, by signal %d", signo);
	warden->stopping = true;
	if (warden->sessions)
		session_end_all(warden, false);
	else
		on_settled(warden);
}

static int run(struct warden *warden, struct err *e)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, 0};
	static const struct front_ops ops = {.request = on_request, .secret = on_secret, .serving = on_serving, .gone = on_front_gone};

	warden->loop = loop_create(e);
	if (!warden->loop || loop_signals(warden->loop, signals, on_signal, warden, e) < 0)
		return -1;
	warden->settled = on_settled;
	hooks_start(warden->hooks, warden);
	warden->front = front_create(warden, &ops);
	loop_run(warden->loop);
	front_destroy(warden->front);
	hooks_destroy(warden->hooks);
	loop_destroy(warden->loop);
	return 0;
}

/* More than the usual 1,024: sessions have some ten descriptors each here. */
static void raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* A descriptor that comes later must never be taken for a standard one. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	util_close_fd(&fd);
}

static void keep_log_env(struct warden *warden)
{
	static const char *const names[WARDEN_LOG_ENV] = {"GLOVEBOX_LOG", "GLOVEBOX_LOG_FORMAT"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (getenv(names[i]))
			(void)snprintf(warden->log_env[warden->n_log_env++], sizeof(warden->log_env[0]), "%s=%.11s", names[i], getenv(names[i]));
}

int main(int argc, char **argv)
{
	struct warden warden = {.config = -1, .net = -1, .serve = {.tls = {-1, -1}, .asked = {-1, -1}}};
	struct options options;
	struct err e = {0};

	fill_standard_fds();
	log_init("gloveboxd", NULL);
	if (options_parse(&options, argc, argv, &e) < 0) {
		fprintf(stderr, "gloveboxd: %s\n%s", e.msg, options_help);
		return EXIT_USAGE;
	}
	if (options.wish == OPTIONS_PROBE) {
		/* What cannot be entered is a row, and so is what nobody but root can look at. */
		(void)user_enter(&warden.user, &options, argv, NULL);
		probe_run(&options, stdout);
		return EXIT_SUCCESS;
	}
	if (options.wish != OPTIONS_RUN && options.wish != OPTIONS_CHECK_CONFIG) {
		fputs(options.wish == OPTIONS_VERSION ? "gloveboxd " GLOVEBOX_VERSION "\n" : options_help, stdout);
		return EXIT_SUCCESS;
	}
	keep_log_env(&warden);
	if (log_env_fault())
		log_warn("%s", log_env_fault());
	(void)umask(077);
	(void)signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	if ((options.wish == OPTIONS_RUN && user_enter(&warden.user, &options, argv, &e) < 0) || set_up(&warden, &options, &e) < 0 ||
	     (options.wish == OPTIONS_RUN && run(&warden, &e) < 0)) {
		/* The text for people; what the system said only where it adds something. */
		fprintf(stderr, "gloveboxd: %s%s%s\n", e.msg, e.sys_errno ? ": " : "", e.sys_errno ? strerror(e.sys_errno) : "");
		exit_status = EXIT_FAILURE;
	} else if (options.wish == OPTIONS_CHECK_CONFIG) {
		exit_status = EXIT_SUCCESS;
	}
	serve_close(&warden.serve);
	cgroup_destroy(warden.cgroups);
	state_close(&warden.state);
	return exit_status;
}
