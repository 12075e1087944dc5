/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is installed has no fixtures. */
#include "session/mcp/more.h"

const struct mcp_more *const mcp_more = NULL;
