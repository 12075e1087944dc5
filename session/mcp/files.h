/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools for files: what of their arguments a session's calls for files are asked, and results of what these say. Owner: session/mcp. No threads.
 */
#ifndef MCP_FILES_H
#define MCP_FILES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The path as the calls take it: from the root, without "." and doubled slashes; "notes.txt" and "~/notes.txt" are in /home/user. Malloced, the caller's. */
char *mcp_files_path(const json_t *arguments);

/* What is read of a file: bytes from an offset, at most so many. A picture is read whole. */
struct mcp_window {
	int64_t offset, length;
};
struct mcp_window mcp_files_window(const json_t *arguments);

/* A file of `size` bytes of which that window was read: `len` bytes, which are changed. The caller's reference, as of the next two. */
json_t *mcp_files_read(const json_t *arguments, uint8_t *data, size_t len, int64_t size);

/* Of {"bytes":N} and {"entries":[…],"more":BOOL} of the calls. */
json_t *mcp_files_written(const json_t *arguments, const json_t *reply);
json_t *mcp_files_listed(const json_t *arguments, const json_t *reply);

#endif
