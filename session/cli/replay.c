/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay: a recorded session, played again on a fresh one and compared step by step. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/baseline.h"
#include "session/cli/commands.h"
#include "session/cli/picture.h"
#include "session/cli/play.h"
#include "session/cli/replay.h"
#include "session/cli/show.h"

static const struct arg_option replay_options[] = {
	{"keep-going", 'k', NULL, false, "go on after a step that differs"},
	{"wait", 0, "MS", false, "for the screen to look as recorded, before and after each act (default 5000)"},
	{"tolerance", 0, "N", false, "how far red, green or blue of a pixel may be off, 0 to 255 (default 2)"},
	{"max-diff", 0, "PERCENT", false, "how many of the pixels may differ (default 0)"},
	{"ignore", 0, "X,Y,W,H", true, "leave this part of the screen out"},
	{"ignore-file", 0, "FILE", false, "regions to leave out (default: ignore.json in the folder, or ZIP.ignore.json)"},
	{"clock", 0, NULL, false, "compare the clock of the panel, too"},
	{"follow", 0, NULL, false, "click what has moved where it is now; from then on pictures are not compared"},
	{"any-node", 0, NULL, false, "what a click meets need not be called as it was"},
	{"env", 0, "NAME[=VALUE]", true, "a value of the environment, which journals do not keep; without = it is left out"},
	{"stdin", 0, "CALL.ACTION=FILE", true, "input of a command, which journals do not keep"},
	{"text", 0, "CALL.ACTION=FILE", true, "what was typed where the journal has its length alone, such as a password"},
	{"spec", 0, "FILE", false, "members that go over the recorded spec (JSON)"},
	{"any-image", 0, NULL, false, "take the image of that name even if it is another one now"},
	{"broken", 0, NULL, false, "replay what is good of a journal that was changed or damaged"},
	{"junit", 0, "FILE", false, "write JUnit XML"},
	{"report", 0, "FILE", false, "write a page to look at (HTML, in one file)"},
	{"output", 'o', "FOLDER", false, "write the new journal and the pictures that differ"},
	{"update", 0, NULL, false, "accept pictures that differ: the new journal takes the place of JOURNAL when all was played"},
};

/* The clock of the panel (images/recipes/desktop), in the right bottom corner. */
#define CLOCK_WIDTH_PX 72
#define CLOCK_HEIGHT_PX 34

static int read_env(struct replay *replay, struct err *e)
{
	const char *pair;
	size_t at = 0;

	while ((pair = args_next(&replay->cli->args, "env", &at))) {
		const char *equals = strchr(pair, '=');
		auto_free char *name = util_printf("%.*s", equals ? (int)(equals - pair) : (int)strlen(pair), pair);

		if (!*name || json_object_set_new(replay->env, name, equals ? json_string(equals + 1) : json_null()) < 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "--env takes NAME=VALUE or NAME, in UTF-8");
	}
	return 0;
}

/* Texts that are given for an action each, in files: those of one option. */
static int read_texts(const struct args *args, const char *option, json_t *texts, struct err *e)
{
	const char *pair;
	size_t at = 0;

	while ((pair = args_next(args, option, &at))) {
		auto_free char *place = NULL, *text = NULL;
		const char *file;
		size_t len;

		if (cli_read_pair(pair, option, &place, &file, e) < 0 || cli_read_file(file, LIMIT_ACT_BODY_BYTES, &text, &len, e) < 0)
			return -1;
		if (json_object_set_new(texts, place, json_stringn(text, len)) < 0)
			return err_set(e, ERR_BAD_REQUEST, NULL, "what is in %s is not UTF-8", file);
	}
	return 0;
}

static int read_given(struct replay *replay, struct err *e)
{
	const struct args *args = &replay->cli->args;

	if (read_env(replay, e) < 0 || read_texts(args, "stdin", replay->stdins, e) < 0)
		return -1;
	return read_texts(args, "text", replay->texts, e);
}

static int read_share(const struct args *args, double *share, struct err *e)
{
	const char *text = args_get(args, "max-diff");
	char *end;
	double percent;

	if (!text)
		return 0;
	percent = strtod(text, &end);
	if (end == text || *end || !(percent >= 0 && percent <= 100))
		return err_set(e, ERR_BAD_REQUEST, NULL, "--max-diff takes a number of percent, 0 to 100");
	*share = percent / 100;
	return 0;
}

