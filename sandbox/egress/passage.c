/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every way ends in one decision that the stage is told, and nothing is connected to before it is certain that it can be told. */
#include "sandbox/egress/passage.h"

#include <stdio.h>
#include <string.h>

#include "session/base/co.h"
#include "session/base/limits.h"
#include "session/base/util.h"

static int fail(struct passage *passage, enum passage_fault fault, const char *reason)
{
	passage->fault = fault;
	(void)snprintf(passage->reason, sizeof(passage->reason), "%s", reason);
	return -1;
}

static void tell(const struct passage *passage, const char *verdict, const char *rule, const char *reason, const char *secret)
{
	const struct talk_decision decision = {.verdict = verdict, .host = &passage->host, .port = passage->port, .method = passage->method, .rule = rule, .address = passage->address,
	                                       .reason = reason, .secret = secret};

	talk_decision(passage->proxy->talk, &decision);
	if (strcmp(verdict, "deny") == 0)
		passage->proxy->denied++;
	else
		passage->proxy->allowed++;
	proxy_changed(passage->proxy);
}

static int deny(struct passage *passage, enum passage_fault fault, const char *reason)
{
	tell(passage, "deny", NULL, reason, NULL);
	return fail(passage, fault, reason);
}

void passage_deny_form(struct proxy *proxy, const struct passage *on, const char *reason)
{
	const struct passage nowhere = {.proxy = proxy};

	/* One who asks nothing but nonsense waits as all others do; when it cannot wait, it is cut. */
	if (talk_wait(proxy->talk, CO_FOREVER, NULL) == 0)
		tell(on ? on : &nowhere, "deny", NULL, reason, NULL);
}

void passage_deny_kind(struct proxy *proxy, const struct passage_ask *ask, const char *reason)
{
	const struct passage it = {.proxy = proxy, .host = *ask->want.host, .port = ask->want.port, .method = ask->method};

	if (talk_wait(proxy->talk, CO_FOREVER, NULL) == 0)
		tell(&it, "deny", NULL, reason, NULL);
}

/* The rule; NULL when it was denied. */
static const char *judge(struct passage *passage, const struct passage_ask *ask)
{
	const struct proxy *proxy = passage->proxy;
	const char *rule = NULL, *why = "there is no policy yet";

	if (proxy->n_policies > 0)
		rule = policy_judge(&proxy->policy, &ask->want, &why);
	if (!rule)
		(void)deny(passage, PASSAGE_REFUSED, why);
	return rule;
}

/* The operator's own networks are for hosts that the list names. */
static const struct address_list *permitted_for(const struct proxy *proxy, const struct passage_ask *ask)
{
	static const struct address_list nothing = {.n = 0};

	return policy_names(&proxy->policy, &ask->want) ? &proxy->permitted : &nothing;
}

/* What the list lets through is asked about, where the policy says so. */
static int ask_for(struct passage *passage, const struct passage_ask *ask)
{
	const struct asks_want want = {.host = passage->host.text, .port = passage->port, .method = ask->method, .client = ask->client};
	struct err e = {0};
	bool allows = false;

	if (!passage->proxy->policy.asks)
		return 0;
	/* Nobody is asked about what a yes would not open. Of a name that is known only once it is looked up, which nothing is before the yes. */
	if (dial_check(&passage->host, permitted_for(passage->proxy, ask), &e) < 0)
		return deny(passage, PASSAGE_REFUSED, e.msg);
	if (asks_ask(passage->proxy->asks, &want, &allows, &e) == 0)
		return allows ? 0 : deny(passage, PASSAGE_REFUSED, "it was asked about and refused");
	if (e.code == ERR_CANCELLED || e.code == ERR_GONE)
		return fail(passage, PASSAGE_ENDED, e.msg);
	return deny(passage, PASSAGE_REFUSED, e.code == ERR_TIMEOUT ? "it was asked about, and nobody answered" : e.msg);
}

static int check_caps(struct passage *passage)
{
	const struct proxy *proxy = passage->proxy;

	if (meter_is_full(&proxy->meter))
		return deny(passage, PASSAGE_FULL, PASSAGE_CAP "bytes");
	return proxy->n_open >= proxy->policy.caps.connections ? deny(passage, PASSAGE_FULL, PASSAGE_CAP "connections") : 0;
}

static const struct {
	enum err_code code;
	enum passage_fault fault;
	const char *reason;
} FAILURES[] = {
	{ERR_NOT_FOUND, PASSAGE_NO_NAME, "its name has no address"},
	{ERR_TIMEOUT, PASSAGE_LATE, "it does not answer in time"},
	{ERR_GONE, PASSAGE_NO_ANSWER, "it does not take connections"},
};

