/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitting command lines. */
#include "session/policy/shell.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define BLANKS " \t"
#define ENDERS ";&|\n()" /* of a simple command */

struct split {
	const char *at;
	json_t *commands;  /* so far */
	json_t *words;     /* of the command at work */
	char *word;        /* at work, malloced, as long as the line; NULL: none */
	size_t len, room;
	bool sure;
	int depth;         /* of shells inside shells */
};

static bool is_among(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* What stands before a command and is none. */
static bool is_keyword(const char *word)
{
	static const char *const keywords[] = {"!", "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
	                                       "in", "function", "select", "time", "coproc", "[[", NULL};

	return is_among(word, keywords);
}

/* Run what their words, or their input, say. */
static bool runs_others(const char *program)
{
	static const char *const runners[] = {"eval", "exec", "source", ".", "command", "builtin", "trap", "alias", "env", "xargs", "find", "parallel",
	                                      "sudo", "doas", "su", "nohup", "nice", "ionice", "timeout", "time", "setsid", "stdbuf", "watch", "script",
	                                      "ssh", "busybox", "chroot", "unshare", "nsenter", "runuser", "setpriv", "start-stop-daemon", "flock",
	                                      "taskset", "strace", "dbus-run-session", "systemd-run", "at", "batch", "crontab", "chrt", "choom",
	                                      "prlimit", "setarch", "linux32", "linux64", "i386", "x86_64", "pkexec", "bwrap", "fakeroot", "unbuffer",
	                                      "toybox", "run-parts", "ltrace", "gdb", "valgrind", "cgexec", "ld-linux-x86-64.so.2", NULL};

	return is_among(program, runners);
}

/* Say which programs the names after them are. */
static bool is_telling(const char *assignment)
{
	static const char *const names[] = {"PATH=", "IFS=", "ENV=", "BASH_ENV=", "LD_", "SHELLOPTS=", "BASHOPTS=", "PS4=", NULL};

	for (const char *const *name = names; *name; name++)
		if (strncmp(assignment, *name, strlen(*name)) == 0)
			return true;
	return false;
}

static bool is_assignment(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && (word[0] < '0' || word[0] > '9') && (word[n] == '=' || (word[n] == '+' && word[n + 1] == '='));
}

static const char *word_at(const json_t *words, size_t i)
{
	const char *word = json_string_value(json_array_get(words, i));

	return word ? word : "";
}

const char *shell_program(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool shell_is_one(const json_t *argv)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", NULL};

	return is_among(shell_program(word_at(argv, 0)), shells);
}

/* The line of `sh -c LINE`; NULL with *sure false when it is not found, NULL with *sure true of a script. */
static const char *line_of(const json_t *argv, bool *sure)
{
	size_t i = 1, n = json_array_size(argv);
	bool has_line = false;

	for (; i < n && (word_at(argv, i)[0] == '-' || word_at(argv, i)[0] == '+'); i++) {
		const char *option = word_at(argv, i);

		/* Both end the options. */
		if (strcmp(option, "--") == 0 || strcmp(option, "-") == 0) {
			i++;
			break;
		}
		/* Others may take a word of their own (--rcfile FILE, +O OPTION): where the line is then is not known. */
		if (option[1] == '-' || option[strspn(option, "-+ceiluxo")] != '\0' || (option[0] == '+' && strchr(option, 'c'))) {
			*sure = false;
			return NULL;
		}
		has_line |= strchr(option, 'c') != NULL;
		i += strchr(option, 'o') != NULL; /* its name */
	}
	*sure = i < n; /* else it reads its input */
	return has_line && i < n ? word_at(argv, i) : NULL;
}

static json_t *split(const char *line, int depth, bool *sure);

/* Adds what the words run. */
static void add_command(const json_t *words, int depth, json_t *commands, bool *sure)
{
	bool is_read = true;
	const char *line = shell_is_one(words) ? line_of(words, &is_read) : NULL;
	json_auto_t *inside = NULL;

	*sure &= is_read && !runs_others(shell_program(word_at(words, 0)));
	json_array_append(commands, (json_t *)(uintptr_t)words);
	if (!line)
		return;
	if (depth >= LIMIT_SHELLS_DEEP) {
		*sure = false;
		return;
	}
	inside = split(line, depth + 1, sure);
	json_array_extend(commands, inside);
}

static void end_word(struct split *split)
{
	if (!split->word)
		return;
	/* Bytes that are no text cannot be matched. */
	if (json_array_append_new(split->words, json_stringn(split->word, split->len)) < 0)
		split->sure = false;
	free(split->word);
	split->word = NULL;
	split->len = split->room = 0;
}

static void put(struct split *split, char c)
{
	if (split->len + 1 >= split->room) {
		split->room = split->room ? 2 * split->room : 32;
		split->word = util_realloc(split->word, split->room);
	}
	split->word[split->len++] = c;
}

/* Keywords and assignments before a command go; what remains of it is added. */
static void end_command(struct split *split)
{
	json_t *words;

	end_word(split);
	words = split->words;
	while (json_array_size(words) > 0 && (is_keyword(word_at(words, 0)) || is_assignment(word_at(words, 0)))) {
		if (is_keyword(word_at(words, 0)) || is_telling(word_at(words, 0)))
			split->sure = false;
		(void)json_array_remove(words, 0);
	}
	if (json_array_size(words) > 0) {
		if (json_array_size(split->commands) < LIMIT_SHELL_COMMANDS)
			add_command(words, split->depth, split->commands, &split->sure);
		else
			split->sure = false;
	}
	json_decref(words);
	split->words = json_array();
}

/* 'text', which has no other meaning than itself. */
static void take_single(struct split *split)
{
	const char *end = strchr(++split->at, '\'');

	put(split, '\0');
	split->len--;
	if (!end) {
		split->sure = false;
		end = split->at + strlen(split->at);
	}
	while (split->at < end)
		put(split, *split->at++);
	split->at += *end != '\0';
}

/* "text", in which expansions are done. */
static void take_double(struct split *split)
{
	put(split, '\0');
	split->len--;
	for (split->at++; *split->at && *split->at != '"'; split->at++) {
		if (*split->at == '\\' && split->at[1] && strchr("\"\\$`\n", split->at[1])) {
			split->at++;
			if (*split->at == '\n')
				continue;
		} else if (*split->at == '$' || *split->at == '`') {
			split->sure = false;
		}
		put(split, *split->at);
	}
	split->sure &= *split->at == '"';
	split->at += *split->at == '"';
}

static void take_escaped(struct split *split)
{
	split->at++;
	if (*split->at == '\n') {
		split->at++;
		return;
	}
	if (!*split->at) {
		split->sure = false;
		return;
	}
	put(split, *split->at++);
}

/* The number right before a "<" or ">" is no word; anything else is. */
static void drop_number(struct split *split, bool is_both)
{
	size_t n = 0;

	while (n < split->len && split->word[n] >= '0' && split->word[n] <= '9')
		n++;
	if (is_both || n < split->len || n == 0) {
		end_word(split);
		return;
	}
	free(split->word);
	split->word = NULL;
	split->len = split->room = 0;
}

/* A file or descriptor behind "<" or ">" is no word of the command. */
static void take_redirection(struct split *split)
{
	bool is_both = *split->at == '&'; /* "&>": no number before it */
	size_t signs = strspn(split->at + is_both, "<>");
	json_t *kept = split->words;

	drop_number(split, is_both);
	split->at += is_both;
	/* A here document or text, or a process. */
	split->sure &= !(split->at[0] == '<' && signs > 1) && split->at[signs] != '(';
	split->at += signs;
	split->at += strspn(split->at, "&|");
	split->at += strspn(split->at, BLANKS);
	split->words = json_array();
	while (*split->at && !strchr(BLANKS ENDERS "<>", *split->at)) {
		if (*split->at == '\'')
			take_single(split);
		else if (*split->at == '"')
			take_double(split);
		else if (*split->at == '\\')
			take_escaped(split);
		else {
			split->sure &= *split->at != '$' && *split->at != '`';
			put(split, *split->at++);
		}
	}
	end_word(split);
	json_decref(split->words);
	split->words = kept;
}

/* One character, or what it begins. */
static void take(struct split *split)
{
	char c = *split->at;

	if (c == '\'') {
		take_single(split);
	} else if (c == '"') {
		take_double(split);
	} else if (c == '\\') {
		take_escaped(split);
	} else if (c == '<' || c == '>' || (c == '&' && split->at[1] == '>')) {
		take_redirection(split);
	} else if (c == '#' && !split->word) {
		split->at += strcspn(split->at, "\n");
	} else if (strchr(BLANKS, c)) {
		end_word(split);
		split->at++;
	} else if (strchr(ENDERS, c)) {
		/* NAME () makes a function of what follows. */
		split->sure &= !(c == '(' && (split->word || json_array_size(split->words) > 0));
		end_command(split);
		split->at++;
	} else {
		/* Expansions: what is run, or with which words, is not known before. Names of files ("*", "~") are no commands. */
		if (c == '$' || c == '`' || (c == '{' && split->at[1] != ' ' && split->at[1] != '\n' && split->at[1] != '}'))
			split->sure = false;
		if (json_array_size(split->words) == 0 && strchr("*?[~", c) && !(c == '[' && !split->word && strchr(BLANKS, split->at[1])))
			split->sure = false;
		put(split, c);
		split->at++;
	}
}

static json_t *split(const char *line, int depth, bool *sure)
{
	struct split state = {.at = line, .commands = json_array(), .words = json_array(), .sure = *sure, .depth = depth};

	while (*state.at)
		take(&state);
	end_command(&state);
	json_decref(state.words);
	*sure = state.sure;
	return state.commands;
}

json_t *shell_split(const char *line, bool *sure)
{
	*sure = true;
	return split(line, 0, sure);
}

json_t *shell_commands(const json_t *argv, bool *sure)
{
	json_t *commands = json_array();

	*sure = true;
	add_command(argv, 0, commands, sure);
	return commands;
}