static int read_numbers(struct replay *replay, struct err *e)
{
	const struct args *args = &replay->cli->args;
	long wait_ms = 5000, tolerance = 2;

	if (args_number(args, "wait", 0, LIMIT_CALL_MS, &wait_ms, e) < 0 || args_number(args, "tolerance", 0, 255, &tolerance, e) < 0 ||
	    read_share(args, &replay->options.max_share, e) < 0)
		return -1;
	replay->options.wait_ms = (int)wait_ms;
	replay->options.tolerance = (int)tolerance;
	replay->options.accept = args_get(args, "update");
	replay->options.keep_going = args_get(args, "keep-going");
	replay->options.follow = args_get(args, "follow");
	replay->options.any_node = args_get(args, "any-node");
	replay->options.keep_pictures = args_get(args, "report");
	return 0;
}

static json_t *regions_of(json_t *ignore)
{
	if (!json_is_array(json_object_get(ignore, "regions")))
		json_object_set_new(ignore, "regions", json_array());
	return json_object_get(ignore, "regions");
}

static int add_ignored(struct replay *replay, struct err *e)
{
	const char *text;
	size_t at = 0;

	while ((text = args_next(&replay->cli->args, "ignore", &at))) {
		int x, y, width, height, end = 0;

		if (sscanf(text, "%5d,%5d,%5d,%5d%n", &x, &y, &width, &height, &end) != 4 || text[end] != '\0')
			return err_set(e, ERR_BAD_REQUEST, NULL, "--ignore takes X,Y,WIDTH,HEIGHT in pixels of the display");
		json_array_append_new(regions_of(replay->ignore), json_pack("{s:i,s:i,s:i,s:i}", "x", x, "y", y, "width", width, "height", height));
	}
	return 0;
}

static bool is_panel(const json_t *app)
{
	return json_is_string(app) && strcmp(json_string_value(app), "panel") == 0;
}

/* Did the session have the panel? */
static bool has_panel(const struct plan *plan)
{
	const json_t *app, *action;
	size_t i;

	json_array_foreach(json_object_get(plan->spec, "apps"), i, app)
		if (is_panel(app))
			return true;
	for (size_t step = 0; step < plan->n_steps; step++)
		json_array_foreach(json_object_get(plan->steps[step].body, "actions"), i, action)
			if (is_panel(json_object_get(action, "app")))
				return true;
	return false;
}

/* The clock of the panel tells the minute: it does not tick while one looks. */
static void add_clock(struct replay *replay)
{
	struct space native = replay->plan.native;

	if (args_get(&replay->cli->args, "clock") || !has_panel(&replay->plan) || native.width_px < CLOCK_WIDTH_PX || native.height_px < CLOCK_HEIGHT_PX)
		return;
	json_array_append_new(regions_of(replay->ignore),
	                      json_pack("{s:i,s:i,s:i,s:i}", "x", native.width_px - CLOCK_WIDTH_PX, "y", native.height_px - CLOCK_HEIGHT_PX, "width",
	                                CLOCK_WIDTH_PX, "height", CLOCK_HEIGHT_PX));
}

