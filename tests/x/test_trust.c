/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: display */
/* The two kinds of connections: what the cookie of an untrusted client opens, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <xcb/xtest.h>

#include "session/base/util.h"
#include "session/base/x/xsecurity.h"
#include "tests/x/xserver.h"

struct fixture {
	struct xserver server;
	struct loop *loop;
	struct xconn x, untrusted;
	uint8_t cookie[XSECURITY_COOKIE_LEN];
	struct err e;
};

static void on_lost(void *arg)
{
	(void)arg;
}

static void make_cookie(void *arg)
{
	struct fixture *f = arg;

	if (xsecurity_untrusted_cookie(&f->x, f->cookie, &f->e) < 0)
		fail_msg("%s", f->e.msg);
}

static int set_up(void **state)
{
	struct fixture *f = util_zalloc(sizeof(*f));

	xserver_start(&f->server, 320, 200);
	f->loop = loop_create(&f->e);
	if (xconn_open(&f->x, f->loop, f->server.display, NULL, on_lost, f, &f->e) < 0)
		fail_msg("%s", f->e.msg);
	xserver_run(f->loop, make_cookie, f);
	if (xconn_open_untrusted(&f->untrusted, f->loop, f->server.display, f->cookie, on_lost, f, &f->e) < 0)
		fail_msg("%s", f->e.msg);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	xconn_close(&f->untrusted);
	xconn_close(&f->x);
	loop_destroy(f->loop);
	xserver_stop(&f->server);
	free(f);
	return 0;
}

static int screen_of(struct xconn *x, struct err *e)
{
	auto_free void *reply = NULL;

	return xconn_reply(x, xcb_get_image(x->xcb, XCB_IMAGE_FORMAT_Z_PIXMAP, x->root, 0, 0, 1, 1, ~0U).sequence, &reply, e);
}

static void look(void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(screen_of(&f->x, &f->e), 0);
	assert_int_equal(screen_of(&f->untrusted, &f->e), -1);
	assert_int_equal(f->e.code, ERR_CONFLICT);
}

static void test_only_the_trusted_one_sees_the_screen(void **state)
{
	struct fixture *f = *state;

	xserver_run(f->loop, look, f);
}

static bool has(struct xconn *x, const char *name)
{
	auto_free xcb_query_extension_reply_t *reply = NULL;
	struct err e = {0};

	if (xconn_reply(x, xcb_query_extension(x->xcb, (uint16_t)strlen(name), name).sequence, (void **)&reply, &e) < 0)
		fail_msg("%s", e.msg);
	return reply->present;
}

static void compare_extensions(void *arg)
{
	static const char *const kept[] = {"XTEST", "RECORD", "XInputExtension", "SECURITY", "XFIXES", "DAMAGE", "MIT-SHM", "X-Resource"};
	struct fixture *f = arg;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		assert_true(has(&f->x, kept[i]));
		assert_false(has(&f->untrusted, kept[i]));
	}
}

static void test_the_untrusted_one_has_no_extension_that_sees_or_types(void **state)
{
	struct fixture *f = *state;

	xserver_run(f->loop, compare_extensions, f);
}

static void make_another(void *arg)
{
	struct fixture *f = arg;
	uint8_t first[XSECURITY_COOKIE_LEN];

	memcpy(first, f->cookie, sizeof(first));
	assert_int_equal(xsecurity_untrusted_cookie(&f->x, f->cookie, &f->e), 0);
	assert_memory_not_equal(first, f->cookie, sizeof(first));
	assert_int_equal(xsecurity_untrusted_cookie(&f->untrusted, f->cookie, &f->e), -1);
}

static void test_each_cookie_is_new_and_only_the_trusted_one_makes_them(void **state)
{
	struct fixture *f = *state;

	xserver_run(f->loop, make_another, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_the_trusted_one_sees_the_screen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_untrusted_one_has_no_extension_that_sees_or_types, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_each_cookie_is_new_and_only_the_trusted_one_makes_them, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
