/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: a file of acts, played one after another on a session.
 *
 * The file is JSON: a list of actions, which is one act; or an object whose member "steps" is a list of acts, each an act object, a list of actions or
 * one action, and whose member "spec", if any, is the session that they need.
 */
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/answer.h"
#include "session/cli/check.h"
#include "session/cli/commands.h"
#include "session/cli/picture.h"
#include "session/cli/play.h"
#include "session/cli/show.h"

static const struct arg_option run_options[] = {
	{"session", 0, "ID", false, "play on this session; without it a new one is made, and ended afterwards"},
	{"keep", 0, NULL, false, "do not end the session that was made; print its id"},
	{"image", 0, "NAME", false, "of the new session: the image; this and what follows goes over the file's spec"},
	{"app", 0, "NAME", true, "an app that it starts with"},
	{"size", 0, "WxH", false, "pixels of its display"},
	{"label", 0, "K=V", true, "a label"},
	{"env", 0, "K=V", true, "an environment variable of apps and commands"},
	{"ttl", 0, "SECONDS", false, "its life, at most"},
	{"output", 'o', "FOLDER", false, "write the picture after each step, and the journal, into this folder"},
};
static const char *const of_new[] = {"image", "app", "size", "label", "env", "ttl", "keep"};

struct run {
	struct cli *cli;
	struct play play;
	json_t *spec;  /* an object */
	json_t *steps; /* act objects */
	json_t *answers;
	const char *folder; /* or NULL */
};

static const struct field file_fields[] = {
	{"spec", FIELD_OBJECT, false, 0, 0, NULL, NULL, NULL, NULL, "the session that the steps need"},
	{"steps", FIELD_ANY, true, 0, 0, NULL, NULL, NULL, NULL, "acts, in order"},
};
static const struct form file_form = {file_fields, ARRAY_LEN(file_fields), NULL};

/* The steps of a file, as act objects. */
static int read_steps(json_t *steps, json_t *out, struct err *e)
{
	char path[32];
	json_t *step;
	size_t i;

	if (!json_is_array(steps) || json_array_size(steps) < 1 || json_array_size(steps) > LIMIT_RUN_STEPS)
		return err_set(e, ERR_BAD_FIELD, "/steps", "steps must be a list of 1 to %d acts", LIMIT_RUN_STEPS);
	json_array_foreach(steps, i, step) {
		(void)snprintf(path, sizeof(path), "/steps/%zu", i);
		if (!json_is_array(step) && !json_is_object(step))
			return err_set(e, ERR_BAD_FIELD, path, "a step must be an act object, a list of actions, or one action");
		if (json_object_get(step, "check_only"))
			return err_set(e, ERR_UNKNOWN_FIELD, path, "check_only has no meaning in a step: all steps are checked before the first");
		json_array_append_new(out, answer_act(step));
	}
	return 0;
}

static int read_file(struct run *run, const char *file, struct err *e)
{
	auto_free char *text = NULL;
	json_auto_t *value = NULL;
	size_t len;

	if (cli_read_file(file, LIMIT_RUN_BYTES, &text, &len, e) < 0 || json_parse(text, len, &value, e) < 0)
		return -1;
	run->steps = json_array();
	run->spec = json_object();
	if (json_is_array(value))
		return json_array_append_new(run->steps, answer_act(value));
	if (form_check(&file_form, value, "", NULL, e) < 0)
		return -1;
	if (json_object_get(value, "spec"))
		json_object_update(run->spec, json_object_get(value, "spec"));
	return read_steps(json_object_get(value, "steps"), run->steps, e);
}

static int read_options(struct run *run, struct err *e)
{
	const struct args *args = &run->cli->args;

	run->folder = args_get(args, "output");
	for (size_t i = 0; args_get(args, "session") && i < ARRAY_LEN(of_new); i++)
		if (args_get(args, of_new[i]))
			return err_set(e, ERR_BAD_REQUEST, NULL, "--%s is for a new session; with --session nothing is made", of_new[i]);
	if (session_put_options(run->spec, args, e) < 0)
		return -1;
	if (run->spec && json_object_get(run->spec, "count"))
		return err_set(e, ERR_UNKNOWN_FIELD, "/spec/count", "a file is played on one session");
	return run->folder ? play_make_folder(run->folder, e) : 0;
}

/* With a folder, each step has a picture. */
static void want_pictures(struct run *run)
{
	json_t *step;
	size_t i;

	json_array_foreach(run->steps, i, step)
		if (run->folder && !json_object_get(step, "observe") && !answer_has_screenshot(step))
			json_object_set_new(step, "observe", json_true());
}

/* Says which step a refusal is about. */
static void name_step(const struct run *run, size_t index)
{
	if (!run->cli->json)
		fprintf(stderr, "  in step %zu of %zu\n", index + 1, json_array_size(run->steps));
}

static int check_steps(struct run *run)
{
	const json_t *step;
	size_t i;

	json_array_foreach(run->steps, i, step) {
		int status = play_check(&run->play, step);

		if (status == CLI_DONE)
			continue;
		name_step(run, i);
		return status == CLI_REFUSED ? CLI_USAGE : status;
	}
	return CLI_DONE;
}