static int read_ignored(struct replay *replay, struct err *e)
{
	const char *given = args_get(&replay->cli->args, "ignore-file"), *journal = replay->cli->args.words[0];
	auto_free char *in_folder = util_printf("%s/ignore.json", journal), *beside = util_printf("%s.ignore.json", journal), *text = NULL;
	const char *file = given ? given : access(in_folder, F_OK) == 0 ? in_folder : beside;
	struct err why = {0};
	size_t len;

	replay->ignore = json_object();
	if (given || access(file, F_OK) == 0) {
		json_decref(replay->ignore);
		replay->ignore = NULL;
		if (cli_read_file(file, LIMIT_BODY_BYTES, &text, &len, e) < 0)
			return -1;
		if (json_parse(text, len, &replay->ignore, &why) < 0 || player_check_ignore(replay->ignore, replay->plan.native, &why) < 0)
			return err_set(e, ERR_BAD_REQUEST, why.path, "%s: %s", file, why.msg);
	}
	if (add_ignored(replay, e) < 0)
		return -1;
	if (player_check_ignore(replay->ignore, replay->plan.native, &why) < 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--ignore: %s", why.msg);
	add_clock(replay);
	replay->options.ignore = replay->ignore;
	return 0;
}

/* Members of --spec go over the recorded ones, as by RFC 7396 one level down. */
static int merge_spec(struct replay *replay, struct err *e)
{
	const char *file = args_get(&replay->cli->args, "spec");
	json_auto_t *over = NULL;
	auto_free char *text = NULL;
	json_t *value, *old;
	const char *key;
	size_t len;

	if (!file)
		return 0;
	if (cli_read_file(file, LIMIT_BODY_BYTES, &text, &len, e) < 0 || json_parse(text, len, &over, e) < 0)
		return -1;
	if (!json_is_object(over))
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s must hold a JSON object", file);
	if (strcmp(form_string(over, "image", replay->plan.image), replay->plan.image) != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s names another image than the recording, which is of %s", file, replay->plan.image);
	json_object_foreach(over, key, value) {
		old = json_object_get(replay->plan.spec, key);
		if (json_is_object(old) && json_is_object(value))
			json_object_update(old, value);
		else
			json_object_set(replay->plan.spec, key, value);
	}
	return 0;
}

static int check_size(const struct replay *replay, const json_t *display, const char *whose, struct err *e)
{
	int width = (int)form_int(display, "width", 0), height = (int)form_int(display, "height", 0);
	struct space native = replay->plan.native;

	if (width == native.width_px && height == native.height_px)
		return 0;
	return err_set(e, ERR_BAD_REQUEST, NULL, "the recording is of a screen of %dx%d, %s is of %dx%d: nothing on it would be where it was", native.width_px,
	               native.height_px, whose, width, height);
}

/* A folder for the new journal, which is not that of the old one. */
static int make_output(const struct replay *replay, const char *folder, struct err *e)
{
	struct stat made, old;

	if (play_make_folder(folder, e) < 0)
		return -1;
	if (stat(folder, &made) == 0 && stat(replay->cli->args.words[0], &old) == 0 && made.st_dev == old.st_dev && made.st_ino == old.st_ino)
		return err_set(e, ERR_BAD_REQUEST, NULL, "--output is the recording itself; --update puts a new one in its place");
	return 0;
}

/* Everything that can be known before the server is asked. */
static int prepare(struct replay *replay, struct err *e)
{
	const struct plan_given given = {.env = replay->env, .stdins = replay->stdins, .texts = replay->texts};
	const struct args *args = &replay->cli->args;
	const char *folder = args_get(args, "output");

	if (plan_make(replay->reader, &given, args_get(args, "broken"), &replay->plan, e) < 0 || merge_spec(replay, e) < 0 ||
	    check_size(replay, json_object_get(replay->plan.spec, "display"), "the spec", e) < 0 || read_ignored(replay, e) < 0)
		return -1;
	return folder && make_output(replay, folder, e) < 0 ? -1 : replay_can_write(replay, e);
}

/* The image of the recording: by its name if it is the same still, or else by its hash. */
static int choose_image(struct replay *replay, const json_t *images, struct err *e)
{
	const struct plan *plan = &replay->plan;
	const json_t *image, *found = NULL;
	size_t i;

	json_array_foreach(images, i, image) {
		bool is_same = strcmp(form_string(image, "hash", ""), plan->image_hash) == 0;

		if (strcmp(form_string(image, "name", ""), plan->image) == 0 && (is_same || !found))
			found = image;
		else if (is_same && (!found || strcmp(form_string(found, "hash", ""), plan->image_hash) != 0))
			found = image;
	}
	if (!found)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the server has no image %s", plan->image);
	if (strcmp(form_string(found, "hash", ""), plan->image_hash) != 0 && !args_get(&replay->cli->args, "any-image"))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the image %s is another one now (%.12s, recorded with %.12s): its apps may look different; --any-image takes it",
		               plan->image, form_string(found, "hash", ""), *plan->image_hash ? plan->image_hash : "an unknown one");
	json_object_set(plan->spec, "image", json_object_get(found, "name"));
	return 0;
}

/* No server would make such a session; others may have had no room, or no right, just now. */
static bool is_faulty(long status)
{
	return status == 400 || status == 413 || status == 422;
}

static int make_session(struct replay *replay)
{
	auto_reply images = {0}, reply = {0};
	struct err e = {0};
	int status = cli_call(replay->cli, "GET", "/v1/images", NULL, &images);

	if (status != CLI_DONE)
		return CLI_UNREACHABLE;
	if (choose_image(replay, json_object_get(images.json, "images"), &e) < 0)
		return cli_fail(replay->cli, CLI_USAGE, &e);
	if (play_create(&replay->play, replay->plan.spec, &reply) != CLI_DONE)
		return is_faulty(reply.status) ? CLI_USAGE : CLI_UNREACHABLE;
	if (check_size(replay, json_object_get(reply.json, "display"), "the session", &e) < 0)
		return cli_fail(replay->cli, CLI_USAGE, &e);
	return CLI_DONE;
}

static int api_act(void *arg, const json_t *body, json_t **answer, struct err *e)
{
	struct replay *replay = arg;
	auto_reply reply = {0};

	if (play_send(&replay->play, "POST", "/act", body, true, &reply, e) < 0)
		return -1;
	if (!json_is_object(reply.json))
		return err_set(e, ERR_GONE, NULL, "the server answers with status %ld and no reason", reply.status);
	/* Of a session that is gone, or a server that cannot, nothing can be compared. */
	if (reply.status >= 500 || reply.status == 404 || reply.status == 401 || reply.status == 429)
		return err_set(e, ERR_GONE, NULL, "%s", form_string(reply.json, "detail", "the server failed"));
	*answer = json_incref(reply.json);
	return reply.status >= 400;
}

static int read_raw(const struct client_reply *reply, struct pixels *shown, struct err *e)
{
	int width = 0, height = 0;

	if (!reply->size || sscanf(reply->size, "%5dx%5d", &width, &height) != 2 || width < 1 || height < 1 || width > LIMIT_SIDE_MAX_PX ||
	    height > LIMIT_SIDE_MAX_PX || reply->body_len != (size_t)width * (size_t)height * 3)
		return err_set(e, ERR_GONE, NULL, "the server's picture has not the size that it says");
	pixels_finish(shown);
	*shown = pixels_create(width, height);
	memcpy(shown->rgb, reply->body, reply->body_len);
	return 0;
}

static int api_look(void *arg, struct pixels *shown, bool *changed, struct err *e)
{
	struct replay *replay = arg;
	auto_free char *path = util_printf("/v1/sessions/%s/screenshot?space=native&format=raw&cursor=false", replay->play.id);
	const struct client_request request = {.method = "GET", .path = path, .again = true,
	                                       .etag = shown->rgb ? replay->etag : NULL, .sink = -1};
	auto_reply reply = {0};

	if (client_send(&replay->cli->client, &request, &reply, e) < 0)
		return -1;
	*changed = reply.status != 304;
	if (reply.status == 304)
		return 0;
	if (reply.status != 200)
		return err_set(e, ERR_GONE, NULL, "%s", form_string(reply.json, "detail", "the server gives no picture"));
	free(replay->etag);
	replay->etag = reply.etag;
	reply.etag = NULL;
	return read_raw(&reply, shown, e);
}

static int64_t api_now_ms(void *arg)
{
	(void)arg;
	return util_now_ms();
}

static int api_rest(void *arg, int ms, struct err *e)
{
	const struct replay *replay = arg;

	(void)poll(NULL, 0, ms);
	return *replay->play.stop ? err_set(e, ERR_CANCELLED, NULL, "interrupted") : 0;
}

static int play_plan(struct replay *replay, struct err *e)
{
	const struct player_api api = {.arg = replay, .act = api_act, .look = api_look, .now_ms = api_now_ms, .rest = api_rest,
	                               .stepped = replay->cli->json ? NULL : replay_show_step};
	int64_t start_ms = util_now_ms();
	int rc = player_run(&api, &replay->options, replay->reader, &replay->plan, &replay->report, e);

	json_object_set_new(replay->report.head, "elapsed_ms", json_integer(util_now_ms() - start_ms));
	report_close(&replay->report);
	return rc;
}

/* Did all of it run, with results as recorded? Then its journal can be the new one. */
static bool can_be_accepted(const struct replay *replay)
{
	const json_t *step;
	size_t i;

	json_array_foreach(replay->report.steps, i, step) {
		const char *verdict = form_string(step, "verdict", "");

		if (strcmp(verdict, "failed") == 0 || strcmp(verdict, "not_played") == 0 || json_is_true(json_object_get(step, "results_differ")))
			return false;
	}
	return true;
}

static int update(struct replay *replay, struct err *e)
{
	json_t *head = replay->report.head;

	if (!can_be_accepted(replay)) {
		json_object_set_new(head, "updated", json_false());
		return 1;
	}
	if (baseline_replace(&replay->play, replay->cli->args.words[0], e) < 0)
		return -1;
	json_object_set_new(head, "updated", json_true());
	return 0;
}

/* After the last step: the session ends, what it left is written. The exit status. */
static int finish(struct replay *replay, int rc)
{
	bool passed = strcmp(form_string(replay->report.head, "verdict", ""), "passed") == 0;
	int status = rc < 0 ? CLI_UNREACHABLE : passed ? CLI_DONE : CLI_REFUSED;
	struct err e = {0};

	(void)play_end(&replay->play);
	if (*replay->play.stop)
		return status;
	if (rc == 0 && replay->options.accept) {
		rc = update(replay, &e);
		status = rc == 0 ? CLI_DONE : rc > 0 ? status : cli_fail(replay->cli, CLI_REFUSED, &e);
	}
	if (replay_write(replay, &e) < 0)
		status = cli_fail(replay->cli, status == CLI_DONE ? CLI_REFUSED : (enum cli_exit)status, &e);
	replay_show_end(replay);
	return status;
}

static void describe(struct replay *replay)
{
	char time[32];
	json_t *head = replay->report.head;

	json_object_set_new(head, "journal", json_string(replay->name));
	json_object_set_new(head, "started_at", json_string(util_wall_time(time, sizeof(time))));
	json_object_set_new(head, "image", json_string(replay->plan.image));
	json_object_set_new(head, "session", json_string(replay->play.id));
	json_object_set_new(head, "width", json_integer(replay->plan.native.width_px));
	json_object_set_new(head, "height", json_integer(replay->plan.native.height_px));
	json_object_set(head, "ignored", replay->ignore);
}

static int play_all(struct replay *replay)
{
	struct err e = {0}, cause = {0};
	int status, rc;

	if (prepare(replay, &e) < 0)
		return cli_fail(replay->cli, CLI_USAGE, &e);
	status = make_session(replay);
	if (status != CLI_DONE)
		return status;
	describe(replay);
	rc = play_plan(replay, &cause);
	status = finish(replay, rc);
	if (rc < 0 && !*replay->play.stop)
		status = cli_fail(replay->cli, CLI_UNREACHABLE, &cause);
	return status;
}

/* The journal that is named: a folder or a zip, or else a session of the server. */
static int open_journal(struct replay *replay)
{
	const char *word = replay->cli->args.words[0];
	bool is_file = access(word, F_OK) == 0;
	struct err e = {0};

	if (is_file)
		return reader_open(word, &replay->reader, &e) < 0 ? cli_fail(replay->cli, CLI_USAGE, &e) : CLI_DONE;
	if (replay->options.accept) {
		err_set(&e, ERR_BAD_REQUEST, NULL, "--update takes a folder or a zip that is there");
		return cli_fail(replay->cli, CLI_USAGE, &e);
	}
	return replay_fetch(replay, word);
}

static int run_replay(struct cli *cli)
{
	struct replay replay = {.cli = cli, .env = json_object(), .stdins = json_object(), .texts = json_object(), .name = cli_last_part(cli->args.words[0])};
	struct err e = {0};
	int status;

	report_init(&replay.report);
	if (read_numbers(&replay, &e) < 0 || read_given(&replay, &e) < 0) {
		status = cli_fail(cli, CLI_USAGE, &e);
	} else {
		status = play_begin(&replay.play, cli);
		if (status == CLI_DONE)
			status = open_journal(&replay);
		if (status == CLI_DONE)
			status = play_all(&replay);
		if (replay.play.cli) {
			(void)play_finish(&replay.play);
			status = play_status(&replay.play, status);
		}
	}
	replay_free(&replay);
	return status;
}

const struct cli_command replay_journal = {
	"replay", "JOURNAL [OPTION]…", "play a journal (a folder, a zip, or a session's id) again on a fresh session and compare",
	replay_options, ARRAY_LEN(replay_options), 1, 1, ARGS_MAX, run_replay,
};
