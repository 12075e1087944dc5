/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acts, checked against the server's own schemas (GET /v1/actions) before there is a session that could check them: names of actions, fields, types,
 * ranges. What depends on a session (its size, its keys, its image's apps) is not looked at.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "session/cli/cli.h"

/* Checks all of a list of act objects. CLI_DONE, or else the first fault was shown; its exit status (CLI_USAGE: a fault of the list). */
int check_before(struct cli *cli, const json_t *acts);

/*
 * Checks a value against a schema of the kind that the server makes: type, enum, const, minimum, maximum, minLength, maxLength, minItems, maxItems,
 * maxProperties, items, properties, required, additionalProperties false, anyOf. `path` is the pointer of the value. ERR_BAD_FIELD, ERR_UNKNOWN_FIELD,
 * ERR_MISSING_FIELD.
 */
int check_schema(const json_t *schema, const json_t *value, const char *path, struct err *e);

#endif
