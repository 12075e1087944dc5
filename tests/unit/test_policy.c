/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: session/policy */
/* Patterns, command lines taken apart, and rules in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/policy/glob.h"
#include "session/policy/policy.h"
#include "session/policy/shell.h"

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "anything", true}, {"sign in*", "Sign In — Mozilla Firefox", true},
		{"sign in*", "Please sign in", false}, {"*sign in", "Please sign in", true}, {"a?c", "aäc", true}, {"a?c", "ac", false},
		{"*a*b*c", "xxaxxbxxc", true}, {"*a*b*c", "xxaxxcxxb", false}, {"ÄRGER*", "ärger im büro", true}, {"ПЛАТЁЖ", "платёж", true},
		{"*://*/login", "https://a.example/login", true}, {"*://*/login", "https://a.example/login/", false}, {"**a**", "bab", true},
		{"a*", "\xff", false}, {"?", "\xff", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (glob_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
			fail_msg("%s on %s: not %d", rows[i].pattern, rows[i].text, rows[i].matches);
}

/* Many stars over a long text end soon. */
static void patterns_are_bounded(void **state)
{
	char text[4001], pattern[401];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	pattern[sizeof(pattern) - 1] = '\0';
	assert_false(glob_matches(pattern, text));
}

static void assert_split(const char *line, const char *wanted, bool wanted_sure)
{
	bool sure;
	json_auto_t *commands = shell_split(line, &sure);
	auto_free char *text = json_dumps(commands, JSON_COMPACT);

	if (strcmp(text, wanted) != 0 || sure != wanted_sure)
		fail_msg("%s\n is %s (%s)\n not %s (%s)", line, text, sure ? "sure" : "not sure", wanted, wanted_sure ? "sure" : "not sure");
}

static void command_lines(void **state)
{
	static const struct {
		const char *line, *commands;
		bool sure;
	} rows[] = {
		{"", "[]", true},
		{" \t\n# only a comment", "[]", true},
		{"ls -l", "[[\"ls\",\"-l\"]]", true},
		{"a;b&&c||d|e&f\ng", "[[\"a\"],[\"b\"],[\"c\"],[\"d\"],[\"e\"],[\"f\"],[\"g\"]]", true},
		{"echo 'a; b' \"c && d\" e\\ f", "[[\"echo\",\"a; b\",\"c && d\",\"e f\"]]", true},
		{"echo '' \"\"", "[[\"echo\",\"\",\"\"]]", true},
		{"r''m -r\"f\" x", "[[\"rm\",\"-rf\",\"x\"]]", true},
		{"a \\\nb", "[[\"a\",\"b\"]]", true},
		{"(cd x; make) 2>&1 >log <in", "[[\"cd\",\"x\"],[\"make\"]]", true},
		{"make>log 2>'a file' -j2", "[[\"make\",\"-j2\"]]", true},
		{"make3>log", "[[\"make3\"]]", true},
		{"make &>/dev/null -k", "[[\"make\",\"-k\"]]", true},
		{"A=1 B='x y' make", "[[\"make\"]]", true},
		{"A=1", "[]", true},
		{"[ -f x ] && y", "[[\"[\",\"-f\",\"x\",\"]\"],[\"y\"]]", true},
		{"echo a#b #c", "[[\"echo\",\"a#b\"]]", true},
		{"ls *.c ~", "[[\"ls\",\"*.c\",\"~\"]]", true},
		{"sh -c 'rm x; id'", "[[\"sh\",\"-c\",\"rm x; id\"],[\"rm\",\"x\"],[\"id\"]]", true},
		{"bash -euo pipefail -c id", "[[\"bash\",\"-euo\",\"pipefail\",\"-c\",\"id\"],[\"id\"]]", true},
		{"/bin/bash script", "[[\"/bin/bash\",\"script\"]]", true},
		/* Options may be switched off, and end with "-". */
		{"sh +e -c id", "[[\"sh\",\"+e\",\"-c\",\"id\"],[\"id\"]]", true},
		{"sh -c +x id", "[[\"sh\",\"-c\",\"+x\",\"id\"],[\"id\"]]", true},
		{"bash +o posix -c id", "[[\"bash\",\"+o\",\"posix\",\"-c\",\"id\"],[\"id\"]]", true},
		{"sh -c - id", "[[\"sh\",\"-c\",\"-\",\"id\"],[\"id\"]]", true},
		{"sh -c -- id", "[[\"sh\",\"-c\",\"--\",\"id\"],[\"id\"]]", true},
		/* Not sure. */
		{"$x y", "[[\"$x\",\"y\"]]", false},
		{"echo $(rm x)", "[[\"echo\",\"$\"],[\"rm\",\"x\"]]", false},
		{"echo `rm x`", "[[\"echo\",\"`rm\",\"x`\"]]", false},
		{"echo \"$x\"", "[[\"echo\",\"$x\"]]", false},
		{"if a; then rm x; fi", "[[\"a\"],[\"rm\",\"x\"]]", false},
		{"for f in a; do rm $f; done", "[[\"f\",\"in\",\"a\"],[\"rm\",\"$f\"]]", false},
		{"f() { rm x; }", "[[\"f\"],[\"rm\",\"x\"]]", false},
		{"eval rm x", "[[\"eval\",\"rm\",\"x\"]]", false},
		{"find . -exec rm {} +", "[[\"find\",\".\",\"-exec\",\"rm\",\"{}\",\"+\"]]", false},
		{"env X=1 rm x", "[[\"env\",\"X=1\",\"rm\",\"x\"]]", false},
		{"PATH=/tmp ls", "[[\"ls\"]]", false},
		{"cat <<E\nrm\nE", "[[\"cat\"],[\"rm\"],[\"E\"]]", false},
		{"r{m,x} y", "[[\"r{m,x}\",\"y\"]]", false},
		{"/bin/r? x", "[[\"/bin/r?\",\"x\"]]", false},
		{"echo 'open", "[[\"echo\",\"open\"]]", false},
		{"echo \"open", "[[\"echo\",\"open\"]]", false},
		{"sh", "[[\"sh\"]]", false},
		{"sh -", "[[\"sh\",\"-\"]]", false},
		{"bash +O extglob -c id", "[[\"bash\",\"+O\",\"extglob\",\"-c\",\"id\"]]", false},
		{"chrt -i 0 rm x", "[[\"chrt\",\"-i\",\"0\",\"rm\",\"x\"]]", false},
		{"bash --rcfile x -c id", "[[\"bash\",\"--rcfile\",\"x\",\"-c\",\"id\"]]", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_split(rows[i].line, rows[i].commands, rows[i].sure);
}

/* What is inside too many shells is not read, and not said to be. */
static void shells_inside_shells(void **state)
{
	char *line = util_strdup("id");
	bool sure;
	json_auto_t *argv = NULL, *commands = NULL;

	(void)state;
	for (int i = 0; i < LIMIT_SHELLS_DEEP + 3; i++) {
		json_auto_t *inner = json_string(line);
		auto_free char *quoted = json_dumps(inner, JSON_ENCODE_ANY);

		free(line);
		line = util_printf("sh -c %s", quoted);
	}
	argv = json_pack("[s,s,s]", "sh", "-c", line);
	commands = shell_commands(argv, &sure);
	assert_false(sure);
	free(line);
}

static struct policy *make(const char *spec, const char *operators)
{
	json_auto_t *own = json_loads(spec, 0, NULL), *theirs = operators ? json_loads(operators, 0, NULL) : NULL;
	const struct policy_words words = {.knows = NULL};
	struct policy *policy = NULL;
	struct err e = {0};

	assert_non_null(own);
	if (form_check(&policy_form, own, "", NULL, &e) < 0 || (theirs && form_check(&policy_operator_form, theirs, "", NULL, &e) < 0) ||
	    policy_create(&policy, own, theirs, &words, &e) < 0)
		fail_msg("%s: %s", e.path, e.msg);
	return policy;
}

static void assert_judged(const struct policy *policy, struct policy_subject subject, enum policy_verdict verdict, const char *rule)
{
	struct policy_answer answer = policy_judge(policy, &subject);

	if (answer.verdict != verdict || strcmp(policy_rule_name(answer.rule), rule) != 0)
		fail_msg("%s: %s by \"%s\", not %s by \"%s\"", subject.action, policy_verdict_name(answer.verdict), policy_rule_name(answer.rule),
		         policy_verdict_name(verdict), rule);
}

#define TYPE .action = "type", .does = POLICY_WRITES
#define CLICK .action = "click", .does = POLICY_PRESSES

static void modes(void **state)
{
	const struct policy_subject plain = {TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Weather — Mozilla Firefox", .url = "https://weather.example/today"};
	const struct policy_subject password = {TYPE, .app = "firefox", .password = true};
	const struct policy_subject login = {TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Sign in to Shop — Mozilla Firefox"};
	const struct policy_subject by_url = {TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Shop", .url = "https://shop.example/users/sign_in?next=%2F"};
	const struct policy_subject editor = {TYPE, .app = "editor", .title = "login.c - Mousepad"};
	const struct policy_subject login_click = {CLICK, .app = "firefox", .window_class = "firefox-esr", .title = "Sign in"};
	const struct policy_subject pay = {CLICK, .window_class = "Chromium", .title = "Checkout - Chromium"};
	const struct policy_subject consent = {CLICK, .app = "firefox", .url = "https://id.example/oauth/authorize?client=7"};
	const struct policy_subject secret = {.action = "type_secret", .does = POLICY_WRITES, .password = false};
	const struct policy_subject look = {.action = "screenshot", .does = POLICY_LOOKS};
	struct policy *policy = make("{\"mode\":\"never\"}", NULL);

	(void)state;
	assert_judged(policy, password, POLICY_ALLOW, "");
	policy_destroy(policy);
	policy = make("{}", NULL);
	assert_string_equal(policy_mode(policy), "sensitive");
	assert_judged(policy, plain, POLICY_ALLOW, "");
	assert_judged(policy, password, POLICY_DENY, "password-field");
	assert_judged(policy, login, POLICY_ASK, "login");
	assert_judged(policy, by_url, POLICY_ASK, "login");
	assert_judged(policy, editor, POLICY_ALLOW, "");
	assert_judged(policy, login_click, POLICY_ALLOW, "");
	assert_judged(policy, pay, POLICY_ASK, "payment");
	assert_judged(policy, consent, POLICY_ASK, "consent");
	assert_judged(policy, secret, POLICY_ASK, "stored-secret");
	assert_judged(policy, look, POLICY_ALLOW, "");
	policy_destroy(policy);
	policy = make("{\"mode\":\"boundary\"}", NULL);
	assert_judged(policy, login, POLICY_ALLOW, "");
	assert_judged(policy, secret, POLICY_ASK, "stored-secret");
	policy_destroy(policy);
	policy = make("{\"mode\":\"always\"}", NULL);
	assert_judged(policy, look, POLICY_ALLOW, "look");
	assert_judged(policy, plain, POLICY_ASK, "always");
	assert_judged(policy, password, POLICY_DENY, "password-field");
	policy_destroy(policy);
}

/* The operator's come first, then the spec's, then the mode's; the first that matches wins. */
static void order(void **state)
{
	struct policy *policy = make("{\"rules\":[{\"verdict\":\"allow\",\"name\":\"mine\",\"app\":[\"firefox\"]},{\"verdict\":\"deny\",\"title\":[\"*\"]}]}",
	                             "{\"rules\":[{\"verdict\":\"deny\",\"name\":\"bank\",\"url\":[\"*://*.bank.example/*\"]}]}");

	(void)state;
	assert_judged(policy, (struct policy_subject){CLICK, .app = "firefox", .url = "https://my.BANK.example/"}, POLICY_DENY, "bank");
	assert_judged(policy, (struct policy_subject){TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Sign in", .password = true}, POLICY_ALLOW, "mine");
	assert_judged(policy, (struct policy_subject){TYPE, .app = "editor", .title = "notes"}, POLICY_DENY, "rules/1");
	/* Not known: no match. */
	assert_judged(policy, (struct policy_subject){TYPE, .title = NULL}, POLICY_ALLOW, "");
	policy_destroy(policy);
}

static void all_of_a_rule(void **state)
{
	struct policy *policy = make("{\"mode\":\"never\",\"rules\":[{\"verdict\":\"ask\",\"actions\":[\"key\",\"hold_*\"],\"keys\":[\"ctrl+w\",\"alt+f4\"],\"class\":[\"firefox*\"]}]}", NULL);

	(void)state;
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "ctrl+w", .window_class = "firefox-esr"}, POLICY_ASK, "rules/0");
	assert_judged(policy, (struct policy_subject){.action = "hold_key", .keys = "alt+F4", .instance = "Firefox"}, POLICY_ASK, "rules/0");
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "ctrl+t", .window_class = "firefox-esr"}, POLICY_ALLOW, "");
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "ctrl+w", .window_class = "Mousepad"}, POLICY_ALLOW, "");
	assert_judged(policy, (struct policy_subject){.action = "key_down", .keys = "ctrl+w", .window_class = "firefox-esr"}, POLICY_ALLOW, "");
	policy_destroy(policy);
}

static void assert_command(const struct policy *policy, const char *argv, enum policy_verdict verdict, const char *rule, bool unclear)
{
	json_auto_t *list = json_loads(argv, 0, NULL);
	const struct policy_subject subject = {.action = "exec", .does = POLICY_RUNS, .argv = list};
	struct policy_answer answer = policy_judge(policy, &subject);

	if (answer.verdict != verdict || strcmp(policy_rule_name(answer.rule), rule) != 0 || answer.unclear != unclear)
		fail_msg("%s: %s by \"%s\"%s", argv, policy_verdict_name(answer.verdict), policy_rule_name(answer.rule), answer.unclear ? ", unclear" : "");
}

static void commands(void **state)
{
	struct policy *policy = make("{\"rules\":[{\"verdict\":\"allow\",\"name\":\"dry\",\"argv\":[\"git push --dry-run*\"]},"
	                             "{\"verdict\":\"ask\",\"name\":\"push\",\"argv\":[\"git push*\"]},"
	                             "{\"verdict\":\"deny\",\"name\":\"rm\",\"argv\":[\"rm -rf *\",\"/usr/bin/shred *\"]}]}", NULL);
	struct policy *without = make("{}", NULL);

	(void)state;
	assert_command(policy, "[\"git\",\"status\"]", POLICY_ALLOW, "", false);
	assert_command(policy, "[\"git\",\"push\"]", POLICY_ASK, "push", false);
	assert_command(policy, "[\"/usr/bin/git\",\"push\",\"origin\"]", POLICY_ASK, "push", false);
	assert_command(policy, "[\"git\",\"push\",\"--dry-run\"]", POLICY_ALLOW, "dry", false);
	assert_command(policy, "[\"shred\",\"x\"]", POLICY_ALLOW, "", false);
	assert_command(policy, "[\"/usr/bin/shred\",\"x\"]", POLICY_DENY, "rm", false);
	assert_command(policy, "[\"sh\",\"-c\",\"make && git push --dry-run\"]", POLICY_ALLOW, "dry", false);
	assert_command(policy, "[\"sh\",\"-c\",\"make && git push\"]", POLICY_ASK, "push", false);
	assert_command(policy, "[\"sh\",\"-c\",\"git push; rm -rf /\"]", POLICY_DENY, "rm", false);
	assert_command(policy, "[\"bash\",\"-lc\",\"echo $HOME\"]", POLICY_ASK, "push", true);
	assert_command(policy, "[\"xargs\",\"rm\"]", POLICY_ASK, "push", true);
	/* Where nothing is asked about commands, one that is not understood is no question either. */
	assert_command(without, "[\"bash\",\"-lc\",\"echo $HOME\"]", POLICY_ALLOW, "", false);
	policy_destroy(policy);
	policy_destroy(without);
}

static void needs(void **state)
{
	struct policy *policy = make("{}", NULL), *never = make("{\"mode\":\"never\"}", NULL);

	(void)state;
	assert_int_equal(policy_needs(policy, "type", POLICY_WRITES), POLICY_NEEDS_WINDOW | POLICY_NEEDS_PAGE);
	assert_int_equal(policy_needs(policy, "screenshot", POLICY_LOOKS), 0);
	assert_int_equal(policy_needs(policy, "move", 0), 0);
	assert_int_equal(policy_needs(never, "type", POLICY_WRITES), 0);
	policy_destroy(policy);
	policy_destroy(never);
}

static bool knows(void *arg, const char *action)
{
	(void)arg;
	return strcmp(action, "type") == 0;
}

static int chord(const char *keys, const char *path, char *out, size_t size, struct err *e)
{
	if (strcmp(keys, "contrl+w") == 0)
		return err_set(e, ERR_UNKNOWN_KEY, path, "no such key");
	(void)snprintf(out, size, "<%s>", keys);
	return 0;
}

/* Each fault is at its field. */
static void faults(void **state)
{
	static const struct {
		const char *rules;
		enum err_code code;
		const char *path;
	} rows[] = {
		{"[{}]", ERR_MISSING_FIELD, "/rules/0/verdict"},
		{"[{\"verdict\":\"maybe\"}]", ERR_BAD_FIELD, "/rules/0/verdict"},
		{"[{\"verdict\":\"ask\",\"titel\":[\"x\"]}]", ERR_UNKNOWN_FIELD, "/rules/0/titel"},
		{"[{\"verdict\":\"ask\",\"title\":\"x\"}]", ERR_BAD_FIELD, "/rules/0/title"},
		{"[{\"verdict\":\"ask\",\"title\":[]}]", ERR_BAD_FIELD, "/rules/0/title"},
		{"[{\"verdict\":\"ask\",\"does\":[\"writes\",\"reads\"]}]", ERR_BAD_FIELD, "/rules/0/does/1"},
		{"[{\"verdict\":\"ask\"},{\"verdict\":\"ask\",\"into\":[\"text\"]}]", ERR_BAD_FIELD, "/rules/1/into/0"},
		{"[{\"verdict\":\"ask\",\"place\":[\"bank\"]}]", ERR_BAD_FIELD, "/rules/0/place/0"},
		{"[{\"verdict\":\"ask\",\"reach\":[\"none\"]}]", ERR_BAD_FIELD, "/rules/0/reach/0"},
		{"[{\"verdict\":\"ask\",\"actions\":[\"t*\",\"typ\"]}]", ERR_UNKNOWN_ACTION, "/rules/0/actions/1"},
		{"[{\"verdict\":\"ask\",\"keys\":[\"contrl+w\"]}]", ERR_UNKNOWN_KEY, "/rules/0/keys/0"},
	};
	const struct policy_words words = {.knows = knows, .chord = chord};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		auto_free char *text = util_printf("{\"rules\":%s}", rows[i].rules);
		json_auto_t *spec = json_loads(text, 0, NULL);
		struct policy *policy = NULL;
		struct err e = {0};
		int rc = form_check(&policy_form, spec, "", NULL, &e);

		if (rc == 0)
			rc = policy_create(&policy, spec, NULL, &words, &e);
		if (rc == 0 || e.code != rows[i].code || strcmp(e.path, rows[i].path) != 0)
			fail_msg("%s: %d at %s: %s", rows[i].rules, (int)e.code, e.path, e.msg);
	}
}

/* A first connection to a host: which rules have a word for it, and what they say. */
static void connections(void **state)
{
	static const struct {
		const char *spec, *reach;
		bool heeds;
		enum policy_verdict verdict;
	} rows[] = {
		{"{\"mode\":\"never\"}", "open", false, POLICY_ALLOW},
		{"{\"mode\":\"sensitive\"}", "open", true, POLICY_ASK},
		{"{\"mode\":\"sensitive\"}", "allowlist", true, POLICY_ALLOW},
		{"{\"mode\":\"boundary\"}", "allowlist", true, POLICY_ASK},
		{"{\"mode\":\"always\"}", "allowlist", true, POLICY_ASK},
		{"{\"mode\":\"boundary\",\"rules\":[{\"verdict\":\"allow\",\"host\":[\"*.ok.test\"]}]}", "allowlist", true, POLICY_ALLOW},
		{"{\"mode\":\"never\",\"rules\":[{\"verdict\":\"deny\",\"host\":[\"a.*\"]}]}", "allowlist", true, POLICY_DENY},
		{"{\"mode\":\"never\",\"rules\":[{\"verdict\":\"deny\",\"host\":[\"b.*\"]}]}", "allowlist", true, POLICY_ALLOW},
		{"{\"mode\":\"never\",\"rules\":[{\"verdict\":\"ask\",\"argv\":[\"curl*\"]},{\"verdict\":\"ask\",\"does\":[\"runs\"]}]}", "open", false, POLICY_ALLOW},
	};
	const struct policy_words words = {.chord = chord};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct policy_subject subject = {.action = "connect", .does = POLICY_REACHES, .host = "a.ok.test", .reach = rows[i].reach};
		json_auto_t *spec = json_loads(rows[i].spec, 0, NULL);
		struct policy *policy = NULL;
		struct err e = {0};

		assert_int_equal(policy_create(&policy, spec, NULL, &words, &e), 0);
		if (policy_heeds_hosts(policy) != rows[i].heeds || policy_judge(policy, &subject).verdict != rows[i].verdict)
			fail_msg("%s with %s: %d", rows[i].spec, rows[i].reach, (int)policy_judge(policy, &subject).verdict);
		policy_destroy(policy);
	}
}

