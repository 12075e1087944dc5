/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a variable may be called. */
#include "session/base/variable.h"

#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* Who the user is, and the way to the display and to the buses. */
static const char *const OURS[] = {"HOME", "USER", "LOGNAME", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"};

int variable_check(const char *name, struct err *e)
{
	char shown[80];

	if (*name && !strchr(DIGITS, *name) && name[strspn(name, LETTERS DIGITS)] == '\0')
		return 0;
	return err_set(e, ERR_BAD_FIELD, "/env", "%s is no name of a variable: letters, digits and _, no digit first",
	               err_quote(shown, sizeof(shown), name, strlen(name)));
}

int variable_check_session(const char *name, struct err *e)
{
	char path[64];

	for (size_t i = 0; i < ARRAY_LEN(OURS); i++) {
		if (strcmp(OURS[i], name) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "/env/%s", name);
		return err_set(e, ERR_BAD_FIELD, path, "%s is the server's own and cannot be set here", name);
	}
	return variable_check(name, e);
}
