/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assembler puts each file between two labels; the Makefile says that this object depends on them. */
#include "session/front/assets.h"

#include <string.h>

#include "session/base/util.h"

#define ASSET(name, file) \
	__asm__(".pushsection .rodata\n" #name "_start:\n\t.incbin \"" file "\"\n" #name "_end:\n\t.byte 0\n\t.popsection\n"); \
	extern const char name##_start[], name##_end[]

/* The files of the console: list_assets writes a line CONSOLE(number, path, type, tag, file) for each. */
#define CONSOLE(n, path, type, tag, file) ASSET(asset_console_##n, file);
#include CONSOLE_ROWS
#undef CONSOLE
ASSET(asset_actions, ACTIONS_JSON);
ASSET(asset_schemas, SCHEMAS_JSON);

static const struct asset assets[] = {
#define CONSOLE(n, path, type, tag, file) {path, type, tag, asset_console_##n##_start, asset_console_##n##_end},
#include CONSOLE_ROWS
#undef CONSOLE
	{"/v1/actions", "application/json", NULL, asset_actions_start, asset_actions_end},
	{ASSETS_SCHEMAS, "application/json", NULL, asset_schemas_start, asset_schemas_end},
};

const struct asset *assets_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(assets); i++)
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	return NULL;
}
