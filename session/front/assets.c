/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assembler puts each file between two labels; the Makefile says that this object depends on them. */
#include "session/front/assets.h"

#include <string.h>

#include "session/base/util.h"

#define ASSET(name, file) \
	__asm__(".pushsection .rodata\n" #name "_start:\n\t.incbin \"" file "\"\n" #name "_end:\n\t.byte 0\n\t.popsection\n"); \
	extern const char name##_start[], name##_end[]

ASSET(asset_page, "display/console/index.html");
ASSET(asset_script, "display/console/page.js");
ASSET(asset_style, "display/console/page.css");
ASSET(asset_actions, ACTIONS_JSON);
ASSET(asset_schemas, SCHEMAS_JSON);

static const struct asset assets[] = {
	{"/", "text/html; charset=utf-8", asset_page_start, asset_page_end},
	{"/page.js", "text/javascript; charset=utf-8", asset_script_start, asset_script_end},
	{"/page.css", "text/css; charset=utf-8", asset_style_start, asset_style_end},
	{"/v1/actions", "application/json", asset_actions_start, asset_actions_end},
	{ASSETS_SCHEMAS, "application/json", asset_schemas_start, asset_schemas_end},
};

const struct asset *assets_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(assets); i++)
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	return NULL;
}