/* What came of dialing, for the stage and for whoever asked: who asked is not told addresses. */
static int say_what_failed(struct passage *passage, const char *rule, const struct dialed *dialed, const struct err *e)
{
	memcpy(passage->address, dialed->address, sizeof(passage->address));
	passage->sys_errno = e->sys_errno;
	if (e->code == ERR_CANCELLED)
		return fail(passage, PASSAGE_ENDED, e->msg);
	if (e->code == ERR_FORBIDDEN)
		return deny(passage, PASSAGE_REFUSED, e->msg);
	tell(passage, "allow", rule, e->msg, NULL);
	for (size_t i = 0; i < ARRAY_LEN(FAILURES); i++)
		if (FAILURES[i].code == e->code)
			return fail(passage, FAILURES[i].fault, FAILURES[i].reason);
	return fail(passage, PASSAGE_NO_NAME, "its name cannot be looked up");
}

/* A connection that is ended here keeps a port of the machine's for a minute. */
static int wait_for_turn(struct proxy *proxy, struct err *e)
{
	int64_t now_us = util_now_us(), from_us = bucket_take(&proxy->dials, 1, now_us);

	return from_us > now_us ? co_wait_until(util_now_ms() + (from_us - now_us + 999) / 1000, e) : 0;
}

/* While it was dialed the policy may have become another one. */
static int connect_it(struct passage *passage, const struct passage_ask *ask, const char *rule)
{
	struct proxy *proxy = passage->proxy;
	uint64_t n_policies = proxy->n_policies;
	auto_free char *kept = util_strdup(rule);
	const char *holds = kept;
	struct dialed dialed = {.fd = -1};
	struct err e = {0};

	if (wait_for_turn(proxy, &e) < 0)
		return say_what_failed(passage, kept, &dialed, &e);
	if (dial_host(proxy->loop, &passage->host, passage->port, permitted_for(proxy, ask), util_now_ms() + LIMIT_EGRESS_DIAL_MS, &dialed, &e) < 0)
		return say_what_failed(passage, kept, &dialed, &e);
	memcpy(passage->address, dialed.address, sizeof(passage->address));
	if (n_policies != proxy->n_policies)
		holds = judge(passage, ask);
	if (!holds) {
		util_close_fd(&dialed.fd);
		return -1;
	}
	passage->server = wire_create(proxy->loop, dialed.fd);
	passage->since_ms = util_now_ms();
	tell(passage, "allow", holds, NULL, ask->secret);
	return 0;
}

int passage_open(struct proxy *proxy, const struct passage_ask *ask, struct passage *out)
{
	const char *rule;
	struct err e;

	*out = (struct passage){.proxy = proxy, .host = *ask->want.host, .port = ask->want.port, .method = ask->method};
	if (talk_wait(proxy->talk, util_now_ms() + LIMIT_EGRESS_DIAL_MS, &e) < 0)
		return fail(out, e.code == ERR_CANCELLED ? PASSAGE_ENDED : PASSAGE_FULL, "what happens cannot be recorded");
	if (!judge(out, ask) || ask_for(out, ask) < 0)
		return -1;
	/* After an answer, which took a while. */
	rule = judge(out, ask);
	if (!rule || check_caps(out) < 0)
		return -1;
	proxy->n_open++;
	if (connect_it(out, ask, rule) == 0)
		return 0;
	proxy->n_open--;
	proxy_changed(proxy);
	return -1;
}

int passage_judge(struct passage *passage, const struct passage_ask *ask)
{
	const char *rule;
	struct err e;

	if (talk_wait(passage->proxy->talk, util_now_ms() + LIMIT_EGRESS_DIAL_MS, &e) < 0)
		return fail(passage, e.code == ERR_CANCELLED ? PASSAGE_ENDED : PASSAGE_FULL, "what happens cannot be recorded");
	passage->method = ask->method;
	rule = judge(passage, ask);
	if (!rule)
		return -1;
	tell(passage, "allow", rule, NULL, ask->secret);
	return 0;
}

void passage_refuse(struct passage *passage, const char *reason)
{
	(void)deny(passage, PASSAGE_REFUSED, reason);
}

int passage_pay(struct passage *passage, enum meter_way way, size_t bytes, struct err *e)
{
	if (way == METER_UP)
		passage->up += bytes;
	else
		passage->down += bytes;
	proxy_changed(passage->proxy);
	if (meter_pay(&passage->proxy->meter, way, bytes, e) == 0)
		return 0;
	if (e->code == ERR_LIMIT && passage->fault == PASSAGE_GOOD)
		(void)deny(passage, PASSAGE_FULL, e->msg);
	return -1;
}

void passage_forget_request(struct passage *passage)
{
	passage->method = NULL;
	passage->fault = PASSAGE_GOOD;
}

void passage_close(struct passage *passage)
{
	if (!passage->server)
		return;
	wire_destroy(passage->server);
	passage->server = NULL;
	passage->proxy->n_open--;
	talk_closed(passage->proxy->talk, &passage->host, passage->port, passage->up, passage->down, util_now_ms() - passage->since_ms);
	proxy_changed(passage->proxy);
}
