/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of stored secrets. */
#include "session/base/util.h"
#include "session/front/operation.h"

#define EXAMPLE "{\"name\":\"shop\",\"app\":\"firefox\",\"origin\":\"https://shop.example\",\"field\":\"password\",\"inject\":null,\"header\":null,\"prefix\":null,\"created_at\":\"2026-11-30T12:00:00Z\"," \
	"\"changed_at\":\"2026-11-30T12:00:00Z\",\"by\":\"operator\"}"

static const struct said list_secrets_said[] = {
	{200, "application/json", "Secrets", NULL, "the secrets", "{\"secrets\":[" EXAMPLE "]}"},
};
const struct operation op_list_secrets = {
	.id = "listSecrets",
	.tag = "secrets",
	.said = list_secrets_said,
	.n_said = ARRAY_LEN(list_secrets_said),
};

static const struct parameter put_secret_query[] = {
	{"app", "string", "the app of the catalogue that it may be typed into; with neither app nor origin it is never typed, only masked", "firefox"},
	{"origin", "string", "of the page that it may be typed into", "https://shop.example"},
	{"field", "=password text", "what kind of field: password if absent", "password"},
	{"inject", "string", "the origin of requests that it is put into on their way out of a session, outside of it; with header, and instead of app", NULL},
	{"header", "string", "their header that it is the value of", NULL},
	{"prefix", "string", "what stands there before it; nothing if absent", NULL},
};
static const struct said put_secret_said[] = {
	{200, "application/json", "Secret", NULL, "it is on the disk", EXAMPLE},
};
const struct operation op_put_secret = {
	.id = "putSecret",
	.tag = "secrets",
	.query = put_secret_query,
	.n_query = ARRAY_LEN(put_secret_query),
	.said = put_secret_said,
	.n_said = ARRAY_LEN(put_secret_said),
	.errors = "missing_field limit_reached timeout cancelled",
	.doc = "The value is never told again. Sessions that run keep what they began with. One that is typed has characters of a US keyboard alone.",
};

static const struct said drop_secret_said[] = {
	{204, NULL, NULL, NULL, "it is gone", NULL},
};
const struct operation op_drop_secret = {
	.id = "deleteSecret",
	.tag = "secrets",
	.said = drop_secret_said,
	.n_said = ARRAY_LEN(drop_secret_said),
	.errors = "bad_field timeout cancelled",
};
