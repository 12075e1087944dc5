/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display/view */
/* A view in a process of its own; the test is the stage and the viewer to it. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "display/view/clip.h"
#include "display/view/framer.h"
#include "display/view/view.h"
#include "session/base/util.h"

#define WIDTH 64
#define HEIGHT 48
#define PATIENCE_MS 5000
#define PASSWORD "pass1234"
#define ENC_RAW 0
#define ENC_TIGHT 7
#define ENC_CURSOR 0xFFFFFF11U       /* -239 */
#define ENC_DESKTOP_SIZE 0xFFFFFF21U /* -223 */
#define ENC_EXT_SIZE 0xFFFFFECCU     /* -308 */

struct rig {
	pid_t pid;
	int rfb, stage, taken;
	uint8_t *segment;
	bool over; /* it was reaped */
};

static void live(int rfb, int stage, int taken, const uint8_t *segment, const struct view_start *start)
{
	struct view *view = util_zalloc(sizeof(*view));
	struct err e = {0};

	*view = (struct view){.start = *start, .rfb = rfb, .stage = stage, .taken = taken, .segment = segment, .pair = {-1, -1}};
	_exit(view_run(view, &e) < 0 ? 3 : 0);
}

static void start(struct rig *rig, bool controls, const char *password)
{
	struct view_start said = {.max_width_px = WIDTH, .max_height_px = HEIGHT, .controls = controls};
	int rfb[2], stage[2];

	(void)snprintf(said.password, sizeof(said.password), "%s", password);
	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, rfb), errno);
	assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, stage), errno);
	if (!controls)
		assert_return_code(shutdown(stage[0], SHUT_RD), errno);
	*rig = (struct rig){.rfb = rfb[0], .stage = stage[0], .taken = eventfd(0, EFD_CLOEXEC)};
	rig->segment = mmap(NULL, view_segment_bytes(WIDTH, HEIGHT), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rig->pid = fork();
	if (rig->pid == 0) {
		(void)close(rfb[0]);
		(void)close(stage[0]);
		live(rfb[1], stage[1], rig->taken, rig->segment, &said);
	}
	(void)close(rfb[1]);
	(void)close(stage[1]);
}

/* It ends by itself within the time. */
static int wait_end(struct rig *rig, int64_t limit_ms)
{
	int64_t until_ms = util_now_ms() + limit_ms;
	int status = 0;

	while (waitpid(rig->pid, &status, WNOHANG) == 0) {
		struct pollfd nothing = {.fd = -1};

		if (util_now_ms() > until_ms)
			fail_msg("the view has not ended within %lld ms", (long long)limit_ms);
		(void)poll(&nothing, 1, 1);
	}
	rig->over = true;
	return status;
}

static void stop(struct rig *rig)
{
	(void)close(rig->rfb);
	if (!rig->over)
		assert_int_equal(wait_end(rig, PATIENCE_MS), 0);
	(void)close(rig->stage);
	(void)close(rig->taken);
	(void)munmap(rig->segment, view_segment_bytes(WIDTH, HEIGHT));
}

/* --- the stage's part --- */

static uint32_t *pixels(const struct rig *rig)
{
	return (uint32_t *)(void *)rig->segment;
}

static void publish(const struct rig *rig, const struct view_news *news)
{
	assert_int_equal(send(rig->stage, news, sizeof(*news), MSG_NOSIGNAL), sizeof(*news));
}

