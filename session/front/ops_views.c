/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of those who watch, and of the links that people come by. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said make_view_said[] = {
	{201, "application/json", "View", NULL, "the ticket",
	 "{\"viewer\":\"v3\",\"ticket\":\"AAAAA-BBBBB-CCCCC-DDDDD\",\"protocol\":\"binary\",\"controls\":false,\"expires_at\":\"2026-11-30T12:00:30Z\"}"},
};
const struct operation op_make_view = {
	.id = "createView",
	.tag = "views",
	.body = "ViewWish",
	.request = "{\"controls\":false}",
	.said = make_view_said,
	.n_said = ARRAY_LEN(make_view_said),
	.errors = OPERATION_STAGE_ERRORS " limit_reached viewer_limit",
};

static const struct said open_view_said[] = {
	{101, NULL, NULL, "Sec-WebSocket-Accept Sec-WebSocket-Protocol Upgrade", "the connection is a WebSocket now", NULL},
};
const struct operation op_open_view = {
	.id = "openView",
	.tag = "views",
	.headers = "Sec-WebSocket-Protocol Sec-WebSocket-Version Sec-WebSocket-Key",
	.said = open_view_said,
	.n_said = ARRAY_LEN(open_view_said),
	.errors = OPERATION_STAGE_ERRORS " limit_reached viewer_limit conflict",
	.doc = "Binary messages carry RFB 3.8 as a stream of bytes, both ways; their borders mean nothing. It is closed with 1001 when the session ends or "
		"the server stops, 1008 when the token is revoked or expires or the viewer is thrown out, 1011 when the view fails; and after 15 s "
		"in which no ping was answered.",
};

static const struct said list_viewers_said[] = {
	{200, "application/json", "Viewers", NULL, "those who are there",
	 "{\"viewers\":[{\"viewer\":\"v3\",\"role\":\"controller\",\"token\":\"8f2c41d07a31be90\",\"controls\":true,\"since\":\"2026-11-30T12:00:00Z\","
	 "\"share\":null}]}"},
};
const struct operation op_list_viewers = {
	.id = "listViewers",
	.tag = "views",
	.said = list_viewers_said,
	.n_said = ARRAY_LEN(list_viewers_said),
};

static const struct said throw_out_said[] = {{204, NULL, NULL, NULL, "its view is closed", NULL}};
const struct operation op_throw_out = {
	.id = "endView",
	.tag = "views",
	.said = throw_out_said,
	.n_said = ARRAY_LEN(throw_out_said),
	.doc = "Its token is as good as before: revoke that as well if the person is not to come back.",
};

#define EXAMPLE_SHARE \
	"\"id\":\"s4v6kq2mzx7hw3pd-7k2m9x4a\",\"role\":\"controller\",\"label\":\"Ada, for the login\",\"link\":\"/#share=s4v6kq2mzx7hw3pd-7k2m9x4a\"," \
	"\"created_at\":\"2026-11-30T12:00:00Z\",\"expires_at\":\"2026-11-30T13:00:00Z\",\"used_at\":null,\"tries\":5"

static const struct said make_share_said[] = {
	{201, "application/json", "NewShare", NULL, "the link, with its code", "{" EXAMPLE_SHARE ",\"code\":\"K7TM-2XQ9\"}"},
};
const struct operation op_make_share = {
	.id = "createShare",
	.tag = "views",
	.body = "ShareWish",
	.request = "{\"role\":\"controller\",\"ttl_s\":3600,\"label\":\"Ada, for the login\"}",
	.said = make_share_said,
	.n_said = ARRAY_LEN(make_share_said),
	.errors = "limit_reached session_gone",
	.doc = "The link alone opens nothing: send the code by another way. POST /v1/console trades both for a token, which ends with the link.",
};

static const struct said list_shares_said[] = {
	{200, "application/json", "Shares", NULL, "the links", "{\"shares\":[{" EXAMPLE_SHARE "}]}"},
};
const struct operation op_list_shares = {
	.id = "listShares",
	.tag = "views",
	.said = list_shares_said,
	.n_said = ARRAY_LEN(list_shares_said),
};

static const struct said revoke_share_said[] = {{204, NULL, NULL, NULL, "neither it nor what came by it opens anything any more", NULL}};
const struct operation op_revoke_share = {
	.id = "revokeShare",
	.tag = "views",
	.said = revoke_share_said,
	.n_said = ARRAY_LEN(revoke_share_said),
};