static int save_picture(struct run *run, size_t index, json_t *answer, struct err *e)
{
	const json_t *picture = picture_find(answer);
	const char *format = json_string_value(json_object_get(picture, "format"));
	auto_free char *file = NULL;

	if (!run->folder || !picture || !json_is_string(json_object_get(picture, "data")))
		return 0;
	file = util_printf("%s/step-%03zu.%s", run->folder, index + 1,
	                   format && strcmp(format, "jpeg") == 0 ? "jpg" : format && strcmp(format, "webp") == 0 ? "webp" : "png");
	return picture_save(file, picture, e);
}

/* The answer as --json shows it: pictures that are in files are not in it. */
static void strip_picture(json_t *holder)
{
	json_t *picture = json_object_get(holder, "picture");

	if (json_is_object(picture))
		json_object_del(picture, "data");
}

static void keep_answer(struct run *run, json_t *answer)
{
	json_t *result;
	size_t i;

	if (run->folder) {
		strip_picture(json_object_get(answer, "observation"));
		json_array_foreach(json_object_get(answer, "results"), i, result)
			strip_picture(result);
	}
	json_array_append(run->answers, answer);
}

static int play_step(struct run *run, size_t index)
{
	json_auto_t *answer = NULL;
	struct err e = {0};
	int status = play_act(&run->play, json_array_get(run->steps, index), &answer);

	if (status != CLI_DONE) {
		name_step(run, index);
		return status;
	}
	if (!run->cli->json) {
		printf("step %zu\n", index + 1);
		answer_show(answer);
		fflush(stdout);
	}
	if (save_picture(run, index, answer, &e) < 0)
		status = cli_fail(run->cli, CLI_REFUSED, &e);
	keep_answer(run, answer);
	return status == CLI_DONE && !json_is_true(json_object_get(answer, "ok")) ? CLI_REFUSED : status;
}

static int play_steps(struct run *run)
{
	int status = CLI_DONE;

	for (size_t i = 0; status == CLI_DONE && i < json_array_size(run->steps); i++)
		status = play_step(run, i);
	return status;
}

/* Before the first step: a session, on which all of them can be done. */
static int get_ready(struct run *run)
{
	const char *id = args_get(&run->cli->args, "session");
	auto_reply reply = {0};
	struct err e = {0};
	int status;

	if (id)
		return play_on(&run->play, id, &e) < 0 ? cli_fail(run->cli, CLI_USAGE, &e) : check_steps(run);
	status = check_before(run->cli, run->steps);
	if (status == CLI_DONE)
		status = play_create(&run->play, run->spec, &reply);
	return status == CLI_DONE ? check_steps(run) : status;
}

static void show_end(const struct run *run, int status)
{
	size_t n = json_array_size(run->steps), done = json_array_size(run->answers);
	json_auto_t *all = NULL;

	if (run->cli->json) {
		all = json_pack("{s:b, s:s*, s:i, s:O}", "ok", status == CLI_DONE, "session", run->play.id, "of", (int)n, "steps", run->answers);
		show_json(all);
		return;
	}
	if (status == CLI_DONE)
		printf("%zu step%s done\n", n, n == 1 ? "" : "s");
	else if (done > 0)
		printf("stopped at step %zu of %zu\n", done, n);
	if (args_get(&run->cli->args, "keep") && run->play.id)
		printf("session %s\n", run->play.id);
}

static int play_all(struct run *run)
{
	int status = play_begin(&run->play, run->cli);
	struct err e = {0};

	if (status != CLI_DONE)
		return status;
	status = get_ready(run);
	if (status == CLI_DONE) {
		status = play_steps(run);
		if (args_get(&run->cli->args, "keep") && !*run->play.stop)
			run->play.is_own = false;
		if (!play_end(&run->play) && status == CLI_DONE)
			status = CLI_REFUSED;
		if (run->folder && !*run->play.stop && play_save(&run->play, run->folder, &e) < 0)
			status = cli_fail(run->cli, CLI_REFUSED, &e);
		show_end(run, status);
	}
	(void)play_finish(&run->play);
	return play_status(&run->play, status);
}

static int run_run(struct cli *cli)
{
	struct run run = {.cli = cli, .answers = json_array()};
	struct err e = {0};
	int status;

	if (read_file(&run, cli->args.words[0], &e) < 0 || read_options(&run, &e) < 0) {
		status = cli_fail(cli, CLI_USAGE, &e);
	} else {
		want_pictures(&run);
		status = play_all(&run);
	}
	json_decref(run.spec);
	json_decref(run.steps);
	json_decref(run.answers);
	return status;
}

const struct cli_command run_file = {
	"run", "FILE [--session ID | --image NAME …]", "play a file of actions on a session, up to the first that fails",
	run_options, ARRAY_LEN(run_options), 1, 1, ARGS_MAX, run_run,
};
