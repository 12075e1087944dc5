/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judging by rules. */
#include "session/policy/policy.h"

#include <stdio.h>
#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/policy/glob.h"
#include "session/policy/shell.h"

static const char *const verdicts[] = {"allow", "ask", "deny"};
static const char *const doings[] = {"looks", "writes", "presses", "runs", "manages", "reaches"}; /* in the order of the bits */
static const char *const modes[] = {"never", "boundary", "sensitive", "always"};

struct policy {
	char mode[16];
	json_t *rules;       /* of operator, spec and mode, in this order */
	const json_t *places;
	json_t *kept;        /* what `places` is of */
};

/* A simple command among those of a shell's line; text NULL: the rest of it, which nobody can read. */
struct command {
	char *text;       /* its words with a space between them */
	const char *bare; /* the same, its program without the folder */
};

const char *policy_verdict_name(enum policy_verdict verdict)
{
	return verdicts[verdict];
}

const char *policy_mode(const struct policy *policy)
{
	return policy->mode;
}

const char *policy_rule_name(const json_t *rule)
{
	return form_string(rule, "name", "");
}

const char *policy_rule_why(const json_t *rule)
{
	return form_string(rule, "why", "");
}

static enum policy_verdict verdict_of(const json_t *rule)
{
	enum policy_verdict verdict = POLICY_ALLOW;

	while (verdict < POLICY_DENY && strcmp(verdicts[verdict], form_string(rule, "verdict", "")) != 0)
		verdict++;
	return verdict;
}

/* --- one rule --- */

static bool does_any(const json_t *list, unsigned int does)
{
	for (size_t i = 0; i < ARRAY_LEN(doings); i++)
		if (does & 1U << i && glob_matches_any(list, doings[i]))
			return true;
	return false;
}

/* A matcher that is not there matches. */
static bool text_matches(const json_t *rule, const char *name, const char *text)
{
	const json_t *patterns = json_object_get(rule, name);

	return !patterns || glob_matches_any(patterns, text);
}

static bool window_matches(const json_t *rule, const struct policy_subject *subject)
{
	return text_matches(rule, "app", subject->app) && text_matches(rule, "title", subject->title) && text_matches(rule, "url", subject->url) &&
	       text_matches(rule, "role", subject->role) &&
	       (text_matches(rule, "class", subject->window_class) || text_matches(rule, "class", subject->instance));
}

static bool place_matches(const struct policy *policy, const json_t *kinds, const struct policy_subject *subject)
{
	const json_t *place;
	size_t i;

	json_array_foreach(policy->places, i, place)
		if (glob_matches_any(kinds, form_string(place, "kind", "")) && window_matches(place, subject))
			return true;
	return false;
}

/* What is in a folder that is taken as a whole has no path here: what a rule asks about or refuses may be in it, what it allows need not be all. */
static bool may_hold(const json_t *rule, const struct policy_subject *subject)
{
	const json_t *patterns = json_object_get(rule, "path"), *pattern;
	auto_free char *beginning = subject->tree ? util_printf("%s/", subject->path) : NULL;
	size_t i;

	json_array_foreach(patterns, i, pattern)
		if (beginning && verdict_of(rule) != POLICY_ALLOW && glob_leads(json_string_value(pattern), beginning))
			return true;
	return false;
}

/* All but the command. */
static bool matches(const struct policy *policy, const json_t *rule, const struct policy_subject *subject)
{
	const json_t *does = json_object_get(rule, "does"), *kinds = json_object_get(rule, "place");

	return text_matches(rule, "actions", subject->action) && (!does || does_any(does, subject->does)) &&
	       text_matches(rule, "into", subject->password ? "password" : NULL) && text_matches(rule, "keys", subject->keys) &&
	       text_matches(rule, "host", subject->host) && text_matches(rule, "reach", subject->reach) &&
	       (text_matches(rule, "path", subject->path) || may_hold(rule, subject)) && window_matches(rule, subject) &&
	       (!kinds || place_matches(policy, kinds, subject));
}

/* A pattern with a folder is for the whole path of the program. */
static bool command_matches(const json_t *patterns, const struct command *command)
{
	const json_t *pattern;
	size_t i;

	json_array_foreach(patterns, i, pattern) {
		const char *text = json_string_value(pattern);
		bool has_folder = memchr(text, '/', strcspn(text, " ")) != NULL;

		if (glob_matches(text, has_folder ? command->text : command->bare))
			return true;
	}
	return false;
}

/* --- all rules --- */

/* `command` NULL: it is none. One without a text, or a file in a folder, may be any: what could be asked about or refused is asked about. */
static struct policy_answer judge(const struct policy *policy, const struct policy_subject *subject, const struct command *command)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(policy->rules, i, rule) {
		const json_t *patterns = json_object_get(rule, "argv");
		enum policy_verdict verdict = verdict_of(rule);

