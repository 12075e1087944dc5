/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the action document, or with --schemas the part of the OpenAPI document that is a stage's, made of the rows that the stage joins. Runs
 * while Glovebox is built: the front carries both without linking what the rows do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "display/display.h"
#include "input/input.h"
#include "session/stage/forms.h"
#include "session/stage/rows.h"

int main(int argc, char **argv)
{
	const struct action_set sets[] = {
		{input_rows, input_n_rows, NULL},
		{rows_own, rows_n_own, NULL},
		{display_rows, display_n_rows, NULL},
		{apps_rows, apps_n_rows, NULL},
		{access_rows, access_n_rows, NULL},
	};
	const size_t n_sets = sizeof(sets) / sizeof(sets[0]);
	json_auto_t *document = argc > 1 && strcmp(argv[1], "--schemas") == 0 ? forms_schemas(sets, n_sets) : forms_document(sets, n_sets);

	return json_dumpf(document, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
