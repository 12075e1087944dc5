/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session's programs may reach: the policy that its stage sent last. Owner: sandbox/egress. No threads. */
#ifndef EGRESS_POLICY_H
#define EGRESS_POLICY_H

#include <jansson.h>
#include <stdint.h>

#include "session/base/egress/egress_rule.h"
#include "session/warden/proto.h"

struct caps {
	size_t connections; /* outward ones at once; never 0 */
	uint64_t bytes_s;   /* both ways together, 0: any */
	uint64_t bytes;     /* the same, ever; 0: any */
};

struct policy {
	enum warden_egress mode;
	struct egress_rules *rules;
	struct caps caps;
	bool asks; /* before a first connection to a host and port */
	bool cuts; /* what was connected under the former one ends */
};

/* Reads the JSON of EGRESS_POLICY; a mode wider than `ceiling` is none. -1: it breaks the form. policy is the caller's to finish. */
int policy_read(const json_t *json, uint32_t ceiling, struct policy *policy, struct err *e);
void policy_finish(struct policy *policy);

/*
 * The rule that lets it through: an entry, or "open"; NULL and *why, a constant, if none does. What an address of the name is, is for others to judge.
 */
const char *policy_judge(const struct policy *policy, const struct egress_want *want, const char **why);

/* The list names it, in whatever mode: then it may be on a network of the operator's own. */
bool policy_names(const struct policy *policy, const struct egress_want *want);

#endif