		if ((patterns && !command) || !matches(policy, rule, subject))
			continue;
		if (!text_matches(rule, "path", subject->path) || (patterns && !command->text && verdict != POLICY_ALLOW))
			return (struct policy_answer){.verdict = POLICY_ASK, .rule = rule, .unclear = true};
		if (!patterns || (command->text && command_matches(patterns, command)))
			return (struct policy_answer){.verdict = verdict, .rule = rule};
	}
	return (struct policy_answer){.verdict = POLICY_ALLOW};
}

static struct command command_of(const json_t *words)
{
	const char *first = json_string_value(json_array_get(words, 0));
	struct command command = {.text = util_strdup(first ? first : "")};

	for (size_t i = 1; i < json_array_size(words); i++) {
		char *longer = util_printf("%s %s", command.text, json_string_value(json_array_get(words, i)));

		free(command.text);
		command.text = longer;
	}
	command.bare = command.text + (first ? shell_program(first) - first : 0);
	return command;
}

/* The strictest verdict of all that is run. */
static void take_strictest(struct policy_answer *so_far, struct policy_answer found)
{
	if (found.verdict > so_far->verdict || !so_far->rule)
		*so_far = found;
}

struct policy_answer policy_judge(const struct policy *policy, const struct policy_subject *subject)
{
	const struct command unread = {.text = NULL};
	struct policy_answer answer = {.verdict = POLICY_ALLOW};
	json_auto_t *commands = NULL;
	const json_t *words;
	bool sure;
	size_t i;

	if (!subject->argv)
		return judge(policy, subject, NULL);
	commands = shell_commands(subject->argv, &sure);
	json_array_foreach(commands, i, words) {
		struct command command = command_of(words);

		take_strictest(&answer, judge(policy, subject, &command));
		free(command.text);
	}
	if (!sure)
		take_strictest(&answer, judge(policy, subject, &unread));
	answer.of_shell = shell_is_one(subject->argv) || !sure;
	return answer;
}

unsigned int policy_needs(const struct policy *policy, const char *action, unsigned int does)
{
	static const char *const of_window[] = {"app", "class", "title", "place"}, *const of_page[] = {"url", "role", "place"};
	const json_t *rule;
	unsigned int needs = 0;
	size_t i;

	json_array_foreach(policy->rules, i, rule) {
		const json_t *doing = json_object_get(rule, "does");

		if (!text_matches(rule, "actions", action) || (doing && !does_any(doing, does)))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(of_window); k++)
			needs |= json_object_get(rule, of_window[k]) ? POLICY_NEEDS_WINDOW : 0;
		for (size_t k = 0; k < ARRAY_LEN(of_page); k++)
			needs |= json_object_get(rule, of_page[k]) ? POLICY_NEEDS_WINDOW | POLICY_NEEDS_PAGE : 0;
	}
	return needs;
}

/* Those that are for something else cannot match: what they ask for a connection does not have. */
bool policy_heeds_hosts(const struct policy *policy)
{
	static const char *const others[] = {"into", "place", "app", "class", "title", "url", "role", "keys", "argv", "path"};
	const json_t *rule;
	size_t i, k;

	json_array_foreach(policy->rules, i, rule) {
		const json_t *does = json_object_get(rule, "does");

		for (k = 0; k < ARRAY_LEN(others) && !json_object_get(rule, others[k]); k++)
			;
		if (k == ARRAY_LEN(others) && verdict_of(rule) != POLICY_ALLOW && text_matches(rule, "actions", "connect") &&
		    (!does || does_any(does, POLICY_REACHES)))
			return true;
	}
	return false;
}

bool policy_heeds_passwords(const struct policy *policy)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(policy->rules, i, rule)
		if (json_object_get(rule, "into"))
			return true;
	return false;
}

/* --- reading them --- */

/* Of places of which nothing is known any may be meant. */
static bool is_kind(const json_t *places, const char *name)
{
	const json_t *place;
	size_t i;

	if (!places)
		return true;

	json_array_foreach(places, i, place)
		if (strcmp(form_string(place, "kind", ""), name) == 0)
			return true;
	return false;
}

static bool is_field(const json_t *places, const char *name)
{
	(void)places;
	return strcmp(name, "password") == 0;
}

static bool is_reach(const json_t *places, const char *name)
{
	(void)places;
	return strcmp(name, "allowlist") == 0 || strcmp(name, "open") == 0;
}

static bool is_doing(const json_t *places, const char *name)
{
	(void)places;
	for (size_t i = 0; i < ARRAY_LEN(doings); i++)
		if (strcmp(doings[i], name) == 0)
			return true;
	return false;
}

static void refuse(struct faults *faults, const char *path, const char *value, const char *rule)
{
	char shown[80];

	(void)err_set(faults_next(faults), ERR_BAD_FIELD, path, "%s is not allowed here: %s", err_quote(shown, sizeof(shown), value, strlen(value)), rule);
}

/* The words of a rule's member that are none of those that there are. */
static void check_member(const json_t *rule, const char *path, const char *member, bool (*is)(const json_t *places, const char *word), const json_t *places,
                         const char *wanted, struct faults *faults)
{
	const json_t *word;
	size_t i;

	json_array_foreach(json_object_get(rule, member), i, word) {
		auto_free char *at = util_printf("%s/%s/%zu", path, member, i);

		if (!is(places, json_string_value(word)))
			refuse(faults, at, json_string_value(word), wanted);
	}
}

