/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: what this host can and cannot do. gloveboxd --probe looks, with the code that sessions are made with; here its lines are shown,
 * and the images, whose manifests are JSON, are added. No server is asked.
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define DEFAULT_STATE "/var/lib/glovebox"
#define DISPLAY_IMAGE "display"
#define IMAGES_PURPOSE "roots of sessions and of their displays"
#define SHORT_HASH 12
#define PROBE_BYTES (1024 * 1024)

static const struct arg_option doctor_options[] = {
	{"state", 0, "DIR", false, "the server's folder (default " DEFAULT_STATE ")"},
	{"images", 0, "DIR", false, "the images folder (default DIR/images of --state)"},
	{"ceilings", 0, "FILE", false, "the server's ceilings"},
	{"listen", 0, "ADDR:PORT", false, "where it is to serve (default 127.0.0.1:7070)"},
};

/* What gloveboxd calls the same. */
static const char *const PROBE_OPTIONS[ARRAY_LEN(doctor_options)] = {"--state", "--images", "--ceilings", "--listen"};

/* The fields of a row, in the order of gloveboxd's lines (session/warden/probe.h). */
static const char *const FIELDS[] = {"name", "purpose", "result", "value", "effect", "mend"};

static void add_row(json_t *rows, const char *const *fields)
{
	json_t *row = json_object();

	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++)
		(void)json_object_set_new(row, FIELDS[i], json_string(fields[i]));
	(void)json_array_append_new(rows, row);
}

static int take_line(json_t *rows, char *line, struct err *e)
{
	const char *fields[ARRAY_LEN(FIELDS)];
	char *rest = line;

	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		fields[i] = strsep(&rest, "\t");
		if (!fields[i])
			return err_set(e, ERR_INTERNAL, NULL, "gloveboxd --probe writes lines of another form: it is of another version");
	}
	add_row(rows, fields);
	return 0;
}

/* The child's side: becomes gloveboxd, with the options of ours that it knows. */
static void become_probe(const char *program, const struct args *args, int out)
{
	const char *argv[2 * ARRAY_LEN(doctor_options) + 3] = {program, "--probe"};
	size_t n = 2;

	for (size_t i = 0; i < ARRAY_LEN(doctor_options); i++) {
		const char *value = args_get(args, doctor_options[i].name);

		if (value) {
			argv[n++] = PROBE_OPTIONS[i];
			argv[n++] = value;
		}
	}
	if (dup2(out, STDOUT_FILENO) >= 0)
		execv(program, (char *const *)(uintptr_t)argv);
	fprintf(stderr, "glovebox: %s: %s\n", program, strerror(errno));
	_exit(127);
}

