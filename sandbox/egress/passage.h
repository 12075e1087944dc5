/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A way out to one host and port: judged by the policy, asked about, looked up, checked, connected, and told to the stage at each of these. Owner: sandbox/egress.
 * One thread; all but passage_close runs in a coroutine.
 */
#ifndef EGRESS_PASSAGE_H
#define EGRESS_PASSAGE_H

#include "sandbox/egress/dial.h"
#include "sandbox/egress/proxy.h"
#include "sandbox/egress/wire.h"
#include "session/base/egress/egress_rule.h"

enum passage_fault {
	PASSAGE_GOOD,
	PASSAGE_REFUSED,   /* by the policy, a person, or for what its address is */
	PASSAGE_FULL,      /* a cap, or the stage reads nothing */
	PASSAGE_NO_NAME,
	PASSAGE_NO_ANSWER,
	PASSAGE_LATE,
	PASSAGE_ENDED,     /* the connection is being cut: nothing is to be said */
};

#define PASSAGE_REASON_SIZE ERR_MSG_MAX
#define PASSAGE_CAP "cap: " /* how a reason begins that is a cap of the session's; its name follows */

struct passage {
	struct proxy *proxy;
	struct egress_host host;
	uint16_t port;
	const char *method;      /* that opened it, or the last request's; NULL: none; borrowed */
	struct wire *server;     /* NULL: it is not open */
	char address[INET6_ADDRSTRLEN];
	uint64_t up, down;       /* bytes */
	int64_t since_ms;
	enum passage_fault fault;
	int sys_errno;           /* of NO_ANSWER */
	char reason[PASSAGE_REASON_SIZE]; /* why it is not open: for whoever asked, without anything of the host's own network */
};

/* What is wanted, for the stage and a person beside the rules. */
struct passage_ask {
	struct egress_want want;
	const char *method; /* "CONNECT", "GET" */
	const char *secret; /* that will be added: its name; or NULL */
	struct wire *client; /* who wants it, of passage_open */
};

/* Opens it: 0, or -1 with fault and reason. `out` is to be closed after either. */
int passage_open(struct proxy *proxy, const struct passage_ask *ask, struct passage *out);

/* Judges one more request on an open one by the policy as it is now: 0, or -1 with fault and reason. */
int passage_judge(struct passage *passage, const struct passage_ask *ask);

/* The request that was judged last is over: what it lent is given back, and the passage can be used for the next one. */
void passage_forget_request(struct passage *passage);

/* What was open is refused after all, for what came on it. `reason` is a constant, or of the session's own. */
void passage_refuse(struct passage *passage, const char *reason);

/* Tells the stage that a request was refused for its form. `on` is the passage that it came for, or NULL: then it has no host. */
void passage_deny_form(struct proxy *proxy, const struct passage *on, const char *reason);

/* Tells the stage that a request was refused for what it is, whatever the policy says. */
void passage_deny_kind(struct proxy *proxy, const struct passage_ask *ask, const char *reason);

/* Counts and pays for bytes that go one way (meter_pay); when the cap is used up, the passage is refused. */
int passage_pay(struct passage *passage, enum meter_way way, size_t bytes, struct err *e);

/* Closes what is open, and tells the stage. */
void passage_close(struct passage *passage);

#endif
