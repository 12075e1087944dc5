/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forms of a spec cannot say: what depends on other members, and, by `offers`, what this version gives of what they hold. */
#include "session/front/spec.h"

#include <stdio.h>
#include <string.h>

#include "session/base/egress/egress_rule.h"
#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"
#include "session/base/variable.h"
#include "session/front/secrets.h"
#include "session/policy/policy.h"

/* A list of two kinds of things, which rows have no word for. */
static void say_entries(json_t *egress)
{
	json_t *list = json_object_get(json_object_get(egress, "properties"), "allow");

	json_object_set_new(list, "type", json_string("array"));
	json_object_set_new(list, "maxItems", json_integer(LIMIT_EGRESS_ENTRIES));
	json_object_set_new(list, "items", json_pack("{s:[{s:s},o]}", "anyOf", "type", "string", form_schema(&egress_entry_form)));
}

json_t *spec_create_schema(void)
{
	json_t *schema = form_schema(&spec_form);
	json_auto_t *count = form_schema(&spec_count_form);

	(void)json_object_update(json_object_get(schema, "properties"), json_object_get(count, "properties"));
	say_entries(json_object_get(json_object_get(schema, "properties"), "egress"));
	say_entries(json_object_get(json_object_get(json_object_get(json_object_get(schema, "properties"), "setup"), "properties"), "egress"));
	return schema;
}

/* The values that this version gives, as JSON texts; any other is refused. */
struct offer {
	const char *group, *name; /* group NULL: a member of the spec itself */
	const char *values[3];
	enum err_code code;
	const char *why;
};

static const struct offer offers[] = {
	{NULL, "isolation", {"\"jail\""}, ERR_TIER_UNAVAILABLE, "the only tier of this server is jail; it is never replaced by a weaker one"},
	{NULL, "filesystem", {"\"workspace\""}, ERR_UNSUPPORTED, "this version offers workspace"},
	{"display", "layout", {"\"us\""}, ERR_UNSUPPORTED, "this version offers the layout us; any text can be typed with it"},
	{"display", "gl", {"false"}, ERR_UNSUPPORTED, "this version's X server has no GLX"},
};

static const json_t *member(const json_t *spec, const struct offer *offer)
{
	const json_t *object = offer->group ? json_object_get(spec, offer->group) : spec;

	return json_object_get(object, offer->name);
}

static bool is_offered(const struct offer *offer, const json_t *value)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);

	for (size_t i = 0; text && i < ARRAY_LEN(offer->values) && offer->values[i]; i++)
		if (strcmp(text, offer->values[i]) == 0)
			return true;
	return false;
}

static void check_offers(const json_t *spec, struct faults *faults)
{
	for (size_t i = 0; i < ARRAY_LEN(offers); i++) {
		const struct offer *offer = &offers[i];
		const json_t *value = member(spec, offer);
		char path[64], shown[80];
		auto_free char *text = NULL;

		if (is_offered(offer, value))
			continue;
		text = json_is_string(value) ? util_strdup(json_string_value(value)) : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		(void)snprintf(path, sizeof(path), "%s%s/%s", offer->group ? "/" : "", offer->group ? offer->group : "", offer->name);
		(void)err_set(faults_next(faults), offer->code, path, "%s is not offered: %s",
		              text ? err_quote(shown, sizeof(shown), text, strlen(text)) : "this", offer->why);
	}
}

/* Adds the defaults of fields that are absent, in the forms below too: those of `usual`, else the form's. */
static void fill(const struct form *form, json_t *object, const json_t *usual)
{
	for (size_t i = 0; i < form->n_fields; i++) {
		const struct field *field = &form->fields[i];
		json_t *value = json_object_get(object, field->name), *own = json_object_get(usual, field->name);
		bool depends = !field->fallback && field->type != FIELD_OBJECT, is_filled_below = field->fallback && field->form;

		if (!value && !depends && (own || field->fallback)) {
			value = own && !is_filled_below ? json_deep_copy(own) : json_loads(field->fallback, JSON_DECODE_ANY, NULL);
			if (json_object_set_new(object, field->name, value) < 0)
				DIE("the default of %s is no JSON", field->name);
		}
		if (value && field->type == FIELD_OBJECT && field->form)
			fill(field->form, value, own);
	}
}

static void set_default(json_t *object, const char *name, long value)
{
	if (!json_object_get(object, name))
		(void)json_object_set_new(object, name, json_integer(value));
}