static void wait_taken(const struct rig *rig)
{
	struct pollfd ready = {.fd = rig->taken, .events = POLLIN};
	uint64_t n;

	assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
	assert_int_equal(read(rig->taken, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 1);
}

static struct view_news whole(const struct rig *rig, uint32_t colour)
{
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		pixels(rig)[i] = colour + (uint32_t)i;
	return (struct view_news){.what = VIEW_NEWS_PIXELS, .width_px = WIDTH, .height_px = HEIGHT, .n_rects = 1, .rects = {{0, 0, WIDTH, HEIGHT}}};
}

static struct view_ask next_ask(const struct rig *rig)
{
	struct pollfd ready = {.fd = rig->stage, .events = POLLIN};
	struct view_ask ask = {0};
	ssize_t n;

	assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
	n = recv(rig->stage, &ask, sizeof(ask), 0);
	assert_int_equal(n, VIEW_ASK_HEAD + ask.len);
	return ask;
}

/* --- the viewer's part --- */

static void say(const struct rig *rig, const void *bytes, size_t n)
{
	assert_int_equal(send(rig->rfb, bytes, n, MSG_NOSIGNAL), n);
}

static void hear(const struct rig *rig, void *bytes, size_t n)
{
	struct pollfd ready = {.fd = rig->rfb, .events = POLLIN};

	for (size_t got = 0; got < n;) {
		ssize_t more;

		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		more = recv(rig->rfb, (char *)bytes + got, n - got, 0);
		if (more <= 0)
			fail_msg("the view closed after %zu of %zu bytes", got, n);
		got += (size_t)more;
	}
}

static void log_in(const struct rig *rig, const char *password)
{
	uint8_t bytes[256], type = password[0] ? 2 : 1, result[4], len[4];
	char secret[9];

	hear(rig, bytes, 12);
	assert_memory_equal(bytes, "RFB 003.008\n", 12);
	say(rig, "RFB 003.008\n", 12);
	hear(rig, bytes, 2);
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[1], type);
	say(rig, &type, 1);
	if (type == 2) {
		(void)snprintf(secret, sizeof(secret), "%s", password);
		hear(rig, bytes, 16);
		rfbEncryptBytes(bytes, secret);
		say(rig, bytes, 16);
	}
	hear(rig, result, 4);
	assert_int_equal(framer_u32(result), 0);
	say(rig, "\1", 1);
	hear(rig, bytes, 20);
	assert_int_equal(framer_u16(bytes), WIDTH);
	assert_int_equal(framer_u16(bytes + 2), HEIGHT);
	hear(rig, len, 4);
	hear(rig, bytes, framer_u32(len));
}

static void set_encodings(const struct rig *rig, const uint32_t *list, uint8_t n)
{
	uint8_t message[4 + 4 * 16] = {FRAMER_ENCODINGS, 0, 0, n};

	for (uint8_t i = 0; i < n; i++)
		framer_put_u32(message + 4 + 4 * i, list[i]);
	say(rig, message, 4 + 4U * n);
}

static void ask_update(const struct rig *rig, bool incremental)
{
	const uint8_t message[10] = {FRAMER_UPDATE_REQUEST, incremental, 0, 0, 0, 0, 0, WIDTH, 0, HEIGHT};

	say(rig, message, sizeof(message));
}

struct head {
	uint16_t x, y, width, height;
	uint32_t encoding;
};

static struct head next_head(const struct rig *rig)
{
	uint8_t bytes[12];

	hear(rig, bytes, sizeof(bytes));
	return (struct head){framer_u16(bytes), framer_u16(bytes + 2), framer_u16(bytes + 4), framer_u16(bytes + 6), framer_u32(bytes + 8)};
}

static unsigned int next_update(const struct rig *rig)
{
	uint8_t bytes[4];

	hear(rig, bytes, sizeof(bytes));
	assert_int_equal(bytes[0], 0);
	return framer_u16(bytes + 2);
}

/* One update of raw rectangles, put into `screen`. */
static void take_raw(const struct rig *rig, uint32_t *screen)
{
	for (unsigned int n = next_update(rig); n > 0; n--) {
		struct head head = next_head(rig);

		assert_int_equal(head.encoding, ENC_RAW);
		for (int y = head.y; y < head.y + head.height; y++)
			hear(rig, screen + y * WIDTH + head.x, head.width * sizeof(uint32_t));
	}
}

