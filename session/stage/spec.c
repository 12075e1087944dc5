/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A form for the members that are used here. */
#include "session/stage/spec.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/space.h"
#include "session/base/util.h"

/* What of a spec a stage acts on; the front has checked the rest. */
static const struct field side_fields[] = {
	{"width", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "width"},
	{"height", FIELD_INT, true, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "height"},
};
static const struct form space_form = {side_fields, ARRAY_LEN(side_fields), NULL};
static const struct field display_fields[] = {
	{"width", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "width"},
	{"height", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "height"},
	{"max_width", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "width"},
	{"max_height", FIELD_INT, false, 1, LIMIT_SIDE_MAX_PX, NULL, NULL, "px", NULL, "height"},
	{"layout", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "of the keyboard"},
	{"gl", FIELD_ANY, false, 0, 0, NULL, NULL, NULL, NULL, "GLX"},
};
static const struct form display_form = {display_fields, ARRAY_LEN(display_fields), NULL};
static const struct field lost_fields[] = {
	{"return_after_s", FIELD_INT, true, 1, LIMIT_TTL_S, NULL, NULL, "s", NULL, "the agent gets them back"},
};
static const struct form lost_form = {lost_fields, ARRAY_LEN(lost_fields), NULL};
static const struct field used_fields[] = {
	{"display", FIELD_OBJECT, false, 0, 0, NULL, &display_form, NULL, NULL, "its size"},
	{"space", FIELD_OBJECT, false, 0, 0, NULL, &space_form, NULL, NULL, "pixels of pictures and coordinates"},
	{"apps", FIELD_STRINGS, false, 0, LIMIT_APPS, NULL, NULL, NULL, "[]", "catalogue apps to start"},
	{"guard", FIELD_ENUM, false, 0, 0, "off last", NULL, NULL, "\"off\"", "refuse acts on a picture that has changed"},
	{"lease", FIELD_ENUM, false, 0, 0, "agent human", NULL, NULL, "\"agent\"", "who holds the controls at the start"},
	{"on_lost", FIELD_OBJECT, false, 0, 0, NULL, &lost_form, NULL, NULL, "what becomes of controls that a person has lost"},
	{"accessibility", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "true", "apps are asked what is on the screen"},
	{"env", FIELD_MAP, false, 0, LIMIT_ENV_ENTRIES, NULL, NULL, NULL, "{}", "environment of apps and commands"},
	{"record", FIELD_OBJECT, false, 0, 0, NULL, NULL, NULL, "{}", "what the journal keeps"},
};
static const struct form used_form = {used_fields, ARRAY_LEN(used_fields), NULL};

static void read_record(struct stage *stage, const json_t *record)
{
	const char *text = form_string(record, "text", "plain");

	stage->text = strcmp(text, "plain") == 0 ? STAGE_TEXT_PLAIN : strcmp(text, "always") == 0 ? STAGE_TEXT_ALWAYS : STAGE_TEXT_NONE;
	stage->keep_nodes = form_bool(record, "nodes", true);
	stage->recording.wanted = form_bool(record, "pictures", true);
}

/* The display begins as the spec says, in what the warden made for it. */
static void read_sizes(struct stage *stage)
{
	const struct space most = stage->ends.maximum;
	const json_t *display = json_object_get(stage->spec, "display"), *space = json_object_get(stage->spec, "space");

	stage->native = (struct space){(int)form_int(display, "width", most.width_px), (int)form_int(display, "height", most.height_px)};
	stage->space_follows = !space;
	stage->space = space ? (struct space){(int)form_int(space, "width", 0), (int)form_int(space, "height", 0)} : space_for_models(stage->native);
}

int spec_read(struct stage *stage, const char *body, size_t len, struct err *e)
{
	json_auto_t *value = NULL;
	const char *key;
	json_t *member;

	if (json_parse(body, len, &value, e) < 0)
		return -1;
	stage->spec = json_incref(json_object_get(value, "spec"));
	stage->image = json_incref(json_object_get(value, "image"));
	stage->operators = json_incref(json_object_get(value, "approval"));
	if (!json_is_object(stage->spec) || !json_is_object(stage->image))
		return err_set(e, ERR_BAD_REQUEST, NULL, "open takes a spec and an image");
	/* Only the used members are checked here; others are the front's. */
	json_auto_t *used = json_object();

	json_object_foreach(stage->spec, key, member)
		for (size_t i = 0; i < ARRAY_LEN(used_fields); i++)
			if (strcmp(used_fields[i].name, key) == 0)
				json_object_set(used, key, member);
	if (form_check(&used_form, used, "/spec", NULL, e) < 0)
		return -1;
	read_sizes(stage);
	stage->guard.last = strcmp(form_string(stage->spec, "guard", "off"), "last") == 0;
	read_record(stage, json_object_get(stage->spec, "record"));
	if (secrets_take(&stage->secrets, &stage->ends, e) < 0 || secrets_read_rules(&stage->secrets, json_object_get(value, "secrets"), e) < 0)
		return -1;
	gate_begin(stage);
	lease_begin(stage, json_object_get(stage->spec, "on_lost"));
	return 0;
}
