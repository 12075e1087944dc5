/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dialects, for their table (dialects.c). Owner: session/dialects.
 */
#ifndef DIALECTS_ROWS_H
#define DIALECTS_ROWS_H

#include "session/dialects/dialect.h"

extern const struct dialect dialect_anthropic_toolset;
extern const struct dialect dialect_anthropic_20251124;
extern const struct dialect dialect_anthropic_20250124;
extern const struct dialect dialect_anthropic_20241022;
extern const struct dialect dialect_mcp;
extern const struct dialect dialect_openai_preview;
extern const struct dialect dialect_openai;
extern const struct dialect dialect_gemini_legacy;
extern const struct dialect dialect_gemini;

#endif
