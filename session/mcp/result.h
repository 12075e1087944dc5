/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of tools: content for the model, the same as an object, or why nothing happened. Owner: session/mcp. No threads. */
#ifndef MCP_RESULT_H
#define MCP_RESULT_H

#include <jansson.h>

#include "session/base/faults.h"

/* {"content":[{"type":"text",…}],"structuredContent":…}: the object (taken) and its text. The caller's reference. */
json_t *result_of(json_t *structured);

/* Nothing was done (or it is not known what), with isError: a line for each fault, of which there is at least one; or for those of a problem object. */
json_t *result_of_faults(const struct faults *faults);
json_t *result_of_problem(const json_t *problem);

/* isError with one text. */
json_t *result_of_failure(const char *text);

/* Content blocks; the caller's reference. */
json_t *result_text(const char *text, size_t len); /* valid UTF-8 */
json_t *result_image(const char *media_type, json_t *base64); /* a string, taken: what is there already is not copied */

#endif