/* Defaults that depend on other fields. */
static void fill_dependent(json_t *spec, const json_t *usual)
{
	json_t *display = json_object_get(spec, "display"), *limits = json_object_get(spec, "limits");
	long width = form_int(display, "width", 0), height = form_int(display, "height", 0);
	long half_mb = form_int(limits, "memory_mb", 0) / 2, disk_mb = form_int(json_object_get(usual, "limits"), "disk_mb", SPEC_DISK_MB);

	set_default(display, "max_width", width);
	set_default(display, "max_height", height);
	set_default(limits, "disk_mb", half_mb < disk_mb ? half_mb : disk_mb);
}

static void check_maximum(const char *path, long max, long start, struct faults *faults)
{
	if (max < start)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%ld is below the size of %ld at the start", max, start);
}

static void check_between(const json_t *spec, struct faults *faults)
{
	const json_t *display = json_object_get(spec, "display"), *limits = json_object_get(spec, "limits");
	long width = form_int(display, "width", 0), height = form_int(display, "height", 0);
	long memory_mb = form_int(limits, "memory_mb", 0), disk_mb = form_int(limits, "disk_mb", 0);

	check_maximum("/display/max_width", form_int(display, "max_width", 0), width, faults);
	check_maximum("/display/max_height", form_int(display, "max_height", 0), height, faults);
	if (disk_mb > memory_mb / 2)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/limits/disk_mb",
		              "%ld is more than half of memory_mb, which is %ld: files are in memory", disk_mb, memory_mb);
}

static void check_env(json_t *env, struct faults *faults)
{
	const char *name;
	json_t *value;
	size_t total = 0;
	struct err e;

	json_object_foreach(env, name, value) {
		if (variable_check_session(name, &e) < 0)
			faults_add(faults, &e, "");
		total += strlen(name) + json_string_length(value) + 2;
	}
	if (total > LIMIT_ENV_BYTES)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/env", "it has %zu bytes; at most %d are allowed", total, LIMIT_ENV_BYTES);
}

/* A list that nobody looks into would be taken for one that is heeded. */
static void check_egress(const json_t *egress, const char *path, struct faults *faults)
{
	const json_t *allow = json_object_get(egress, "allow");
	auto_free char *text = json_dumps(allow, JSON_COMPACT | JSON_ENCODE_ANY);
	char place[40];

	(void)snprintf(place, sizeof(place), "%s/allow", path);
	if (text && strlen(text) > LIMIT_EGRESS_LIST_BYTES)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, place, "the list has %zu bytes; at most %d are allowed", strlen(text), LIMIT_EGRESS_LIST_BYTES);
	if (egress_rules_check(allow, place, faults) == 0 && json_array_size(allow) > 0 && strcmp(form_string(egress, "mode", "none"), "none") == 0)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, place, "there is a list, but the mode is none, which lets nothing through: say mode allowlist");
}

