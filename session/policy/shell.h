/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line runs, as far as that can be read off it: a list of simple commands. Nothing is expanded and nothing is run.
 *
 * Read are quotes, `;`, `&`, `&&`, `||`, `|`, newlines, parentheses, comments, redirections, assignments before a command, and a shell inside (`sh -c LINE`).
 * Everything else that decides what is run (expansions, substitutions, functions, loops, here documents, commands that run others, such as
 * xargs) makes the list not sure: then other commands than those in it may be run. Owner: session/policy. No threads.
 */
#ifndef POLICY_SHELL_H
#define POLICY_SHELL_H

#include <jansson.h>
#include <stdbool.h>

/* The simple commands that an argv runs, each a list of its words; the caller's reference. An argv that is no shell's is one of them, as it is. */
json_t *shell_commands(const json_t *argv, bool *sure);

/* The same of a line. */
json_t *shell_split(const char *line, bool *sure);

/* Does the argv give a shell a line to run (or let it read one)? */
bool shell_is_one(const json_t *argv);

/* The last part of a program's path. Borrowed from it. */
const char *shell_program(const char *path);

#endif
