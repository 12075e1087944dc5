/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions as subjects of rules. */
#include "session/stage/judge.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"
#include "session/policy/shell.h"
#include "session/stage/files.h"
#include "session/stage/stage.h"

#define NEAR_PX (2 * GUARD_NEAR_PX + 1)

/* Actions that always do the same; those with keys are looked into, and the others do nothing that rules have a word for. */
static const struct {
	const char *action;
	unsigned int does;
} doings[] = {
	{"type", POLICY_WRITES}, {"type_secret", POLICY_WRITES}, {"set_node", POLICY_WRITES},
	{"press_node", POLICY_PRESSES}, {"click", POLICY_PRESSES}, {"mouse_down", POLICY_PRESSES}, {"mouse_up", POLICY_PRESSES}, {"drag", POLICY_PRESSES},
	{"exec", POLICY_RUNS}, {"launch", POLICY_RUNS}, {"windows", POLICY_LOOKS}, {"tree", POLICY_LOOKS},
	{"focus_window", POLICY_MANAGES}, {"close_window", POLICY_MANAGES}, {"move_window", POLICY_MANAGES}, {"resize_window", POLICY_MANAGES},
	{"file_get", POLICY_LOOKS}, {"file_put", POLICY_MANAGES}, {"file_delete", POLICY_MANAGES}, {"show_window", POLICY_MANAGES}, {"resize_display", POLICY_MANAGES}, {"clipboard_set", POLICY_MANAGES},
};

/* Chords by their usual names. */
static const char *const pasting[] = {"ctrl+v", "ctrl+shift+v", "shift+insert", "ctrl+shift+insert"};
static const char *const pressing[] = {"enter", "ctrl+enter", "shift+enter", "space", "numpad_enter", "kp_enter"};

static bool is_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

static int rank(uint32_t keysym)
{
	static const char *const first[] = {"ctrl", "alt", "shift", "super", "meta"};
	char label[KEYNAMES_LABEL_MAX];
	int i = 0;

	(void)keynames_label(keysym, label);
	while (i < (int)ARRAY_LEN(first) && strcmp(first[i], label) != 0)
		i++;
	return keynames_is_modifier(keysym) ? i : (int)ARRAY_LEN(first) + 1;
}

/* In the order of their ranks; keys of the same stay as they were written. */
static void name_chord(const struct chord *chord, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int wanted = 0; wanted < 8; wanted++)
		for (size_t i = 0; i < chord->n; i++) {
			char label[KEYNAMES_LABEL_MAX];

			if (rank(chord->keys[i].keysym) == wanted && used < size)
				used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? "+" : "", keynames_label(chord->keys[i].keysym, label));
		}
}

int judge_chord(const char *keys, const char *path, char *out, size_t size, struct err *e)
{
	json_auto_t *value = json_string(keys);
	struct chord chord;

	if (keynames_parse(value, path, &chord, e) < 0)
		return -1;
	name_chord(&chord, out, size);
	return 0;
}

bool judge_knows(void *arg, const char *action)
{
	const struct stage *stage = arg;
	const struct action_set *set;

	return strcmp(action, "connect") == 0 || files_knows(action) || action_find(stage->sets, stage->n_sets, action, &set) != NULL;
}

static void read_keys(const struct batch_step *step, struct judged *out)
{
	const json_t *keys = json_object_get(step->args, "keys");
	struct chord chord;

	if (!keys || keynames_parse(keys, "/keys", &chord, NULL) < 0)
		return;
	name_chord(&chord, out->keys, sizeof(out->keys));
	out->subject.keys = out->keys;
	if (strcmp(step->row->name, "key_up") == 0)
		return;
	if (input_types(step->args) || is_one_of(out->keys, pasting, ARRAY_LEN(pasting)))
		out->subject.does |= POLICY_WRITES;
	if (is_one_of(out->keys, pressing, ARRAY_LEN(pressing)))
		out->subject.does |= POLICY_PRESSES;
}

/* What the middle button presses it pastes into. */
static bool pastes_there(const struct batch_step *step)
{
	return strcmp(form_string(step->args, "button", "left"), "middle") == 0;
}

