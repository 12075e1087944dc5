/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an act object and its observe look like, for checking them and for telling callers.
 * Owner: the stage; the program that prints the action document links it, too. No threads.
 */
#ifndef STAGE_FORMS_H
#define STAGE_FORMS_H

#include "session/base/action.h"

extern const struct form forms_lease;   /* the body of POST lease */
extern const struct form forms_act;     /* the body of an act; its actions are checked by their rows */
extern const struct form forms_observe; /* its observe, when that is an object */

/* GET /v1/actions: {"actions": […], "act": SCHEMA}, a new reference. */
json_t *forms_document(const struct action_set *sets, size_t n_sets);

/* What a stage takes and says, for the OpenAPI document: {"Act": SCHEMA, "ActReply": …, "ClickAction": …}, a new reference. */
json_t *forms_schemas(const struct action_set *sets, size_t n_sets);

#endif
