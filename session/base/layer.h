/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switching off one layer of the sandbox, to see which other one holds: in a build of MODE=layers alone, by the environment variable
 * GLOVEBOX_LAYER_OFF of gloveboxd: names with "+" between. In every other build there is no such thing, and the names below must not be in a program:
 * session/refuse_weakened looks for them.
 */
#ifndef BASE_LAYER_H
#define BASE_LAYER_H

#ifdef GLOVEBOX_LAYERS
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LAYER_ENV "GLOVEBOX_LAYER_OFF"

static __attribute__((noinline, used)) bool layer_is_off(const char *name)
{
	const char *off = getenv(LAYER_ENV);
	size_t len = strlen(name);

	for (const char *at = off ? strstr(off, name) : NULL; at; at = strstr(at + 1, name))
		if ((at == off || at[-1] == '+') && (at[len] == '\0' || at[len] == '+'))
			return true;
	return false;
}

/* The variable with its value, for the environment of a child; NULL if it is not set. Never freed. */
static __attribute__((noinline, used)) char *layer_env(void)
{
	static char text[64];
	const char *off = getenv(LAYER_ENV);

	if (!off || strlen(off) + sizeof(LAYER_ENV) >= sizeof(text))
		return NULL;
	strcpy(text, LAYER_ENV "=");
	return strcat(text, off);
}
#else
#define layer_is_off(name) false
#define layer_env() NULL
#endif

#endif