static unsigned int does(const struct batch_step *step)
{
	unsigned int doing = step->row->flags & (ACTION_LOOKS | ACTION_WAITS) ? POLICY_LOOKS : 0;

	for (size_t i = 0; i < ARRAY_LEN(doings); i++)
		if (strcmp(doings[i].action, step->row->name) == 0)
			doing |= doings[i].does;
	return doing | (doing & POLICY_PRESSES && pastes_there(step) ? POLICY_WRITES : 0);
}

bool judge_looks(const struct batch_step *step)
{
	return does(step) == POLICY_LOOKS;
}

static struct rect around(int x, int y)
{
	return (struct rect){x - GUARD_NEAR_PX, y - GUARD_NEAR_PX, NEAR_PX, NEAR_PX};
}

/* Where it aims; false when it does not. */
static bool find_point(const struct stage *stage, const struct batch_step *step, int *x, int *y)
{
	const json_t *path = json_object_get(step->args, "path"), *end = json_array_get(path, json_array_size(path) - 1);

	if (!(step->row->flags & ACTION_AIMS))
		return false;
	*x = path ? (int)json_integer_value(json_array_get(end, 0)) : (int)form_int(step->args, "x", 0);
	*y = path ? (int)json_integer_value(json_array_get(end, 1)) : (int)form_int(step->args, "y", 0);
	return path || json_object_get(step->args, "x") || display_pointer(stage->display, x, y, NULL) == 0;
}

/* The focus, of an app whose word is known. */
static const struct access_focus *focus_of(const struct stage *stage, const struct batch_step *step, bool fresh)
{
	return fresh && step->row->flags & ACTION_TYPES ? &stage->typed.focus : access_focus(apps_access(stage->apps));
}

static void read_page(const struct access_focus *focus, struct judged *out)
{
	if (!focus->known || (out->place.window && focus->window != out->place.window))
		return;
	(void)snprintf(out->url, sizeof(out->url), "%s", focus->url);
	(void)snprintf(out->role, sizeof(out->role), "%s", focus->has_node ? focus->node.role : focus->terminal ? "terminal" : "");
	out->subject.url = out->url[0] ? out->url : NULL;
	out->subject.role = out->role[0] ? out->role : NULL;
}

/* Commands and files are of no window. */
static bool is_of_screen(const struct policy_subject *subject)
{
	return !(subject->does & POLICY_RUNS) && !subject->path;
}

/* The window that it goes to, if it goes to one. */
static int read_place(struct stage *stage, const struct batch_step *step, bool aims, int x, int y, struct judged *out, struct err *e)
{
	int rc;

	if (!is_of_screen(&out->subject))
		return 0;
	rc = aims ? place_at(stage->apps, x, y, &out->place, e) : place_of(stage->apps, (uint32_t)form_int(step->args, "window", 0), &out->place, e);
	if (rc < 0 || out->place.window == 0)
		return rc;
	out->subject.app = out->place.app;
	out->subject.title = out->place.title;
	out->subject.window_class = out->place.class_name;
	out->subject.instance = out->place.instance;
	return 0;
}

bool judge_is_secret(const struct batch_step *step)
{
	return strcmp(step->row->name, "type_secret") == 0;
}

/* Of what aims. */
static bool is_password_there(struct stage *stage, const struct batch_step *step, bool *unsure)
{
	struct access *access = apps_access(stage->apps);
	struct err e = {.code = ERR_NONE};
	struct access_node node;
	int x, y, rc;

	if (!find_point(stage, step, &x, &y))
		return false;
	rc = access_at(access, x, y, util_now_ms() + TYPED_LATE_MS, &node, &e);
	*unsure = rc < 0 && (access_unavailable(access) ? access_worked(access) : e.code == ERR_TIMEOUT || access_parted(access));
	return *unsure || (rc == 0 && node.password);
}

