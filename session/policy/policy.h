/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that say which actions a person is asked about: ordered, the first that matches wins; what none matches is allowed.
 *
 * They come from three places, in this order: the operator's configuration, the session's spec, and its mode, which is such a list as well
 * (modes.c). A rule is a verdict and matchers, all of which must match; a matcher is a list, of which one must. Texts are patterns (glob.h).
 * What is not known of an action (the title of a window that is gone) matches nothing. Rules are a gate, not a wall: they see what is sent, not what
 * comes of it. Owner: session/policy. No threads.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <jansson.h>
#include <stdbool.h>

#include "session/base/json.h"

enum policy_verdict { POLICY_ALLOW, POLICY_ASK, POLICY_DENY };

/* What an action does, as rules name it ("does"), one bit each, in the order of policy.c's table. */
enum policy_does {
	POLICY_LOOKS = 1 << 0,   /* nothing to the session: pictures, lists, waiting */
	POLICY_WRITES = 1 << 1,  /* puts characters into what has the focus: text, keys of a character, pasting, set_node, a secret */
	POLICY_PRESSES = 1 << 2, /* buttons of the mouse, Return and the space bar, press_node */
	POLICY_RUNS = 1 << 3,    /* starts a program */
	POLICY_MANAGES = 1 << 4, /* windows, the display, clipboards */
	POLICY_REACHES = 1 << 5, /* a first connection to a host outside: no action of a caller, but what its programs do */
};

/* An action as it will be sent, and where it goes; texts that are NULL are not known, or there is none. */
struct policy_subject {
	const char *action;
	unsigned int does;      /* enum policy_does */
	bool password;          /* it writes into a password field, or at a terminal's question for one */
	const char *app;        /* catalogue name of the app that it goes to, or that it starts */
	const char *window_class, *instance, *title; /* of the window */
	const char *url;        /* of the page, as its app says */
	const char *role;       /* of the node that has the focus */
	const char *keys;       /* a chord by its usual names, modifiers first: "ctrl+shift+t" */
	const json_t *argv;     /* of a command */
	const char *host, *path; /* reached outside, read or written */
	bool tree;              /* with the path all that is in it */
	const char *reach;      /* why the host may be reached: the mode of the session's egress */
};

/* What is to be known of a subject before it is judged, one bit each. */
enum policy_need {
	POLICY_NEEDS_WINDOW = 1 << 0, /* app, class, title */
	POLICY_NEEDS_PAGE = 1 << 1,   /* url, role */
};

struct policy_answer {
	enum policy_verdict verdict;
	const json_t *rule;     /* that matched; NULL: none did. Of the policy */
	bool unclear;           /* it was asked because the command could not be read to its end, or for what may be in the folder */
	bool of_shell;          /* it is run through a shell */
};

struct policy;

/*
 * `spec` is a spec's "approval" and `operators` the configuration's, both checked by their forms; NULL is none. Errors: ERR_BAD_FIELD
 * for a place that is none, ERR_UNKNOWN_ACTION (with `knows`), and those of `chord`. Their paths begin with
 * "/rules" for those of the spec, "/operator/rules" for the operator's.
 */
struct policy_words {
	bool (*knows)(void *arg, const char *action);                                       /* NULL: any name will do */
	int (*chord)(const char *keys, const char *path, char *out, size_t size, struct err *e); /* the usual names of a chord; NULL: as it is */
	void *arg;
};
int policy_create(struct policy **policy, const json_t *spec, const json_t *operators, const struct policy_words *words, struct err *e);
void policy_destroy(struct policy *policy);

/* What must be known to judge an action of this name that does this; 0: no rule asks for anything. */
unsigned int policy_needs(const struct policy *policy, const char *action, unsigned int does);

/* Can any rule ask about or refuse a connection? */
bool policy_heeds_hosts(const struct policy *policy);

/* Has any rule a word for password fields ("into")? */
bool policy_heeds_passwords(const struct policy *policy);

struct policy_answer policy_judge(const struct policy *policy, const struct policy_subject *subject);

/* The name and the reason of a rule; of NULL "". */
const char *policy_rule_name(const json_t *rule);
const char *policy_rule_why(const json_t *rule);

const char *policy_verdict_name(enum policy_verdict verdict); /* "allow", … */
const char *policy_mode(const struct policy *policy);

/* All rules that there are to read: {"modes":{NAME:[rule…]},"places":[…],"operator":[rule…]}; the caller's reference. */
json_t *policy_document(const json_t *operators);

/* A spec's "approval", the configuration's {"rules","places"}, and what a person answers. */
extern const struct form policy_form, policy_operator_form, policy_answer_form;

/* Faults that rows cannot say, of rules that their form found good; `path` is the pointer of the list. `places` NULL: of these nothing is known. */
void policy_check_rules(const json_t *rules, const json_t *places, const char *path, struct faults *faults);

/* The rules of a mode (modes.c), as JSON; NULL if there is no such mode. And the usual places. */
const char *policy_mode_text(const char *mode);
const char *policy_places_text(void);
#define POLICY_MODES "never boundary sensitive always"

#endif