static void chords_are_named_once(void **state)
{
	const struct policy_words words = {.chord = chord};
	json_auto_t *spec = json_loads("{\"rules\":[{\"verdict\":\"ask\",\"keys\":[\"w\",\"ctrl+*\"]}]}", 0, NULL);
	struct policy *policy;
	struct err e;

	(void)state;
	assert_int_equal(policy_create(&policy, spec, NULL, &words, &e), 0);
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "<w>"}, POLICY_ASK, "rules/0");
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "ctrl+x"}, POLICY_ASK, "rules/0");
	assert_judged(policy, (struct policy_subject){.action = "key", .keys = "w"}, POLICY_ALLOW, "");
	policy_destroy(policy);
}

/* A folder that is taken as a whole is asked about for what may be in it. */
static void folders(void **state)
{
	static const struct {
		const char *path;
		bool tree;
		enum policy_verdict verdict;
		const char *rule;
	} rows[] = {
		{"/home/user/diary.txt", false, POLICY_DENY, "diary"}, {"/home/user", false, POLICY_ALLOW, ""}, {"/home/user", true, POLICY_ASK, "diary"},
		{"/home/user/DIARY", true, POLICY_DENY, "diary"}, {"/home/user/out", true, POLICY_ASK, "out"}, {"/home/user/out", false, POLICY_ALLOW, ""},
		{"/home/user/out/a", true, POLICY_ASK, "out"}, {"/home/user/safe", true, POLICY_ALLOW, "safe"}, {"/tmp/x", true, POLICY_ASK, "keys"},
		{"/home/user/outer", true, POLICY_ASK, "keys"}, {"/home", true, POLICY_ASK, "diary"},
	};
	struct policy *policy = make("{\"mode\":\"never\",\"rules\":[{\"name\":\"safe\",\"verdict\":\"allow\",\"path\":[\"/home/user/safe*\"]},"
	                             "{\"name\":\"all\",\"verdict\":\"allow\",\"path\":[\"/home/user/out/?/*\"]},"
	                             "{\"name\":\"diary\",\"verdict\":\"deny\",\"path\":[\"/home/user/diary*\"]},"
	                             "{\"name\":\"out\",\"verdict\":\"ask\",\"path\":[\"/home/user/out/?\"]},"
	                             "{\"name\":\"keys\",\"verdict\":\"ask\",\"path\":[\"*.key\"]}]}", NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_judged(policy, (struct policy_subject){.action = "file_get", .does = POLICY_LOOKS, .path = rows[i].path, .tree = rows[i].tree}, rows[i].verdict, rows[i].rule);
	policy_destroy(policy);
}

/* The configuration's places take the place of the usual ones. */
static void places(void **state)
{
	struct policy *policy = make("{}", "{\"places\":[{\"kind\":\"login\",\"title\":[\"*door*\"]},{\"kind\":\"payment\",\"url\":[\"*://till/*\"]},"
	                             "{\"kind\":\"consent\",\"role\":[\"alert\"]}]}");
	json_auto_t *document = policy_document(NULL);

	(void)state;
	assert_judged(policy, (struct policy_subject){TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Sign in"}, POLICY_ALLOW, "");
	assert_judged(policy, (struct policy_subject){TYPE, .app = "firefox", .window_class = "firefox-esr", .title = "Front Door"}, POLICY_ASK, "login");
	assert_judged(policy, (struct policy_subject){CLICK, .url = "http://till/7"}, POLICY_ASK, "payment");
	assert_judged(policy, (struct policy_subject){CLICK, .role = "alert"}, POLICY_ASK, "consent");
	assert_int_equal(json_object_size(json_object_get(document, "modes")), 4);
	assert_true(json_array_size(json_object_get(document, "places")) > 4);
	policy_destroy(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(patterns_are_bounded),
		cmocka_unit_test(command_lines),
		cmocka_unit_test(shells_inside_shells),
		cmocka_unit_test(modes),
		cmocka_unit_test(order),
		cmocka_unit_test(all_of_a_rule),
		cmocka_unit_test(commands),
		cmocka_unit_test(needs),
		cmocka_unit_test(faults),
		cmocka_unit_test(connections),
		cmocka_unit_test(chords_are_named_once),
		cmocka_unit_test(folders),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
