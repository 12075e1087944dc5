/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of the server itself. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct said page_said[] = {
	{200, "text/html; charset=utf-8", NULL, "ETag", "the page",
	 NULL},
	{304, NULL, NULL, "ETag", "it is as it was",
	 NULL},
};
const struct operation op_page = {
	.id = "getPage",
	.tag = "console",
	.headers = "If-None-Match",
	.said = page_said,
	.n_said = ARRAY_LEN(page_said),
};

static const struct said page_file_said[] = {
	{200, "text/javascript; charset=utf-8", NULL, "ETag", "a module",
	 NULL},
	{200, "text/css; charset=utf-8", NULL, "ETag", "a style",
	 NULL},
	{200, "image/svg+xml", NULL, "ETag", "a picture",
	 NULL},
	{200, "text/plain; charset=utf-8", NULL, "ETag", "a licence",
	 NULL},
	{304, NULL, NULL, "ETag", "it is as it was",
	 NULL},
};
const struct operation op_page_file = {
	.id = "getPageFile",
	.tag = "console",
	.headers = "If-None-Match",
	.said = page_file_said,
	.n_said = ARRAY_LEN(page_file_said),
};

static const struct said live_said[] = {
	{200, "application/json", "Live", NULL, "it answers",
	 "{\"live\":true}"},
};
const struct operation op_live = {
	.id = "getLive",
	.tag = "health",
	.said = live_said,
	.n_said = ARRAY_LEN(live_said),
};

static const struct said ready_said[] = {
	{200, "application/json", "Ready", NULL, "it is ready",
	 "{\"ready\":true}"},
};
const struct operation op_ready = {
	.id = "getReady",
	.tag = "health",
	.said = ready_said,
	.n_said = ARRAY_LEN(ready_said),
};

static const struct said metrics_said[] = {
	{200, "text/plain; version=0.0.4; charset=utf-8", NULL, NULL, "the metrics",
	 "# TYPE glovebox_front_restarts_total counter\nglovebox_front_restarts_total 0\n"},
};
const struct operation op_metrics = {
	.id = "getMetrics",
	.tag = "health",
	.said = metrics_said,
	.n_said = ARRAY_LEN(metrics_said),
};

static const struct said openapi_said[] = {
	{200, "application/json", "object", "ETag", "this document",
	 "{\"openapi\":\"3.1.0\"}"},
	{304, NULL, NULL, "ETag", "it is as it was",
	 NULL},
};
const struct operation op_openapi = {
	.id = "getOpenApi",
	.tag = "server",
	.headers = "If-None-Match",
	.said = openapi_said,
	.n_said = ARRAY_LEN(openapi_said),
};

static const struct said about_said[] = {
	{200, "application/json", "About", NULL, "what the server is",
	 "{\"name\":\"glovebox\",\"version\":\"0.1.0\",\"api\":\"v1\",\"limits\":{\"actions\":256},\"spec\":{\"type\":\"object\"}"
	 ",\"change\":{\"type\":\"object\"},\"errors\":[{\"code\":\"busy\",\"status\":429,\"fix\":\"later\",\"title\":\"Too many "
	 "calls are waiting\"}],\"routes\":[{\"method\":\"GET\",\"path\":\"/livez\",\"roles\":[],\"doc\":\"200 while the server "
	 "answers at all\",\"query\":null}],\"openapi\":\"/openapi.json\",\"key\":null}"},
};
const struct operation op_about = {
	.id = "getAbout",
	.tag = "server",
	.said = about_said,
	.n_said = ARRAY_LEN(about_said),
};

static const struct said actions_said[] = {
	{200, "application/json", "Actions", NULL, "the actions",
	 "{\"actions\":[{\"name\":\"key_up\",\"doc\":\"Releases keys.\",\"schema\":{\"type\":\"object\"}}],\"act\":{\"type\":\"object\"}"
	 "}"},
};
const struct operation op_actions = {
	.id = "listActions",
	.tag = "server",
	.said = actions_said,
	.n_said = ARRAY_LEN(actions_said),
};

static const struct said images_said[] = {
	{200, "application/json", "Images", NULL, "the images",
	 "{\"images\":[{\"name\":\"desktop\",\"hash\":\"c1e0b40ef1ce7f1a0b8a3e0f2f0a9f64c1e0b40ef1ce7f1a0b8a3e0f2f0a9f64\",\"apps\":["
	 "{\"name\":\"firefox\",\"title\":\"Firefox\"}]}]}"},
};
const struct operation op_images = {
	.id = "listImages",
	.tag = "server",
	.said = images_said,
	.n_said = ARRAY_LEN(images_said),
};

static const struct said trade_code_said[] = {
	{200, "application/json", "Traded", NULL, "the token",
	 "{\"token\":\"gbo_4f6b…\",\"role\":\"operator\",\"expires_in_s\":43200,\"session\":null}"},
};
const struct operation op_trade_code = {
	.id = "tradeCode",
	.tag = "console",
	.body = "Code",
	.request = "{\"code\":\"ABCD-2345\"}",
	.said = trade_code_said,
	.n_said = ARRAY_LEN(trade_code_said),
	.errors = "unauthorized limit_reached session_gone",
};
