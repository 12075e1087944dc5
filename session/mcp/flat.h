/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schemas that every client of MCP takes: a property has one type, and nothing is combined. What a row allows beside that type is
 * accepted all the same. Owner: session/mcp. No threads.
 */
#ifndef MCP_FLAT_H
#define MCP_FLAT_H

#include <jansson.h>
#include <stddef.h>

/* A copy of a schema (as form_schema and action_document make them) in that form; the caller's reference. */
json_t *flat_schema(const json_t *schema);

/*
 * One object schema for all actions of the document: "action" is one of their names, the other properties are those of all of them. What
 * several actions call by one name is of the widest range; where they say different things of it, the text says which says what.
 */
json_t *flat_actions(const json_t *actions);

/* "click {x?, y?, button?}: Clicks a mouse button." for each action, on lines: malloced, the caller's. */
char *flat_actions_doc(const json_t *actions);

/* Takes "additionalProperties": false out of a schema, at every depth: replies may grow. */
void flat_open(json_t *schema);

#endif
