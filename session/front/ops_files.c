/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of a session's files. */
#include "session/base/util.h"
#include "session/front/operation.h"

#define FILE_ERRORS OPERATION_STAGE_ERRORS OPERATION_LEASE_ERRORS " conflict journal_full denied approval_pending waiting_for_approval limit_reached"

static const struct parameter get_file_query[] = {
	{"format", "=tar", "all that is in the folder, as Accept: application/x-tar", NULL},
};
static const struct said get_file_said[] = {
	{200, "application/octet-stream", NULL, "ETag Accept-Ranges Glovebox-Masked Content-Disposition", "the file", NULL},
	{200, "application/x-tar", NULL, "Glovebox-Entries Glovebox-Skipped Content-Disposition", "all beneath the folder", NULL},
	{200, "application/json", "Folder", NULL, "what is in the folder",
	 "{\"path\":\"/home/user\",\"entries\":[{\"name\":\"notes.txt\",\"type\":\"file\",\"size\":12,\"mode\":\"644\",\"modified\":\"2026-11-30T12:00:00Z\"}],"
	 "\"more\":false}"},
	{206, "application/octet-stream", NULL, "ETag Accept-Ranges Content-Range Glovebox-Masked Content-Disposition", "a part of the file", NULL},
	{304, NULL, NULL, "ETag", "it is as it was", NULL},
};
const struct operation op_get_file = {
	.id = "getFile",
	.tag = "files",
	.query = get_file_query,
	.n_query = ARRAY_LEN(get_file_query),
	.headers = "If-None-Match Range If-Range",
	.said = get_file_said,
	.n_said = ARRAY_LEN(get_file_said),
	.errors = FILE_ERRORS " bad_range",
	.doc = "The path is an absolute one without its first slash: home/user/notes.txt, ~/notes.txt, tmp/x; nothing else can be reached. No symbolic link is followed, and only plain "
		"files of one name are opened.",
};

static const struct parameter put_file_query[] = {
	{"format", "=tar", "as Content-Type: application/x-tar, unpacks the body into the folder", NULL},
	{"parents", "boolean", "makes the folders on the way that are not there", "true"},
	{"mode", "string", "rights of the file, three octal digits; absent: as it is, 644 for a new one", "755"},
};
static const struct said put_file_said[] = {
	{200, "application/json", "FileWritten", NULL, "it is there as a whole", "{\"path\":\"/home/user/notes.txt\",\"bytes\":12,\"created\":true}"},
};
const struct operation op_put_file = {
	.id = "putFile",
	.tag = "files",
	.query = put_file_query,
	.n_query = ARRAY_LEN(put_file_query),
	.said = put_file_said,
	.n_said = ARRAY_LEN(put_file_said),
	.errors = FILE_ERRORS " must_observe unsupported_media_type disk_full",
	.doc = "A file takes its place once all of it is there. Of an archive every entry is checked before the first one is unpacked: files, folders, and symbolic links that stay in it.",
};

static const struct parameter drop_file_query[] = {
	{"recursive", "boolean", "a folder goes with all that is in it", "true"},
};
static const struct said drop_file_said[] = {
	{200, "application/json", "FileDeleted", NULL, "it is gone", "{\"path\":\"/home/user/notes.txt\",\"deleted\":1}"},
};
const struct operation op_drop_file = {
	.id = "deleteFile",
	.tag = "files",
	.query = drop_file_query,
	.n_query = ARRAY_LEN(drop_file_query),
	.said = drop_file_said,
	.n_said = ARRAY_LEN(drop_file_said),
	.errors = FILE_ERRORS " must_observe",
};