static void check_secrets(const json_t *secrets, struct faults *faults)
{
	const json_t *secret;
	char path[40], shown[80];
	size_t i;

	json_array_foreach(secrets, i, secret) {
		const char *name = json_string_value(secret), *rule = NULL;

		for (size_t k = 0; k < i; k++)
			if (json_equal(json_array_get(secrets, k), secret))
				rule = "it is named twice";
		if (!secrets_name_valid(name))
			rule = "no secret can have this name";
		(void)snprintf(path, sizeof(path), "/secrets/%zu", i);
		if (rule)
			(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is refused: %s", err_quote(shown, sizeof(shown), name, strlen(name)), rule);
	}
}

static void bad_setup(struct faults *faults, const char *path, const char *rule)
{
	(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s", rule);
}

static void check_command(const json_t *command, size_t index, struct faults *faults)
{
	auto_free char *path = util_printf("/setup/commands/%zu", index);
	const json_t *word;
	size_t i, n = 0;

	json_array_foreach(command, i, word)
		n += json_is_string(word) && strlen(json_string_value(word)) == json_string_length(word);
	if (json_is_array(command) && (n == 0 || n != i || json_string_length(json_array_get(command, 0)) == 0))
		bad_setup(faults, path, "a list must have a program and its arguments, as strings without NUL");
	else if (!json_is_array(command) && (json_string_length(command) == 0 || strlen(json_string_value(command)) != json_string_length(command)))
		bad_setup(faults, path, "a command must be a line for sh, or a list of a program and its arguments");
}

static bool names_secret(const json_t *secrets, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(secrets, i, one)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return false;
}

static void check_setup(const json_t *spec, struct faults *faults)
{
	const json_t *setup = json_object_get(spec, "setup"), *commands = json_object_get(setup, "commands"), *command;
	const char *name;
	json_t *value;
	size_t i;

	if (!json_is_array(commands) || json_array_size(commands) > LIMIT_SETUP_COMMANDS)
		(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/setup/commands", "the commands must be a list of at most %d", LIMIT_SETUP_COMMANDS);
	json_array_foreach(commands, i, command)
		if (i < LIMIT_SETUP_COMMANDS)
			check_command(command, i, faults);
	json_object_foreach(json_object_get(setup, "secrets"), name, value) {
		char path[ERR_PATH_MAX] = "/setup/secrets";
		struct err ignored;

		(void)form_pointer_add(path, name);
		if (variable_check(name, &ignored) < 0)
			bad_setup(faults, path, "a variable's name has letters, digits and _, and does not begin with a digit");
		if (!names_secret(json_object_get(spec, "secrets"), json_string_value(value)))
			bad_setup(faults, path, "this is the name of no secret in the spec's secrets");
	}
}

/* A value that refers to a secret is for the setup phase alone. */
static int refuse_references(const json_t *asked, struct faults *faults)
{
	const char *name;
	json_t *value;
	char path[ERR_PATH_MAX] = "/env";
	size_t before = faults->n;

	json_object_foreach(json_object_get(asked, "env"), name, value) {
		path[4] = '\0';
		(void)form_pointer_add(path, name);
		if (json_object_get(value, "secret"))
			(void)err_set(faults_next(faults), ERR_UNSUPPORTED, path,
			              "a reference to a secret is for the setup phase, as setup.secrets: programs of a session see env");
	}
	return faults->n > before ? -1 : 0;
}

void spec_check_labels(json_t *labels, struct faults *faults)
{
	const char *name;
	json_t *value;
	char shown[80];

	json_object_foreach(labels, name, value)
		if (!*name || strlen(name) > LIMIT_LABEL_BYTES || json_string_length(value) > LIMIT_LABEL_BYTES)
			(void)err_set(faults_next(faults), ERR_BAD_FIELD, "/labels",
			              "the label %s is refused: name and value have at most %d bytes, the name at least 1",
			              err_quote(shown, sizeof(shown), name, strlen(name)), LIMIT_LABEL_BYTES);
}

int spec_complete_all(const json_t *asked, const json_t *usual, json_t **spec, struct faults *faults)
{
	json_auto_t *made = NULL;
	size_t before = faults->n;

	if (refuse_references(asked, faults) < 0 || form_check_all(&spec_form, asked, "", NULL, faults) < 0)
		return -1;
	made = json_deep_copy(asked);
	fill(&spec_form, made, usual);
	fill_dependent(made, usual);
	check_between(made, faults);
	check_env(json_object_get(made, "env"), faults);
	check_egress(json_object_get(made, "egress"), "/egress", faults);
	check_egress(json_object_get(json_object_get(made, "setup"), "egress"), "/setup/egress", faults);
	check_secrets(json_object_get(made, "secrets"), faults);
	check_setup(made, faults);
	spec_check_labels(json_object_get(made, "labels"), faults);
	policy_check_rules(json_object_get(json_object_get(made, "approval"), "rules"), NULL, "/approval/rules", faults);
	check_offers(made, faults);
	if (faults->n > before)
		return -1;
	*spec = json_incref(made);
	return 0;
}

int spec_take_count(json_t *asked, size_t *count, struct faults *faults)
{
	json_auto_t *alone = json_object_get(asked, "count") ? json_pack("{s:O}", "count", json_object_get(asked, "count")) : json_object();

	(void)json_object_del(asked, "count");
	if (form_check_all(&spec_count_form, alone, "", NULL, faults) < 0)
		return -1;
	*count = (size_t)form_int(alone, "count", 0);
	return 0;
}

int spec_complete(const json_t *asked, const json_t *usual, json_t **spec, struct err *e)
{
	struct faults one = {.list = e, .max = 1};

	return spec_complete_all(asked, usual, spec, &one);
}

void spec_lower(const struct form *form, json_t *usual, const json_t *most)
{
	for (size_t i = 0; i < form->n_fields; i++) {
		const struct field *field = &form->fields[i];
		const json_t *limit = json_object_get(most, field->name);
		json_t *now = json_incref(json_object_get(usual, field->name));

		if (!now)
			now = field->fallback ? json_loads(field->fallback, JSON_DECODE_ANY, NULL) : json_integer(SPEC_DISK_MB);
		if (json_is_number(limit) && json_number_value(now) > json_number_value(limit))
			(void)json_object_set_new(usual, field->name, json_copy((json_t *)(uintptr_t)limit));
		json_decref(now);
	}
}

static bool has_app(const json_t *catalogue, const char *name)
{
	const json_t *app;
	size_t i;

	json_array_foreach(catalogue, i, app)
		if (strcmp(form_string(app, "name", ""), name) == 0)
			return true;
	return false;
}

/* "firefox, terminal", as many as fit. */
static const char *list_apps(const json_t *catalogue, char *out, size_t size)
{
	const json_t *app;
	size_t i;

	out[0] = '\0';
	json_array_foreach(catalogue, i, app)
		err_list(out, size, ", ", form_string(app, "name", ""));
	return *out ? out : "none";
}

int spec_check_apps(const json_t *spec, const json_t *manifest, struct err *e)
{
	const json_t *catalogue = json_object_get(manifest, "apps");
	const json_t *app;
	char path[32], shown[80], names[160];
	size_t i;

	json_array_foreach(json_object_get(spec, "apps"), i, app) {
		const char *name = json_string_value(app);

		if (has_app(catalogue, name))
			continue;
		(void)snprintf(path, sizeof(path), "/apps/%zu", i);
		return err_set(e, ERR_BAD_FIELD, path, "the image %s has no app %s; its apps: %s", form_string(manifest, "name", ""),
		               err_quote(shown, sizeof(shown), name, strlen(name)), list_apps(catalogue, names, sizeof(names)));
	}
	return 0;
}

/* The setup phase may reach more than what comes after it: the warden knows the wider one. */
static uint32_t widest_egress(const json_t *spec)
{
	static const char *const names[] = {[EGRESS_NONE] = "none", [EGRESS_ALLOWLIST] = "allowlist", [EGRESS_OPEN] = "open"};
	const char *mode = form_string(json_object_get(spec, "egress"), "mode", "none");
	const char *setup = form_string(json_object_get(json_object_get(spec, "setup"), "egress"), "mode", "none");
	uint32_t widest = EGRESS_NONE;

	for (uint32_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], mode) == 0 || strcmp(names[i], setup) == 0)
			widest = i;
	return widest;
}

void spec_for_warden(const json_t *spec, const json_t *manifest, struct warden_create *create)
{
	const json_t *display = json_object_get(spec, "display"), *limits = json_object_get(spec, "limits");

	memset(create, 0, sizeof(*create));
	(void)snprintf(create->image, sizeof(create->image), "%s", form_string(spec, "image", ""));
	(void)snprintf(create->image_hash, sizeof(create->image_hash), "%s", form_string(manifest, "hash", ""));
	create->width_px = (uint16_t)form_int(display, "max_width", 0);
	create->height_px = (uint16_t)form_int(display, "max_height", 0);
	create->memory_mb = (uint32_t)form_int(limits, "memory_mb", 0);
	create->pids = (uint32_t)form_int(limits, "pids", 0);
	create->disk_mb = (uint32_t)form_int(limits, "disk_mb", 0);
	create->inodes = (uint32_t)form_int(limits, "inodes", 0);
	create->open_files = (uint32_t)form_int(limits, "open_files", 0);
	create->x_mb = (uint32_t)form_int(limits, "x_mb", 0);
	create->cpu_milli = (uint32_t)(form_number(limits, "cpu", 0) * 1000 + 0.5);
	create->ttl_s = (uint32_t)form_int(spec, "ttl_s", 0);
	create->egress = widest_egress(spec);
	for (size_t i = 0; i < LIMIT_SECRETS && i < json_array_size(json_object_get(spec, "secrets")); i++)
		(void)snprintf(create->secrets[i], sizeof(create->secrets[i]), "%s", json_string_value(json_array_get(json_object_get(spec, "secrets"), i)));
}

json_t *spec_without_values(const json_t *spec)
{
	json_t *copy = json_deep_copy(spec);
	json_t *names;
	const char *name;
	json_t *value;

	if (!json_is_object(json_object_get(copy, "env")))
		return copy; /* it is such a copy already */
	names = json_array();
	json_object_foreach(json_object_get(copy, "env"), name, value)
		(void)json_array_append_new(names, json_string(name));
	(void)json_object_set_new(copy, "env", names);
	return copy;
}
