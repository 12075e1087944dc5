/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts as users write them down, and their answers as the command line shows them. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

/* One action, a list of actions, or a whole act object, as the act object; the caller's reference. */
json_t *answer_act(json_t *actions);

/* Is a screenshot among the actions of an act object? */
bool answer_has_screenshot(const json_t *body);

/* A line for each result on standard output, errors on standard error, and whether the screen settled. */
void answer_show(const json_t *answer);

#endif
