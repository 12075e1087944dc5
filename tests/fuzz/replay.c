/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without a fuzzer: [-runs=N] FILE-OR-FOLDER… gives it each file that is named and each in a folder that is, and then N inputs that are
 * made of those by chance, the same ones each time. Prints how many there were; none is a failure. The input that ended the program is left in
 * NAME.crash beside it.
 */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/base/util.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES (16 * 1024 * 1024)
#define MAX_FOLDERS 16
#define MUTANT_BYTES (64 * 1024) /* larger ones say little for their time */

struct input {
	uint8_t *data;
	size_t len;
};

static struct input *inputs;
static size_t n_inputs;
static struct input now; /* what the target has */
static char crash[4096];

/* Only what a handler may call. */
static void keep_input(int signo)
{
	int fd = open(crash, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, now.data, now.len) >= 0)
		(void)close(fd);
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
}

static void run(const uint8_t *data, size_t len)
{
	now = (struct input){(uint8_t *)(uintptr_t)data, len};
	(void)LLVMFuzzerTestOneInput(data, len);
}

static int run_file(const char *path, const struct stat *info, int type, struct FTW *place)
{
	char *text = NULL;
	auto_fd fd = -1;
	ssize_t len;

	(void)info;
	(void)place;
	if (type != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : util_read_file(fd, MAX_BYTES, &text);
	if (len < 0) {
		perror(path);
		return -1;
	}
	(void)printf("%s\n", path); /* the last one is at fault */
	(void)fflush(stdout);
	inputs = util_realloc(inputs, (n_inputs + 1) * sizeof(*inputs));
	inputs[n_inputs++] = (struct input){(uint8_t *)text, (size_t)len};
	run((const uint8_t *)text, (size_t)len);
	return 0;
}

/* xorshift64: what is made must be the same on each machine. */
static size_t chance(size_t below)
{
	static uint64_t state = 0x9E3779B97F4A7C15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (size_t)(state % below) : 0;
}

static void overwrite(uint8_t *data, size_t len)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF, '\n', '\r', '"', '\\', '{', '%', '/', '.'};

	if (len)
		data[chance(len)] = chance(2) ? (uint8_t)chance(256) : edges[chance(sizeof(edges))];
}

static size_t take_out(uint8_t *data, size_t len)
{
	size_t at = chance(len), n = len ? 1 + chance(len - at < 32 ? len - at : 32) : 0;

	if (n > len - at)
		n = len - at;
	memmove(data + at, data + at + n, len - at - n);
	return len - n;
}

/* A piece of any input, its own among them, at any place. */
static size_t put_in(uint8_t *data, size_t len)
{
	const struct input *from = &inputs[chance(n_inputs)];
	size_t begin = chance(from->len), most = from->len - begin, n = 1 + chance(most < 64 ? most : 64), at = chance(len + 1);

	if (n > most)
		n = most;
	if (n > MUTANT_BYTES - len)
		n = MUTANT_BYTES - len;
	memmove(data + at + n, data + at, len - at);
	memcpy(data + at, from->data + begin, n);
	return len + n;
}

static void run_mutant(void)
{
	const struct input *from = &inputs[chance(n_inputs)];
	size_t len = from->len < MUTANT_BYTES ? from->len : MUTANT_BYTES;
	auto_free uint8_t *data = util_alloc(MUTANT_BYTES);

	memcpy(data, from->data, len);
	for (size_t n = 1 + chance(6); n > 0; n--) {
		size_t kind = chance(8);

		if (kind < 4)
			overwrite(data, len);
		else if (kind < 5)
			len = take_out(data, len);
		else if (kind < 7)
			len = put_in(data, len);
		else
			len = chance(len + 1);
	}
	data = util_realloc(data, len ? len : 1); /* so that checkers see what lies beyond it */
	run(data, len);
}

int main(int argc, char **argv)
{
	size_t runs = 0;

	(void)snprintf(crash, sizeof(crash), "%s.crash", argv[0]);
	for (size_t i = 0; i < 4; i++)
		(void)signal(((const int[]){SIGABRT, SIGSEGV, SIGBUS, SIGFPE})[i], keep_input);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-runs=", strlen("-runs=")) == 0)
			runs = strtoul(argv[i] + strlen("-runs="), NULL, 10);
		else if (nftw(argv[i], run_file, MAX_FOLDERS, FTW_PHYS) != 0)
			return 1;
	for (size_t i = 0; i < runs && n_inputs; i++)
		run_mutant();
	(void)printf("%zu inputs, %zu made of them\n", n_inputs, n_inputs ? runs : 0);
	for (size_t i = 0; i < n_inputs; i++)
		free(inputs[i].data);
	free(inputs);
	return n_inputs > 0 ? 0 : 1;
}