/* Does what it writes go into a password field? A node that is set is known to the app alone, which refuses it. */
static bool is_password(struct stage *stage, const struct batch_step *step, bool fresh, unsigned int doing, bool *unsure)
{
	const struct access_focus *focus = access_focus(apps_access(stage->apps));

	if (!(doing & POLICY_WRITES))
		return false;
	if (step->row->flags & ACTION_AIMS)
		return fresh && is_password_there(stage, step, unsure);
	if (!(step->row->flags & ACTION_TYPES))
		return false;
	if (fresh && !input_types(step->args)) /* it pastes, or is a stored secret */
		typed_look(stage);
	if (judge_is_secret(step)) /* which belongs there, and is held against a rule of its own */
		return false;
	if (!fresh)
		return access_focus_secret(focus);
	*unsure = typed_is_unsure(&stage->typed);
	return *unsure || typed_is_secret(&stage->typed);
}

static void find_target(const struct access_focus *focus, bool aims, int x, int y, struct judged *out)
{
	const struct access_node *node = &focus->node;

	if (aims)
		out->target = around(x, y);
	else if (focus->known && focus->has_node && node->width > 0 && node->height > 0)
		out->target = (struct rect){node->x, node->y, node->width, node->height};
}

int judge_step(struct stage *stage, const struct batch_step *step, bool fresh, struct judged *out, struct err *e)
{
	struct policy_subject *subject = &out->subject;
	const json_t *warning = out->warning;
	unsigned int needs;
	bool aims;
	int x = 0, y = 0;

	*out = (struct judged){.warning = warning, .subject = {.action = step->row->name, .does = does(step), .argv = json_object_get(step->args, "argv")}};
	read_keys(step, out);
	if (files_knows(subject->action))
		subject->path = form_string(step->args, "path", NULL);
	subject->tree = subject->path && json_is_true(json_object_get(step->args, "tree"));
	if (subject->does & POLICY_RUNS)
		subject->app = form_string(step->args, "app", NULL);
	needs = policy_needs(stage->approvals.policy, subject->action, subject->does);
	aims = needs && find_point(stage, step, &x, &y);
	subject->password = is_password(stage, step, fresh, subject->does, &out->unsure);
	if (needs & POLICY_NEEDS_WINDOW && read_place(stage, step, aims, x, y, out, e) < 0)
		return -1;
	if (needs & POLICY_NEEDS_PAGE && is_of_screen(subject))
		read_page(focus_of(stage, step, fresh), out);
	out->answer = policy_judge(stage->approvals.policy, subject);
	if (warning && out->answer.verdict != POLICY_DENY)
		out->answer = (struct policy_answer){.verdict = POLICY_ASK, .rule = warning};
	if (out->answer.verdict == POLICY_ASK && is_of_screen(subject)) {
		aims = aims || find_point(stage, step, &x, &y);
		if (out->place.window == 0 && read_place(stage, step, aims, x, y, out, e) < 0)
			return -1;
		find_target(focus_of(stage, step, fresh), aims, x, y, out);
	}
	return 0;
}

char *judge_key(const struct batch_step *step, const struct judged *judged, const char **why)
{
	const char *app = judged->place.app ? judged->place.app : judged->subject.app, *program = json_string_value(json_array_get(judged->subject.argv, 0));
	const char *name = form_string(step->args, "name", NULL);

	*why = NULL;
	if (judged->subject.path)
		return util_printf("%s of %s%s", judged->subject.action, judged->subject.tree ? "all in " : "", judged->subject.path);
	if (judged->warning && judged->answer.rule == judged->warning)
		*why = "each warning of a model's safety system is asked about";
	else if (program && judged->answer.of_shell)
		*why = "what a shell runs is asked about each time";
	else if (program && program[0] != '/')
		*why = "the program is not named by its whole path, so that it may be another one the next time";
	else if (program)
		return util_printf("the program %s", program);
	else if (!app)
		*why = "it is not known which app of the catalogue this goes to";
	else if (judge_is_secret(step))
		return util_printf("the secret %s in %s", name ? name : "", app);
	else if (judged->subject.keys)
		return util_printf("%s in %s", judged->keys, app);
	else
		return util_strdup(app);
	return NULL;
}
