/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A person's address instead of a result. */
#include "session/front/mcp_handover.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/json.h"
#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/front/mcp.h"
#include "session/mcp/envelope.h"

#define STATE_MS (24 * 3600 * 1000LL) /* a call may come back for so long */
#define WAIT_MS 50000                 /* before it is told to come back once more */
#define NAME "handover"               /* of what is asked for */
#define REASON_BYTES 400

void mcp_handover_read(struct mcp_handover *handover, const struct mcp_call *call, json_t *message)
{
	const json_t *elicits = json_object_get(call->caps, "elicitation"), *said = json_object_get(call->params, "inputResponses");
	const char *action = json_string_value(json_object_get(json_object_get(said, NAME), "action"));
	json_t *state = json_object_get(call->params, "requestState");

	handover->opens = call->revision->urls && json_is_object(json_object_get(elicits, "url"));
	handover->declined = action && strcmp(action, "accept") != 0;
	if (!call->revision->modern || !state)
		return;
	/* One that is no text, or far too long, is none that we have given. */
	handover->state = json_is_string(state) && json_string_length(state) < LIMIT_MCP_ID_BYTES ? "" : "-";
	if (!*handover->state && json_object_set(message, "state", state) == 0)
		handover->state = json_string_value(json_object_get(message, "state"));
}

bool mcp_handover_wanted(const struct mcp_run *run, const json_t *counts)
{
	const json_t *asked = json_object_get(json_object_get(counts, "actions"), "request_human");

	return run->handover.opens && json_integer_value(json_array_get(asked, 0)) > 0;
}

/* --- the state: "EXPIRY.hex of its HMAC", bound to token, session and what was asked --- */

static void sign(const struct mcp_run *run, long long expires_ms, char out[2 * HASH_BYTES + 1])
{
	uint8_t digest[HASH_BYTES], mac[HASH_BYTES];
	char hex[2 * HASH_BYTES + 1];
	auto_free char *text = NULL;

	hash_sha256(run->body, run->body_len, digest);
	util_hex(hex, digest, sizeof(digest));
	text = util_printf("%s\n%s\n%lld\n%s", run->who.name, run->about->id, expires_ms, hex);
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, run->mcp->handover_key, sizeof(run->mcp->handover_key), text, strlen(text), mac) < 0)
		DIE("gnutls makes no HMAC");
	util_hex(out, mac, sizeof(mac));
}

static char *state_make(const struct mcp_run *run)
{
	long long expires_ms = store_now_ms() + STATE_MS;
	char mac[2 * HASH_BYTES + 1];

	sign(run, expires_ms, mac);
	return util_printf("%lld.%s", expires_ms, mac);
}

static bool state_is_ours(const struct mcp_run *run)
{
	const char *dot = strchr(run->handover.state, '.');
	long long expires_ms = strtoll(run->handover.state, NULL, 10);
	uint8_t said[HASH_BYTES], right[HASH_BYTES];
	char mac[2 * HASH_BYTES + 1];

	if (!dot || expires_ms < store_now_ms() || !hash_from_hex(dot + 1, said))
		return false;
	sign(run, expires_ms, mac);
	return hash_from_hex(mac, right) && hash_same(said, right);
}

/* --- the lease --- */

static int ask_lease(struct mcp_run *run, json_t *query, const char *body, json_t **lease, struct err *e)
{
	const struct stage_call call = {.name = "lease", .role = role_name(run->who.role), .token = run->who.name, .request_id = run->request_id,
	                                .query = query, .body = body, .body_len = body ? strlen(body) : 0};
	int rc;

	session_begin_call(run->about);
	rc = stage_ask(run->about->stage, &call, util_now_ms() + LIMIT_CALL_MS + LIMIT_STATE_MS, lease, e);
	session_finish_call(run->about);
	return rc;
}

static bool is_agents(const json_t *lease)
{
	return strcmp(form_string(lease, "holder", "agent"), "agent") == 0;
}

/* How it stands once it is the agent's, or after a while. */
static int wait_lease(struct mcp_run *run, json_t **out, struct err *e)
{
	int64_t until_ms = util_now_ms() + WAIT_MS, left_ms;
	json_t *lease = NULL;
	int rc = ask_lease(run, NULL, NULL, &lease, e);

	while (rc == 0 && !is_agents(lease) && (left_ms = until_ms - util_now_ms()) > 0) {
		json_auto_t *query = json_pack("{s:o,s:o}", "wait_epoch", json_sprintf("%ld", form_int(lease, "epoch", 0)), "timeout_ms",
		                               json_sprintf("%lld", (long long)left_ms));

		json_decref(lease);
		lease = NULL;
		rc = ask_lease(run, query, NULL, &lease, e);
	}
	*out = lease;
	return rc;
}