static void connect_raw(struct rig *rig, bool controls)
{
	const uint32_t encodings[] = {ENC_RAW};
	struct view_news news;

	start(rig, controls, "");
	news = whole(rig, 0x100000);
	publish(rig, &news);
	log_in(rig, "");
	wait_taken(rig);
	set_encodings(rig, encodings, 1);
}

/* --- tests --- */

static void test_framer(void **state)
{
	static const struct {
		enum framer_phase phase;
		uint8_t bytes[8];
		size_t n;
		ssize_t expect;
	} rows[] = {
		{FRAMER_VERSION, {'R'}, 1, 12},
		{FRAMER_SECURITY, {1}, 1, 1},
		{FRAMER_AUTH, {0}, 1, 16},
		{FRAMER_INIT, {1}, 1, 1},
		{FRAMER_NORMAL, {0}, 0, 0},
		{FRAMER_NORMAL, {0}, 1, 20},
		{FRAMER_NORMAL, {2, 0, 0}, 3, 0},
		{FRAMER_NORMAL, {2, 0, 0, 3}, 4, 16},
		{FRAMER_NORMAL, {2, 0, 1, 0}, 4, 4 + 4 * 256},
		{FRAMER_NORMAL, {2, 0, 1, 1}, 4, -1},
		{FRAMER_NORMAL, {3}, 1, 10},
		{FRAMER_NORMAL, {4}, 1, 8},
		{FRAMER_NORMAL, {5}, 1, 6},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0, 0, 0}, 7, 0},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0, 0, 0, 0}, 8, 8},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0, 4, 0, 0}, 8, 8 + 256 * 1024},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0, 4, 0, 1}, 8, -1},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF}, 8, -1},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, 8, 9},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xF8}, 8, 16},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0x80, 0, 0, 0}, 8, -1},
		{FRAMER_NORMAL, {6, 0, 0, 0, 0x80, 0, 0, 1}, 8, -1},
		{FRAMER_NORMAL, {251, 0, 0, 0, 0, 0}, 6, 0},
		{FRAMER_NORMAL, {251, 0, 0, 0, 0, 0, 1, 0}, 8, 24},
		{FRAMER_NORMAL, {251, 0, 0, 0, 0, 0, 17, 0}, 8, -1},
	};
	/* File transfer, chat, scales, single windows, xvp, fences, QEMU's keys, and all others. */
	static const uint8_t allowed[] = {0, 2, 3, 4, 5, 6, 251};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (framer_length(rows[i].phase, rows[i].bytes, rows[i].n) != rows[i].expect)
			fail_msg("row %zu: %zd, not %zd", i, framer_length(rows[i].phase, rows[i].bytes, rows[i].n), rows[i].expect);
	for (int type = 0; type < 256; type++) {
		uint8_t byte = (uint8_t)type;

		assert_int_equal(framer_length(FRAMER_NORMAL, &byte, 1) < 0, !memchr(allowed, type, sizeof(allowed)));
	}
}

static void check_clip(const char *text)
{
	size_t n, len = 0;
	auto_free uint8_t *message = clip_provide(text, strlen(text), &n);
	auto_free char *got = NULL;

	assert_int_equal((int32_t)framer_u32(message + 4), -(int32_t)(n - 8));
	assert_int_equal(framer_u32(message + 8), CLIP_PROVIDE | CLIP_TEXT);
	got = clip_read(message + 12, n - 12, CLIP_TEXT, &len);
	assert_non_null(got);
	assert_string_equal(got, text);
	assert_int_equal(len, strlen(text));
}

