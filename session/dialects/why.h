/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why something was not done, as a model is told it, whatever its vendor.
 *
 * What is wrong with that which the model wrote is told in the error's own words, which are about that alone. All else has a fixed phrase: its own
 * words may hold what the screen shows, or what is the operator's. Owner: session/dialects. No threads, no state.
 */
#ifndef DIALECTS_WHY_H
#define DIALECTS_WHY_H

#include <jansson.h>
#include <stdbool.h>

/* `error` is a problem, or the error of a result: an object with "code" and "detail". */

/* True if the model can mend it by deciding anew, so that a refusal for this is told to it. Else it is for the harness. */
bool why_is_models(const json_t *error);

/* True if what the model wrote is wrong in itself: why_text is then the error's own text. */
bool why_is_input(const json_t *error);

/* The text, without a stop at its end; borrowed from the error, or static. */
const char *why_text(const json_t *error);

#endif