/* What gloveboxd --probe prints; the caller's. */
static int run_probe(const struct args *args, char **text, struct err *e)
{
	auto_free char *program = NULL;
	int ends[2], status = -1;
	ssize_t len;
	pid_t pid;

	if (cli_beside("gloveboxd", &program, e))
		return -1;
	if (pipe(ends) < 0)
		return err_sys(e, "a pipe");
	pid = fork();
	if (pid == 0)
		become_probe(program, args, ends[1]);
	util_close_fd(&ends[1]);
	len = util_read_file(ends[0], PROBE_BYTES, text);
	util_close_fd(&ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || len < 0)
		return err_sys(e, "running %s", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(e, ERR_INTERNAL, NULL, "%s --probe ended with status %d", program, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static int look_host(const struct args *args, json_t *rows, struct err *e)
{
	auto_free char *text = NULL;
	char *save = NULL;

	if (run_probe(args, &text, e))
		return -1;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (take_line(rows, line, e))
			return -1;
	return 0;
}

static long long tree_blocks; /* nftw hands its function nothing of ours */

static int count_blocks(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)path, (void)kind, (void)where;
	tree_blocks += st->st_blocks;
	return 0;
}

/* The manifest names a tree, and the tree is there: that is how the server finds it. */
static void look_image(const char *folder, const json_t *image, json_t *rows)
{
	const char *name = json_string_value(json_object_get(image, "name")), *hash = json_string_value(json_object_get(image, "hash"));
	auto_free char *root = util_printf("%s/%s-%.*s/root", folder, name ? name : "", SHORT_HASH, hash ? hash : "");
	auto_free char *title = util_printf("image %s", name ? name : "without a name");
	auto_free char *mend = util_printf("sudo glovebox image build --images %s %s", folder, name ? name : "NAME");
	auto_free char *value = NULL;
	bool there = name && hash && access(root, X_OK) == 0;

	tree_blocks = 0;
	if (there && nftw(root, count_blocks, 32, FTW_PHYS | FTW_MOUNT) == 0)
		value = util_printf("%.*s, %lld MB, %zu packages", SHORT_HASH, hash, tree_blocks / 2048,
		                    json_array_size(json_object_get(image, "packages")));
	else
		value = util_printf("its manifest names %s, which is not there", root);
	add_row(rows, (const char *const[]){title, "what sessions show", there ? "ok" : "missing", value, there ? "" : "no session of it can be made",
	                                    there ? "" : mend});
}

/* What has to be there: the display's root, and one image of sessions at least. */
static void look_for_images(const char *folder, json_t *images, json_t *rows)
{
	auto_free char *mend = util_printf("sudo glovebox image build --images %s " DISPLAY_IMAGE " minimal", folder);
	bool display = false, other = false;
	const json_t *image;
	size_t i;

	json_array_foreach(images, i, image) {
		const char *name = json_string_value(json_object_get(image, "name"));
		bool is_display = name && strcmp(name, DISPLAY_IMAGE) == 0;

		display = display || is_display;
		other = other || !is_display;
		look_image(folder, image, rows);
	}
	if (!display || !other)
		add_row(rows, (const char *const[]){"images", IMAGES_PURPOSE, "missing", display ? "none but the display's" : other ? "no display" : "none",
		                                    "no session can run", mend});
}

static int look_images(const struct args *args, json_t *rows, struct err *e)
{
	const char *state = args_get(args, "state"), *given = args_get(args, "images");
	auto_free char *folder = given ? util_strdup(given) : util_printf("%s/images", state ? state : DEFAULT_STATE);
	json_auto_t *images = json_array();

	if (access(folder, X_OK) < 0 && errno == EACCES) {
		add_row(rows, (const char *const[]){"images", IMAGES_PURPOSE, "unknown", folder, "not looked at: this takes root", "sudo glovebox doctor"});
		return 0;
	}
	if (image_read_manifests(folder, images, e))
		return -1;
	look_for_images(folder, images, rows);
	return 0;
}

static void show_row(const json_t *row)
{
	static const struct {
		const char *result, *shown, *colour;
	} marks[] = {{"ok", "ok", "\033[32m"}, {"weaker", "weaker", "\033[33m"}, {"missing", "MISSING", "\033[1;31m"}, {"unknown", "?", "\033[33m"}};
	const char *result = json_string_value(json_object_get(row, "result"));
	const char *effect = json_string_value(json_object_get(row, "effect"));
	bool colour = isatty(STDOUT_FILENO) != 0;

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strcmp(result, marks[i].result) == 0)
			printf("%s%-9s%s", colour ? marks[i].colour : "", marks[i].shown, colour ? "\033[0m" : "");
	show_value(stdout, json_object_get(row, "name"), 28);
	show_value(stdout, json_object_get(row, "value"), 0);
	putchar('\n');
	if (*effect) {
		printf("%9s(", "");
		show_value(stdout, json_object_get(row, "purpose"), 0);
		printf(") ");
		show_value(stdout, json_object_get(row, "effect"), 0);
		printf("\n%9smend: ", "");
		show_value(stdout, json_object_get(row, "mend"), 0);
		putchar('\n');
	}
}

static size_t count(const json_t *rows, const char *result)
{
	const json_t *row;
	size_t i, n = 0;

	json_array_foreach(rows, i, row)
		n += strcmp(json_string_value(json_object_get(row, "result")), result) == 0;
	return n;
}

static int run_doctor(struct cli *cli)
{
	json_auto_t *rows = json_array();
	json_auto_t *answer = NULL;
	struct err e = {0};
	const json_t *row;
	size_t i, missing, unknown;

	if (look_host(&cli->args, rows, &e) || look_images(&cli->args, rows, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	missing = count(rows, "missing");
	unknown = count(rows, "unknown");
	if (cli->json) {
		answer = json_pack("{s:b, s:O}", "ok", missing + unknown == 0, "rows", rows);
		show_json(answer);
	} else {
		json_array_foreach(rows, i, row)
			show_row(row);
		puts(missing ? "\nNo session can run here yet." : unknown ? "\nNothing is missing as far as this user can look." : "\nSessions can run here.");
	}
	return missing + unknown ? CLI_REFUSED : CLI_DONE;
}

const struct cli_command doctor_look = {
	"doctor", "", "look what this host can and cannot do for a server that you start, and what mends it (status 0 if a session can run)",
	doctor_options, ARRAY_LEN(doctor_options), 0, 0, ARGS_MAX, run_doctor,
};