static void test_clip(void **state)
{
	auto_free char *large = util_alloc(LIMIT_CUT_BYTES + 2);
	size_t n, len;

	(void)state;
	check_clip("");
	check_clip("na\303\257ve \346\227\245\346\234\254 \360\237\231\202\nline\n");
	memset(large, 'x', LIMIT_CUT_BYTES + 1);
	large[LIMIT_CUT_BYTES] = '\0';
	check_clip(large);
	memset(large, 'x', LIMIT_CUT_BYTES + 1);
	auto_free uint8_t *too_large = clip_provide(large, LIMIT_CUT_BYTES + 1, &n);

	assert_null(clip_read(too_large + 12, n - 12, CLIP_TEXT, &len));
	auto_free uint8_t *bad = clip_provide("\377", 1, &n);

	assert_null(clip_read(bad + 12, n - 12, CLIP_TEXT, &len));
	assert_null(clip_read((const uint8_t *)"no zlib", 7, CLIP_TEXT, &len));
	assert_null(clip_read(bad + 12, n - 12, 0, &len));
	auto_free char *latin1 = clip_read_latin1((const uint8_t *)"na\357ve\r\n", 7, &len);

	assert_string_equal(latin1, "na\303\257ve\n");
	auto_free uint8_t *plain = clip_latin1("\303\257 \346\227\245", 6, &n);

	assert_int_equal(n, 8 + 3);
	assert_memory_equal(plain + 8, "\357 ?", 3);
}

/* What is published arrives, and what was not published does not, though it lies in the segment. */
static void test_picture(void **state)
{
	uint32_t screen[WIDTH * HEIGHT] = {0};
	struct view_news part = {.what = VIEW_NEWS_PIXELS, .width_px = WIDTH, .height_px = HEIGHT, .n_rects = 1, .rects = {{3, 4, 5, 6}}};
	struct rig rig;

	(void)state;
	connect_raw(&rig, false);
	ask_update(&rig, false);
	take_raw(&rig, screen);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		assert_int_equal(screen[i], 0x100000 + i);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		pixels(&rig)[i] = 0xABCDEF;
	ask_update(&rig, true);
	publish(&rig, &part);
	wait_taken(&rig);
	take_raw(&rig, screen);
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			bool inside = x >= 3 && x < 8 && y >= 4 && y < 10;

			assert_int_equal(screen[y * WIDTH + x], inside ? 0xABCDEF : 0x100000 + y * WIDTH + x);
		}
	stop(&rig);
}

static void test_password(void **state)
{
	struct rig rig;
	struct view_news news;
	uint8_t bytes[64], type = 2;

	(void)state;
	start(&rig, false, PASSWORD);
	news = whole(&rig, 0);
	publish(&rig, &news);
	log_in(&rig, PASSWORD);
	stop(&rig);
	start(&rig, false, PASSWORD);
	publish(&rig, &news);
	hear(&rig, bytes, 12);
	say(&rig, "RFB 003.008\n", 12);
	hear(&rig, bytes, 2);
	say(&rig, &type, 1);
	hear(&rig, bytes, 16);
	say(&rig, bytes, 16);
	hear(&rig, bytes, 4);
	assert_int_equal(framer_u32(bytes), 1);
	assert_int_equal(wait_end(&rig, PATIENCE_MS), 0);
	stop(&rig);
}

static void test_asks(void **state)
{
	static const uint8_t key[8] = {FRAMER_KEY, 1, 0, 0, 0, 0, 0, 'a'}, pointer[6] = {FRAMER_POINTER, 5, 0, 7, 0, 9};
	struct view_ask ask;
	struct rig rig;

	(void)state;
	connect_raw(&rig, true);
	/* In pieces, and several in one. */
	say(&rig, key, 3);
	say(&rig, key + 3, 5);
	say(&rig, pointer, sizeof(pointer));
	ask = next_ask(&rig);
	assert_int_equal(ask.kind, VIEW_ASK_KEY);
	assert_int_equal(ask.keysym, 'a');
	assert_int_equal(ask.down, 1);
	ask = next_ask(&rig);
	assert_int_equal(ask.kind, VIEW_ASK_POINTER);
	assert_int_equal(ask.mask, 5);
	assert_int_equal(ask.x, 7);
	assert_int_equal(ask.y, 9);
	stop(&rig);
}

