/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules as forms. */
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/policy/policy.h"

#define PATTERNS(name, doc) {name, FIELD_STRINGS, false, 1, LIMIT_RULE_PATTERNS, NULL, NULL, NULL, NULL, doc}

static const struct field rule_fields[] = {
	{"verdict", FIELD_ENUM, true, 0, 0, "allow ask deny", NULL, NULL, NULL, "what becomes of an action that matches"},
	{"name", FIELD_STRING, false, 1, LIMIT_RULE_NAME_BYTES, NULL, NULL, NULL, NULL, "what cards, replies and the journal call the rule; absent: its place in the list"},
	{"why", FIELD_STRING, false, 1, 300, NULL, NULL, NULL, NULL, "what a person and the model read"},
	PATTERNS("actions", "names of actions"),
	PATTERNS("does", "what the action does: looks, writes, presses, runs, manages; reaches: a first connection of the session's programs to a host"),
	PATTERNS("into", "password: it writes into a password field, or at a terminal's question for one"),
	PATTERNS("place", "a kind of place: login, payment, consent, or one of the configuration's"),
	PATTERNS("app", "catalogue names of the app that it goes to"),
	PATTERNS("class", "class or instance of the window"),
	PATTERNS("title", "title of the window"),
	PATTERNS("url", "address of the page that has the focus, as its app says"),
	PATTERNS("role", "role of the node that has the focus"),
	PATTERNS("keys", "chords, such as ctrl+w"),
	PATTERNS("argv", "commands: the words of a simple command with a space between them, its program without the folder unless the pattern has one"),
	PATTERNS("host", "host that a program of the session connects to for the first time, of those that its egress lets through"),
	PATTERNS("reach", "what lets the session reach that host: allowlist or open, the mode of its egress"),
	PATTERNS("path", "files, by their whole paths, that file_get, file_put and file_delete reach"),
};
static const struct form rule_form = {rule_fields, ARRAY_LEN(rule_fields), "all that is named must match, and of each list one"};

static const struct field approval_fields[] = {
	{"mode", FIELD_ENUM, false, 0, 0, POLICY_MODES, NULL, NULL, "\"sensitive\"", "when a person is asked"},
	{"rules", FIELD_LIST, false, 0, LIMIT_RULES, NULL, &rule_form, NULL, "[]", "ordered rules before those of the mode; the first that matches wins"},
	{"timeout_s", FIELD_INT, false, 1, LIMIT_APPROVAL_S, NULL, NULL, "s", "600", "a question that nobody answers for so long is answered with no"},
};
const struct form policy_form = {approval_fields, ARRAY_LEN(approval_fields), NULL};

static const struct field place_fields[] = {
	{"kind", FIELD_STRING, true, 1, 32, NULL, NULL, NULL, NULL, "what rules call it"},
	PATTERNS("app", "as in a rule"),
	PATTERNS("class", "as in a rule"),
	PATTERNS("title", "as in a rule"),
	PATTERNS("url", "as in a rule"),
	PATTERNS("role", "as in a rule"),
};
static const struct form place_form = {place_fields, ARRAY_LEN(place_fields), "all that is named must match"};

static const struct field operator_fields[] = {
	{"rules", FIELD_LIST, false, 0, LIMIT_RULES, NULL, &rule_form, NULL, "[]", "rules of all sessions, before their own"},
	{"places", FIELD_LIST, false, 0, LIMIT_PLACES, NULL, &place_form, NULL, NULL, "what looks like a login, a payment, …, in place of the usual ones"},
};
const struct form policy_operator_form = {operator_fields, ARRAY_LEN(operator_fields), NULL};

static const struct field answer_fields[] = {
	{"answer", FIELD_ENUM, true, 0, 0, "once session deny", NULL, NULL, NULL, "yes for this time, yes for the rest of the session, or no"},
	{"reason", FIELD_STRING, false, 0, LIMIT_REASON_BYTES, NULL, NULL, NULL, NULL, "what the agent reads with a no"},
};
const struct form policy_answer_form = {answer_fields, ARRAY_LEN(answer_fields), NULL};
