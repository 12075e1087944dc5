/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session spec: what a caller may ask for, checked fully and completed by defaults. What this version cannot
 * give is refused, never ignored. Owner: session/front. No threads.
 */
#ifndef FRONT_SPEC_H
#define FRONT_SPEC_H

#include <jansson.h>

#include "session/base/json.h"
#include "session/warden/proto.h"

#define SPEC_DISK_MB 1024 /* limits.disk_mb that nobody has named, where half of the memory is as much */

/* The form of a spec, for its schema. */
extern const struct form spec_form, spec_limits_form;

/* Beside it in the body of a create, not part of what a session keeps: how many are wanted. */
extern const struct form spec_count_form;

/* The JSON Schema of the body of a create; the caller's reference. */
json_t *spec_create_schema(void);

/* Takes the count out of the body, 0 if it has none. -1 with the faults added. */
int spec_take_count(json_t *asked, size_t *count, struct faults *faults);

/*
 * Checks the caller's object and makes the whole spec, with every field (the caller's reference). `usual` (an object like a spec, or
 * NULL) has defaults that stand in place of the form's. -1 with the faults added: those of
 * form_check_all, or else ERR_BAD_FIELD for rules between fields, ERR_UNSUPPORTED and ERR_TIER_UNAVAILABLE for what is not offered.
 */
int spec_complete_all(const json_t *asked, const json_t *usual, json_t **spec, struct faults *faults);

/* The same for who wants the first fault only. */
int spec_complete(const json_t *asked, const json_t *usual, json_t **spec, struct err *e);

/* Lowers the defaults in `usual` to the numbers of `most`, where they are above these; both are objects with members of `form`, whose own
 * defaults count where `usual` has none. */
void spec_lower(const struct form *form, json_t *usual, const json_t *most);

/* The form of a change to a session that lives, for its schema. */
extern const struct form spec_change_form;

/*
 * A copy of a kept spec with a caller's change merged in as by RFC 7396: labels one by one, null takes one (or all of them) out. -1 with
 * the faults added.
 */
int spec_change(const json_t *spec, json_t *change, json_t **changed, struct faults *faults);

/* Checks what depends on the image: that its catalogue has the apps. ERR_BAD_FIELD at /apps/N, with the names that there are. */
int spec_check_apps(const json_t *spec, const json_t *manifest, struct err *e);

/* What the warden must know of a completed spec. */
void spec_for_warden(const json_t *spec, const json_t *manifest, struct warden_create *create);

/* Adds a fault for each label that is too long or has no name. */
void spec_check_labels(json_t *labels, struct faults *faults);

/* A copy to keep and to show: the environment by its names alone. The caller's reference. */
json_t *spec_without_values(const json_t *spec);


#endif