/* Of a request for no pixels nothing comes, and the next one is answered: libvncserver would end the viewer over an empty rectangle. */
static void test_nothing_asked(void **state)
{
	static const uint16_t rects[][4] = {{9, 0, 0, 21}, {9, 0, 21, 0}, {0, 0, 0, 0}, {WIDTH, 0, 5, 5}, {0, HEIGHT, 5, 5}, {0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF}};
	const uint32_t jpeg[] = {ENC_TIGHT, 0xFFFFFFE8U /* with a quality */}, raw[] = {ENC_RAW};
	static const uint8_t key[8] = {FRAMER_KEY, 1, 0, 0, 0, 0, 0, 'a'};
	const struct view_news moved = {.what = VIEW_NEWS_CURSOR | VIEW_NEWS_POINTER, .width_px = WIDTH, .height_px = HEIGHT, .cursor_width = 9,
	                                .cursor_height = 9, .hot_x = 4, .pointer_x = 38, .pointer_y = 7};
	uint32_t screen[WIDTH * HEIGHT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rects); i++) {
		uint8_t request[10] = {FRAMER_UPDATE_REQUEST, 1};
		struct rig rig;

		for (size_t k = 0; k < 4; k++) {
			request[2 + 2 * k] = (uint8_t)(rects[i][k] >> 8);
			request[3 + 2 * k] = (uint8_t)rects[i][k];
		}
		connect_raw(&rig, true);
		publish(&rig, &moved);
		set_encodings(&rig, jpeg, 2);
		say(&rig, request, sizeof(request));
		/* Once the key has come, what is said next is read in another turn than the request. */
		say(&rig, key, sizeof(key));
		(void)next_ask(&rig);
		set_encodings(&rig, raw, 1);
		ask_update(&rig, false);
		take_raw(&rig, screen);
		stop(&rig);
	}
}

/* One without controls has no way: its messages are nothing, and the socket takes nothing from its view. */
static void test_no_controls(void **state)
{
	static const uint8_t messages[] = {FRAMER_KEY, 1, 0, 0, 0, 0, 0, 'a', FRAMER_POINTER, 1, 0, 1, 0, 1,
	                                   FRAMER_CUT_TEXT, 0, 0, 0, 0, 0, 0, 2, 'h', 'i'};
	static const uint8_t size[24] = {FRAMER_DESKTOP_SIZE, 0, 0, 32, 0, 32, 1};
	const uint32_t encodings[] = {ENC_RAW, ENC_EXT_SIZE};
	uint32_t screen[WIDTH * HEIGHT];
	struct head head;
	char byte;
	struct rig rig;

	(void)state;
	connect_raw(&rig, false);
	set_encodings(&rig, encodings, 2);
	say(&rig, messages, sizeof(messages));
	say(&rig, size, sizeof(size));
	ask_update(&rig, false);
	assert_int_equal(next_update(&rig), 1);
	head = next_head(&rig);
	assert_int_equal(head.encoding, ENC_EXT_SIZE);
	assert_int_equal(head.x, 1); /* this viewer asked */
	assert_int_equal(head.y, 1); /* and may not */
	hear(&rig, screen, 4 + 16);
	take_raw(&rig, screen);
	/* Its direction is shut: there is nothing, and never will be. */
	assert_int_equal(recv(rig.stage, &byte, 1, MSG_DONTWAIT), 0);
	stop(&rig);
}

