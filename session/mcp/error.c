/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults of whole requests, as a table. */
#include "session/mcp/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/base/util.h"

static const struct {
	int code, legacy, modern;
} faults[] = {
#define FAULT_ROW(symbol, code, legacy, modern) {code, legacy, modern},
	MCP_FAULT_ROWS(FAULT_ROW)
#undef FAULT_ROW
};

int mcp_refuse(struct mcp_error *e, enum mcp_fault fault, bool modern, json_t *data, const char *fmt, ...)
{
	va_list args;

	*e = (struct mcp_error){.code = faults[fault].code, .status = modern ? faults[fault].modern : faults[fault].legacy, .data = data};
	va_start(args, fmt);
	(void)vsnprintf(e->message, sizeof(e->message), fmt, args);
	va_end(args);
	/* It may be cut within a character. */
	e->message[util_utf8_prefix(e->message, strlen(e->message))] = '\0';
	return -1;
}

void mcp_error_finish(struct mcp_error *e)
{
	json_decref(e->data);
	e->data = NULL;
}
