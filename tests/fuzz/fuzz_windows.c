/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: apps */
/* longest: 640 */
/*
 * What windows say of themselves: the X server's replies about one (windows_read.h), with properties of any format and length. Whatever they hold, the window's texts
 * are UTF-8 of bounded length, its numbers have names, and nothing is read beyond a reply.
 *
 * The input is, for each question, a length of one byte, none for no reply, and the reply's bytes. As of libxcb, a reply's own length is that of its memory.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/param.h>

#include "apps/windows_read.h"
#include "session/base/util.h"

#define HEAD_BYTES 32 /* of every reply */

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void *reply_of(const uint8_t *bytes, size_t n)
{
	const size_t more = n > HEAD_BYTES ? (n - HEAD_BYTES + 3) / 4 : 0;
	xcb_get_property_reply_t *reply = util_zalloc(HEAD_BYTES + 4 * more);

	memcpy(reply, bytes, n);
	reply->length = (uint32_t)more;
	return reply;
}

static void check_text(const char *text, size_t len)
{
	insist(text && len <= LIMIT_TITLE_BYTES && strlen(text) == len && util_utf8_valid(text, len), "a text that is none");
}

static void check(const struct window *window)
{
	json_auto_t *states = windows_states(window->state);

	if (window->gone)
		return;
	check_text(window->title, window->title_len);
	check_text(window->class_name, window->class_len);
	check_text(window->instance, window->instance_len);
	insist(windows_kind(window) && windows_layer(window), "a window is of no kind");
	insist(window->outer_pid >= 0, "a process has a number below 0");
	insist(window->state >> WINDOWS_N_STATES == 0 && json_array_size(states) <= WINDOWS_N_STATES, "a state that has no name");
	(void)windows_takes_keys(window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct windows_atoms atoms = {.name = 1, .state = 2, .kind = 3};
	struct windows windows = {.list = util_zalloc(sizeof(*windows.list)), .n = 1};
	void *replies[N_QUESTIONS] = {NULL};
	size_t at = 0;

	for (xcb_atom_t i = 0; i < WINDOWS_N_STATES; i++)
		atoms.states[i] = 'A' + i;
	for (xcb_atom_t i = 0; i < WINDOWS_N_KINDS; i++)
		atoms.kinds[i] = 'a' + i;
	for (size_t i = 0; i < N_QUESTIONS && at < size; i++) {
		size_t n = MIN(data[at], size - at - 1);

		at++;
		if (n > 0)
			replies[i] = reply_of(data + at, n);
		at += n;
	}
	windows_read(windows.list, &atoms, replies);
	check(windows.list);
	for (size_t i = 0; i < N_QUESTIONS; i++)
		free(replies[i]);
	windows_finish(&windows);
	return 0;
}