static void test_cut_text(void **state)
{
	const uint32_t encodings[] = {ENC_RAW, CLIP_ENCODING};
	static const char text[] = "na\303\257ve \346\227\245\346\234\254 \360\237\231\202";
	uint8_t bytes[64], notify[CLIP_FLAGS_BYTES];
	struct view_news news = {.what = VIEW_NEWS_CUT, .width_px = WIDTH, .height_px = HEIGHT, .cut_len = sizeof(text) - 1};
	struct view_ask ask;
	struct rig rig;
	size_t n;

	(void)state;
	connect_raw(&rig, true);
	set_encodings(&rig, encodings, 2);
	hear(&rig, bytes, CLIP_CAPS_BYTES);
	assert_int_equal(framer_u32(bytes + 8), 0x1F000001);
	/* The viewer has copied something: it tells, is asked, and gives. */
	clip_flags(CLIP_NOTIFY | CLIP_TEXT, notify);
	notify[0] = FRAMER_CUT_TEXT;
	say(&rig, notify, sizeof(notify));
	hear(&rig, bytes, CLIP_FLAGS_BYTES);
	assert_int_equal(framer_u32(bytes + 8), CLIP_REQUEST | CLIP_TEXT);
	auto_free uint8_t *provide = clip_provide(text, sizeof(text) - 1, &n);

	provide[0] = FRAMER_CUT_TEXT;
	say(&rig, provide, n);
	ask = next_ask(&rig);
	assert_int_equal(ask.kind, VIEW_ASK_CUT);
	assert_int_equal(ask.total, sizeof(text) - 1);
	assert_memory_equal(ask.data, text, sizeof(text) - 1);
	/* And the session, once the viewer has fetched the first picture. */
	uint32_t screen[WIDTH * HEIGHT];

	ask_update(&rig, true);
	take_raw(&rig, screen);
	memcpy(rig.segment + view_cut_at(WIDTH, HEIGHT), text, sizeof(text) - 1);
	ask_update(&rig, true);
	publish(&rig, &news);
	wait_taken(&rig);
	hear(&rig, bytes, CLIP_FLAGS_BYTES);
	assert_int_equal(framer_u32(bytes + 8), CLIP_NOTIFY | CLIP_TEXT);
	clip_flags(CLIP_REQUEST | CLIP_TEXT, notify);
	notify[0] = FRAMER_CUT_TEXT;
	say(&rig, notify, sizeof(notify));
	hear(&rig, bytes, CLIP_FLAGS_BYTES);
	assert_int_equal(framer_u32(bytes + 8), CLIP_PROVIDE | CLIP_TEXT);
	n = (size_t) - (int32_t)framer_u32(bytes + 4) - 4;
	auto_free uint8_t *body = util_alloc(n);

	hear(&rig, body, n);
	size_t len = 0;
	auto_free char *got = clip_read(body, n, CLIP_TEXT, &len);

	assert_string_equal(got, text);
	stop(&rig);
}

/* Without the extension: Latin-1 both ways. */
static void test_plain_cut_text(void **state)
{
	static const uint8_t message[] = {FRAMER_CUT_TEXT, 0, 0, 0, 0, 0, 0, 5, 'n', 'a', 0xEF, 'v', 'e'};
	static const char text[] = "na\303\257ve \346\227\245";
	struct view_news news = {.what = VIEW_NEWS_CUT, .width_px = WIDTH, .height_px = HEIGHT, .cut_len = sizeof(text) - 1};
	uint32_t screen[WIDTH * HEIGHT];
	struct view_ask ask;
	uint8_t got[8 + 7];
	struct rig rig;

	(void)state;
	connect_raw(&rig, true);
	say(&rig, message, sizeof(message));
	ask = next_ask(&rig);
	assert_int_equal(ask.total, 6);
	assert_memory_equal(ask.data, text, 6);
	ask_update(&rig, false);
	take_raw(&rig, screen);
	memcpy(rig.segment + view_cut_at(WIDTH, HEIGHT), text, sizeof(text) - 1);
	ask_update(&rig, true);
	publish(&rig, &news);
	hear(&rig, got, sizeof(got));
	assert_int_equal(framer_u32(got + 4), 7);
	assert_memory_equal(got + 8, "na\357ve ?", 7);
	stop(&rig);
}