void policy_check_rules(const json_t *rules, const json_t *places, const char *path, struct faults *faults)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule) {
		auto_free char *at = util_printf("%s/%zu", path, i);

		check_member(rule, at, "does", is_doing, places, "it must be one of: looks writes presses runs manages reaches", faults);
		check_member(rule, at, "reach", is_reach, places, "it must be one of: allowlist open", faults);
		check_member(rule, at, "into", is_field, places, "it must be password", faults);
		check_member(rule, at, "place", is_kind, places, "no place is of this kind; GET /v1/approvals/rules lists them", faults);
	}
}

static int check_actions(const json_t *rule, const char *path, const struct policy_words *words, struct err *e)
{
	const json_t *name;
	char shown[80];
	size_t i;

	json_array_foreach(json_object_get(rule, "actions"), i, name) {
		const char *text = json_string_value(name);
		auto_free char *at = util_printf("%s/actions/%zu", path, i);

		if (!text[strcspn(text, "*?")] && words->knows && !words->knows(words->arg, text))
			return err_set(e, ERR_UNKNOWN_ACTION, at, "no action has the name %s", err_quote(shown, sizeof(shown), text, strlen(text)));
	}
	return 0;
}

/* Chords by their usual names; patterns stay as they are. */
static int name_chords(json_t *rule, const char *path, const struct policy_words *words, struct err *e)
{
	const json_t *keys = json_object_get(rule, "keys"), *chord;
	json_auto_t *named = json_array();
	size_t i;

	if (!keys || !words->chord)
		return 0;
	json_array_foreach(keys, i, chord) {
		auto_free char *at = util_printf("%s/keys/%zu", path, i);
		const char *asked = json_string_value(chord);
		char text[2 * LIMIT_CHORD_BYTES];

		(void)snprintf(text, sizeof(text), "%s", asked);
		if (!strchr(asked, '*') && words->chord(asked, at, text, sizeof(text), e) < 0)
			return -1;
		json_array_append_new(named, json_string(text));
	}
	json_object_set(rule, "keys", named);
	return 0;
}

/* Adds copies of rules, each with a name. */
static int add_rules(struct policy *policy, const json_t *rules, const char *path, const struct policy_words *words, struct err *e)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule) {
		json_auto_t *copy = json_copy((json_t *)(uintptr_t)rule);
		auto_free char *at = util_printf("%s/%zu", path, i);

		if (!json_object_get(copy, "name"))
			json_object_set_new(copy, "name", json_string(at + 1));
		if (check_actions(rule, at, words, e) < 0 || name_chords(copy, at, words, e) < 0)
			return -1;
		json_array_append(policy->rules, copy);
	}
	return 0;
}

static json_t *read_text(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	if (!value)
		DIE("a list of rules of this program is no JSON");
	return value;
}

int policy_create(struct policy **out, const json_t *spec, const json_t *operators, const struct policy_words *words, struct err *e)
{
	struct policy *policy = util_zalloc(sizeof(*policy));
	const char *mode = form_string(spec, "mode", "sensitive");
	json_auto_t *of_mode = read_text(policy_mode_text(mode));
	struct faults faults = {.list = e, .max = 1};
	const json_t *own = json_object_get(operators, "places");
	const struct policy_words any = {.chord = words->chord}; /* the modes may name actions that this server does not have */

	(void)snprintf(policy->mode, sizeof(policy->mode), "%s", mode);
	policy->rules = json_array();
	policy->kept = own ? json_incref((json_t *)(uintptr_t)own) : read_text(policy_places_text());
	policy->places = policy->kept;
	policy_check_rules(json_object_get(operators, "rules"), policy->places, "/operator/rules", &faults);
	policy_check_rules(json_object_get(spec, "rules"), policy->places, "/rules", &faults);
	if (faults.n > 0 || add_rules(policy, json_object_get(operators, "rules"), "/operator/rules", words, e) < 0 ||
	    add_rules(policy, json_object_get(spec, "rules"), "/rules", words, e) < 0 || add_rules(policy, of_mode, "/mode", &any, e) < 0) {
		policy_destroy(policy);
		return -1;
	}
	*out = policy;
	return 0;
}

void policy_destroy(struct policy *policy)
{
	if (!policy)
		return;
	json_decref(policy->rules);
	json_decref(policy->kept);
	free(policy);
}

json_t *policy_document(const json_t *operators)
{
	json_t *own = json_object_get(operators, "rules"), *places = json_object_get(operators, "places");
	json_t *document = json_pack("{s:{},s:o,s:o}", "modes", "places", places ? json_incref(places) : read_text(policy_places_text()), "operator",
	                             own ? json_incref(own) : json_array());

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		json_object_set_new(json_object_get(document, "modes"), modes[i], read_text(policy_mode_text(modes[i])));
	return document;
}