/* --- answers --- */

static char *fault(const struct mcp_run *run, struct mcp_error *e, size_t *len)
{
	json_auto_t *answer = envelope_error(run->call.id, e);

	mcp_error_finish(e);
	return json_text(answer, len);
}

/* The address, and what the user is told: the agent's words as such, and not all of them. */
static json_t *elicitation(const struct mcp_run *run, const json_t *lease)
{
	const struct front *front = run->mcp->front;
	const char *base = front->config.public_url ? front->config.public_url : front->listeners.url, *reason = form_string(lease, "reason", "");
	char shown[REASON_BYTES];

	return json_pack("{s:s,s:o,s:o}", "mode", "url", "url", json_sprintf("%s/#session=%s", base ? base : "", run->about->id), "message",
	                 json_sprintf("An agent asks for a person at its desktop. Log in there, take over, and give the controls back. It says: %s",
	                              err_quote(shown, sizeof(shown), reason, strlen(reason))));
}

static char *ask_modern(const struct mcp_run *run, const json_t *lease, size_t *len)
{
	json_auto_t *result = mcp_result_members(&run->call), *answer = NULL;
	auto_free char *state = state_make(run);

	json_object_set_new(result, "resultType", json_string("input_required"));
	json_object_set_new(result, "inputRequests", json_pack("{s:{s:s,s:o}}", NAME, "method", "elicitation/create", "params", elicitation(run, lease)));
	json_object_set_new(result, "requestState", json_string(state));
	answer = envelope_result(run->call.id, json_incref(result));
	return json_text(answer, len);
}

static char *ask_legacy(const struct mcp_run *run, const json_t *lease, size_t *len)
{
	json_t *asked = elicitation(run, lease);
	struct mcp_error e = {0};

	json_object_set_new(asked, "elicitationId", json_sprintf("%s-%ld", run->about->id, form_int(lease, "epoch", 0)));
	(void)mcp_refuse(&e, MCP_ELICIT, false, json_pack("{s:[o]}", "elicitations", asked), "a person is needed: open the address, and look once the controls are back");
	return fault(run, &e, len);
}

static char *ask_again(const struct mcp_run *run, const json_t *lease, size_t *len)
{
	return run->call.revision->modern ? ask_modern(run, lease, len) : ask_legacy(run, lease, len);
}

static char *fail(const struct mcp_run *run, const struct err *why, size_t *len)
{
	struct mcp_error e = {0};

	(void)mcp_refuse(&e, MCP_INTERNAL, run->call.revision->modern, NULL, "%s", why->msg);
	return fault(run, &e, len);
}

char *mcp_handover_ask(struct mcp_run *run, size_t *len)
{
	json_auto_t *lease = NULL;
	struct err e;

	if (ask_lease(run, NULL, NULL, &lease, &e) < 0)
		return fail(run, &e, len);
	return is_agents(lease) ? NULL : ask_again(run, lease, len);
}

static char *refuse_state(const struct mcp_run *run, size_t *len)
{
	struct mcp_error e = {0};

	(void)mcp_refuse(&e, MCP_BAD_PARAMS, true, NULL, "the requestState is not one that this server has given for this call");
	return fault(run, &e, len);
}

enum mcp_handover_end mcp_handover_resume(struct mcp_run *run, char **text, size_t *len)
{
	json_auto_t *lease = NULL;
	struct err e;

	if (!state_is_ours(run)) {
		*text = refuse_state(run, len);
		return MCP_HANDOVER_ANSWERED;
	}
	/* Who has come is not sent away by the client's user. */
	if (run->handover.declined && ask_lease(run, NULL, "{\"action\":\"withdraw\"}", &lease, &e) == 0)
		return MCP_HANDOVER_DECLINED;
	if (wait_lease(run, &lease, &e) < 0) {
		*text = fail(run, &e, len);
		return MCP_HANDOVER_ANSWERED;
	}
	if (is_agents(lease))
		return MCP_HANDOVER_DONE;
	*text = ask_again(run, lease, len);
	return MCP_HANDOVER_ANSWERED;
}