static void test_resize(void **state)
{
	const uint32_t encodings[] = {ENC_RAW, ENC_DESKTOP_SIZE, ENC_EXT_SIZE};
	static const uint8_t size[24] = {FRAMER_DESKTOP_SIZE, 0, 0, 32, 0, 16, 1};
	struct view_news news = {.what = VIEW_NEWS_PIXELS | VIEW_NEWS_RESIZED, .width_px = 32, .height_px = 16, .n_rects = 1, .rects = {{0, 0, 32, 16}}};
	uint32_t screen[WIDTH * HEIGHT];
	struct view_ask ask;
	struct head head;
	struct rig rig;

	(void)state;
	connect_raw(&rig, true);
	set_encodings(&rig, encodings, 3);
	ask_update(&rig, false);
	assert_int_equal(next_update(&rig), 1); /* the layout, as the extension wants it */
	(void)next_head(&rig);
	hear(&rig, screen, 20);
	take_raw(&rig, screen);
	say(&rig, size, sizeof(size));
	ask = next_ask(&rig);
	assert_int_equal(ask.kind, VIEW_ASK_RESIZE);
	assert_int_equal(ask.x, 32);
	assert_int_equal(ask.y, 16);
	for (int i = 0; i < 32 * 16; i++)
		pixels(&rig)[i] = 0x00AA00;
	ask_update(&rig, true);
	publish(&rig, &news);
	assert_int_equal(next_update(&rig), 1);
	head = next_head(&rig);
	assert_int_equal(head.encoding, ENC_EXT_SIZE);
	assert_int_equal(head.x, 1);
	assert_int_equal(head.y, 0);
	assert_int_equal(head.width, 32);
	assert_int_equal(head.height, 16);
	hear(&rig, screen, 20);
	assert_int_equal(next_update(&rig), 1);
	head = next_head(&rig);
	assert_int_equal(head.width, 32);
	hear(&rig, screen, sizeof(uint32_t) * 32 * 16);
	assert_int_equal(screen[0], 0x00AA00);
	stop(&rig);
}

static void test_cursor(void **state)
{
	const uint32_t encodings[] = {ENC_RAW, ENC_CURSOR};
	struct view_news news = {.what = VIEW_NEWS_CURSOR | VIEW_NEWS_POINTER, .width_px = WIDTH, .height_px = HEIGHT, .cursor_width = 2,
	                         .cursor_height = 2, .hot_x = 1, .hot_y = 0, .pointer_x = 10, .pointer_y = 10};
	static const uint32_t image[4] = {0xFF112233, 0x00000000, 0x80402010, 0x40000000};
	uint32_t screen[WIDTH * HEIGHT], shape[4];
	uint8_t mask[2];
	struct head head;
	struct rig rig;

	(void)state;
	connect_raw(&rig, false);
	memcpy(rig.segment + view_cursor_at(WIDTH, HEIGHT), image, sizeof(image));
	ask_update(&rig, false);
	take_raw(&rig, screen);
	set_encodings(&rig, encodings, 2);
	ask_update(&rig, true);
	publish(&rig, &news);
	for (;;) {
		assert_int_equal(next_update(&rig), 1);
		head = next_head(&rig);
		assert_int_equal(head.encoding, ENC_CURSOR);
		if (head.width == 2)
			break;
		/* That there is none yet. */
		ask_update(&rig, true);
	}
	assert_int_equal(head.x, 1);
	assert_int_equal(head.y, 0);
	hear(&rig, shape, sizeof(shape));
	hear(&rig, mask, sizeof(mask));
	assert_int_equal(shape[0], 0x112233);
	assert_int_equal(shape[2], 0x804020);
	assert_int_equal(mask[0], 0x80);
	assert_int_equal(mask[1], 0x80);
	stop(&rig);
}

