/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The act object as rows. */
#include "session/stage/forms.h"

#include "apps/apps.h"
#include "display/display.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/stage/shapes.h"

static const struct field seen_fields[] = {
	{"frame", FIELD_INT, true, 0, LIMIT_FRAME, NULL, NULL, NULL, NULL, "frame of the picture"},
	{"epoch", FIELD_INT, true, 1, LIMIT_FRAME, NULL, NULL, NULL, NULL, "epoch of the picture"},
	{"episode", FIELD_INT, true, 1, LIMIT_FRAME, NULL, NULL, NULL, NULL, "episode of the picture"},
};
static const struct form seen_form = {seen_fields, ARRAY_LEN(seen_fields), "the \"at\" that came with a picture, as it is"};

static const struct field observe_fields[] = {
	{"picture", FIELD_ENUM, false, 0, 0, "inline none", NULL, NULL, "\"inline\"", "with a picture or without"},
	DISPLAY_PICTURE_FIELDS,
	{"mask", FIELD_LIST, false, 0, LIMIT_MASKS, NULL, &form_rect, NULL, "[]", "what is drawn wholly inside one of these does not keep it from being settled"},
	DISPLAY_QUIET_FIELDS,
};
const struct form forms_observe = {observe_fields, ARRAY_LEN(observe_fields), NULL};

static const struct field act_fields[] = {
	{"actions", FIELD_LIST, true, 0, LIMIT_ACTIONS, NULL, NULL, NULL, NULL, "what to do, in order; none: only look"},
	{"observe", FIELD_ANY, false, 0, 0, NULL, &forms_observe, NULL, "false", "true or an object: wait for quiet afterwards and look"},
	{"timeout_ms", FIELD_INT, false, 1, LIMIT_CALL_MS, NULL, NULL, "ms", "60000", "limit of the whole call, waiting for its turn included"},
	{"space", FIELD_ANY, false, 0, 0, "native", &form_space, NULL, NULL, "the space of this call's coordinates and pictures; absent: the session's"},
	{"seen", FIELD_OBJECT, false, 0, 0, NULL, &seen_form, NULL, NULL,
	 "the \"at\" of the picture that this call was decided on: refused when its first target has changed since then"},
	{"check_only", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, "false", "check everything, do nothing"},
};
const struct form forms_act = {act_fields, ARRAY_LEN(act_fields), NULL};

static const struct field lease_fields[] = {
	{"action", FIELD_ENUM, true, 0, 0, "take give extend clear withdraw", NULL, NULL, NULL,
	 "take, give, extend: of a person; clear: from a person to nobody, from nobody to the agent; withdraw: of the agent that asked"},
	{"viewer", FIELD_STRING, false, 2, 11, NULL, NULL, NULL, NULL, "of a take: the viewer whose keys and pointer count, as its ticket names it"},
	{"kind", FIELD_ENUM, false, 0, 0, "login approve captcha other", NULL, NULL, NULL, "of a take; absent: as the agent asked, or as it is, or other"},
	{"keep_running", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL,
	 "of a take for a login: the agent's programs stand still and are not ended; absent: they are ended, or as whoever holds has said before"},
	{"share", FIELD_BOOL, false, 0, 0, NULL, NULL, NULL, NULL,
	 "of a take for a login: other viewers see the screen, too; absent: they do not, or as whoever holds has said before"},
	{"note", FIELD_STRING, false, 0, LIMIT_REASON_BYTES, NULL, NULL, NULL, NULL, "of a give: what the agent is told"},
};
const struct form forms_lease = {lease_fields, ARRAY_LEN(lease_fields), NULL};

json_t *forms_document(const struct action_set *sets, size_t n_sets)
{
	json_t *document = action_document(sets, n_sets);

	json_object_set_new(document, "act", form_schema(&forms_act));
	return document;
}

json_t *forms_schemas(const struct action_set *sets, size_t n_sets)
{
	json_t *schemas = json_object(), *act = form_schema(&forms_act);
	json_t *actions = json_object_get(json_object_get(act, "properties"), "actions");

	action_schemas(sets, n_sets, schemas);
	json_object_set_new(actions, "items", json_pack("{s:s}", "$ref", SHAPE_REF "Action"));
	json_object_set_new(schemas, "Act", act);
	json_object_set_new(schemas, "LeaseChange", form_schema(&forms_lease));
	shape_add_all(schemas, shapes_stage, shapes_n_stage);
	shape_add_all(schemas, display_shapes, display_n_shapes);
	shape_add_all(schemas, apps_shapes, apps_n_shapes);
	return schemas;
}