/* Each of these ends this view, at once, and needs no memory for it. */
static void test_hostile(void **state)
{
	static const struct {
		const char *what;
		uint8_t bytes[24];
		size_t n;
	} rows[] = {
		{"file transfer", {7}, 1},
		{"set scale", {8, 0, 0, 0}, 4},
		{"text chat", {11, 0, 0, 0}, 4},
		{"xvp", {250, 0, 1, 2}, 4},
		{"fence", {248, 0, 0, 0}, 4},
		{"qemu", {255, 0, 0, 0}, 4},
		{"text of 4 GiB", {6, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF}, 8},
		{"text of 300 MB", {6, 0, 0, 0, 0x11, 0xE1, 0xA3, 0x00}, 8},
		{"extended text of 2 GiB", {6, 0, 0, 0, 0x80, 0, 0, 0}, 8},
		{"extended text of nobody's", {6, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFC, 0x08, 0, 0, 1}, 12},
		{"65535 encodings", {2, 0, 0xFF, 0xFF}, 4},
		{"255 screens", {251, 0, 0, 1, 0, 1, 255, 0}, 8},
		{"7 bits a pixel", {0, 0, 0, 0, 7, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}, 20},
		{"no red", {0, 0, 0, 0, 32, 24, 0, 1, 0, 0, 0, 255, 0, 255, 16, 8, 0}, 20},
		{"shift of 200", {0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 200, 8, 0}, 20},
	};
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		connect_raw(&rig, true);
		say(&rig, rows[i].bytes, rows[i].n);
		if (wait_end(&rig, PATIENCE_MS) != 0)
			fail_msg("%s: the view crashed", rows[i].what);
		stop(&rig);
	}
}

/* One that does not speak RFB, one that says nothing more, one that goes. */
static void test_greetings(void **state)
{
	static const char *const greetings[] = {"GET / HTTP/1.1\r\n", "RFB 004.000\n", "RFB 00"};
	struct rig rig;
	struct view_news news;
	char bytes[12];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(greetings); i++) {
		start(&rig, true, "");
		news = whole(&rig, 0);
		publish(&rig, &news);
		hear(&rig, bytes, sizeof(bytes));
		say(&rig, greetings[i], strlen(greetings[i]));
		(void)shutdown(rig.rfb, SHUT_WR);
		assert_int_equal(WEXITSTATUS(wait_end(&rig, PATIENCE_MS)), 3);
		stop(&rig);
	}
}

/* One that asks for pictures and does not read them stands still alone; when it goes, its view goes, though it was in the middle of a write. */
static void test_never_reads(void **state)
{
	struct rig rig;

	(void)state;
	connect_raw(&rig, true);
	for (int i = 0; i < 64; i++)
		ask_update(&rig, false);
	/* It has read some requests and is stuck: what it does not take stays in the socket. */
	(void)close(rig.rfb);
	assert_int_equal(wait_end(&rig, 2000), 0);
	(void)close(rig.stage);
	(void)close(rig.taken);
}

static void test_stage_goes(void **state)
{
	struct rig rig;

	(void)state;
	connect_raw(&rig, false);
	(void)close(rig.stage);
	assert_int_equal(wait_end(&rig, 2000), 0);
	rig.stage = -1;
	stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_framer),      cmocka_unit_test(test_clip),        cmocka_unit_test(test_picture),
		cmocka_unit_test(test_password),    cmocka_unit_test(test_asks),        cmocka_unit_test(test_nothing_asked), cmocka_unit_test(test_no_controls),
		cmocka_unit_test(test_cut_text),    cmocka_unit_test(test_resize), cmocka_unit_test(test_plain_cut_text),      cmocka_unit_test(test_cursor),
		cmocka_unit_test(test_hostile),     cmocka_unit_test(test_greetings),   cmocka_unit_test(test_never_reads),
		cmocka_unit_test(test_stage_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
