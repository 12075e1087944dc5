/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: sandbox/egress sandbox/confine */
/* Webhooks without a network: which addresses may be reached, signatures, the operator's file, and the order, tries and room of deliveries. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/egress/lanes.h"
#include "sandbox/egress/sign.h"
#include "session/base/co.h"
#include "session/base/util.h"

#define KEY "\"key\":\"0123456789abcdef\""

static const char *refusal(const char *text, const char *allowed)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct address_prefix prefix;
	struct address_list list = {.list = &prefix};

	if (allowed) {
		assert_true(address_read_prefix(allowed, &prefix));
		list.n = 1;
	}
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return address_refusal((struct sockaddr *)&v4, sizeof(v4), &list);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return address_refusal((struct sockaddr *)&v6, sizeof(v6), &list);
}

static void test_addresses(void **state)
{
	static const char *const good[] = {"1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "2a00:1450::1", "::ffff:1.1.1.1",
	                                   "64:ff9b::101:101", "2002:101:101::1"};
	static const char *const bad[] = {"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254", "168.63.129.16",
	                                  "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
	                                  "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::a00:1", "64:ff9b::7f00:1",
	                                  "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:a00:1::1", "2002:7f00:1::", "fc00::1", "fd00:ec2::254",
	                                  "fe80::1", "ff02::1", "2001:db8::1", "2001::1", "100::1", "4000::1", "fec0::1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (refusal(good[i], NULL))
			fail_msg("%s is %s", good[i], refusal(good[i], NULL));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (!refusal(bad[i], NULL))
			fail_msg("%s may be reached", bad[i]);
	assert_string_equal(refusal("::ffff:169.254.169.254", NULL), "a link-local address");
}

static void test_what_is_allowed(void **state)
{
	static const char *const bad[] = {"", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x", "10.0.0", "::1/129", "fd00::1/8", "host"};
	struct address_prefix prefix;

	(void)state;
	assert_null(refusal("10.1.2.3", "10.0.0.0/8"));
	assert_null(refusal("::ffff:10.1.2.3", "10.0.0.0/8"));
	assert_non_null(refusal("11.0.0.1", "10.0.0.0/8") ? "" : refusal("10.1.2.3", "10.1.2.4"));
	assert_null(refusal("10.1.2.4", "10.1.2.4"));
	assert_non_null(refusal("10.1.2.5", "10.1.2.4"));
	assert_null(refusal("10.255.0.1", "10.254.0.0/15"));
	assert_non_null(refusal("10.253.0.1", "10.254.0.0/15"));
	assert_null(refusal("fd12::1", "fd00::/8"));
	assert_null(refusal("::1", "::1"));
	assert_non_null(refusal("127.0.0.1", "::1"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (address_read_prefix(bad[i], &prefix))
			fail_msg("%s is taken", bad[i]);
}

static void test_signature(void **state)
{
	char out[SIGN_SIZE];

	(void)state;
	/* printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef */
	assert_string_equal(sign_body("0123456789abcdef", 1700000000, "{\"a\":1}", 7, out),
	                    "t=1700000000,v1=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23");
}

static int read_text(const char *text, struct targets *targets, struct faults *faults)
{
	auto_fd fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
	return targets_read(fd, targets, faults);
}

static void test_file(void **state)
{
	struct err e = {0};
	struct faults faults = {.list = &e, .max = 1};
	struct targets targets;

	(void)state;
	if (read_text("{\"webhooks\":[{\"url\":\"https://hooks.example/secret?a=b\"," KEY "},"
	              "{\"url\":\"http://[::1]:8080/x\"," KEY ",\"events\":[\"session\",\"lease\"]}],\"allow\":[\"::1\"],\"tries\":2}",
	              &targets, &faults) < 0)
		fail_msg("%s: %s", e.path, e.msg);
	assert_int_equal(targets.n, 2);
	assert_string_equal(targets.list[0].name, "webhook 1 (hooks.example)");
	assert_string_equal(targets.list[0].port, "443");
	assert_int_equal(targets.list[0].events, 7);
	assert_string_equal(targets.list[1].host, "::1");
	assert_int_equal(targets.list[1].events, 5);
	assert_int_equal(targets.tries, 2);
	targets_finish(&targets);
}

static void test_what_the_file_may_not_say(void **state)
{
	static const struct {
		const char *text, *path, *words;
	} cases[] = {
		{"{}", "/webhooks", ""},
		{"{\"webhooks\":[]}", "/webhooks", ""},
		{"{\"webhooks\":[{\"url\":\"https://a.example/\",\"key\":\"canary\"}]}", "/webhooks/0/key", "16"},
		{"{\"webhooks\":[{\"url\":\"ftp://a.example/canary\"," KEY "}]}", "/webhooks/0/url", "https"},
		{"{\"webhooks\":[{\"url\":\"canary\"," KEY "}]}", "/webhooks/0/url", "https"},
		{"{\"webhooks\":[{\"url\":\"https://user:canary@a.example/\"," KEY "}]}", "/webhooks/0/url", "user"},
		{"{\"webhooks\":[{\"url\":\"http://a.example/canary\"," KEY "}]}", "/webhooks/0/url", "127.0.0.1"},
		{"{\"webhooks\":[{\"url\":\"http://10.0.0.1/\"," KEY "}],\"allow\":[\"10.0.0.1\"]}", "/webhooks/0/url", "127.0.0.1"},
		{"{\"webhooks\":[{\"url\":\"http://127.0.0.1/\"," KEY "}]}", "/webhooks/0/url", "allow"},
		{"{\"webhooks\":[{\"url\":\"http://localhost:80/\"," KEY "}]}", "/webhooks/0/url", "allow"},
		{"{\"webhooks\":[{\"url\":\"https://169.254.169.254/\"," KEY "}]}", "/webhooks/0/url", "link-local"},
		{"{\"webhooks\":[{\"url\":\"https://0x7f000001/\"," KEY "}]}", "/webhooks/0/url", "loopback"},
		{"{\"webhooks\":[{\"url\":\"https://[::ffff:10.0.0.1]/\"," KEY "}]}", "/webhooks/0/url", "private"},
		{"{\"webhooks\":[{\"url\":\"https://a.example/\"," KEY ",\"events\":[\"lease\",\"key\"]}]}", "/webhooks/0/events", "lease approval session"},
		{"{\"webhooks\":[{\"url\":\"https://a.example/\"," KEY "}],\"allow\":[\"10.0.0.1/8\"]}", "/allow/0", "network"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = {0};
		struct faults faults = {.list = &e, .max = 1};
		struct targets targets;

		if (read_text(cases[i].text, &targets, &faults) == 0)
			fail_msg("%s is taken", cases[i].text);
		if (strcmp(e.path, cases[i].path) != 0 || !strstr(e.msg, cases[i].words) || strstr(e.msg, "canary"))
			fail_msg("%s is refused at %s: %s", cases[i].text, e.path, e.msg);
	}
}

/* A post that answers as a script says, and notes what came. */
struct scene {
	struct loop *loop;
	struct target list[2];
	struct targets targets;
	struct poster poster;
	struct lanes_ops ops;
	struct lanes *lanes;
	enum post_result results[8]; /* of the tries, then POST_DELIVERED */
	size_t n_tries, at_once, most_at_once;
	bool hangs; /* until it is let go */
	struct co_event let_go;
	char order[4096];
	struct hook_report sum;
};

static struct scene *the_scene; /* a post has no argument of its own */

static enum post_result post(const struct poster *poster, const struct target *target, const struct hook_event *event, char *why, size_t size)
{
	struct scene *scene = the_scene;
	size_t n = scene->n_tries++;
	struct err e;

	(void)poster;
	(void)snprintf(why, size, "no reason");
	(void)snprintf(scene->order + strlen(scene->order), sizeof(scene->order) - strlen(scene->order), "%c%s%.*s ",
	               target == scene->list ? 'A' : 'B', event->session, (int)event->len, event->body);
	scene->at_once++;
	if (scene->at_once > scene->most_at_once)
		scene->most_at_once = scene->at_once;
	while (scene->hangs)
		(void)co_wait_event(&scene->let_go, CO_FOREVER, &e);
	scene->at_once--;
	return n < ARRAY_LEN(scene->results) ? scene->results[n] : POST_DELIVERED;
}

static void on_report(void *arg, const struct hook_report *report)
{
	struct scene *scene = arg;

	scene->sum.delivered += report->delivered;
	scene->sum.failed += report->failed;
	scene->sum.dropped += report->dropped;
}

static void on_idle(void *arg)
{
	loop_stop(((struct scene *)arg)->loop);
}

static void begin(struct scene *scene)
{
	struct err e;

	memset(scene, 0, sizeof(*scene));
	the_scene = scene;
	scene->loop = loop_create(&e);
	scene->list[0] = (struct target){.name = "A", .events = 1};
	scene->list[1] = (struct target){.name = "B", .events = 4};
	scene->targets = (struct targets){.list = scene->list, .n = 2, .tries = 3};
	scene->poster = (struct poster){.loop = scene->loop, .targets = &scene->targets};
	scene->ops = (struct lanes_ops){.report = on_report, .idle = on_idle, .post = post, .pause_ms = 1, .arg = scene};
	scene->lanes = lanes_create(&scene->poster, &scene->ops);
}

static void end(struct scene *scene)
{
	assert_true(lanes_are_empty(scene->lanes));
	free(scene->lanes);
	loop_destroy(scene->loop);
}

static void say(struct scene *scene, uint32_t kind, const char *session, const char *body)
{
	struct hook_event event = {.kind = kind, .len = (uint32_t)strlen(body)};

	(void)snprintf(event.session, sizeof(event.session), "%s", session);
	(void)snprintf(event.body, sizeof(event.body), "%s", body);
	lanes_add(scene->lanes, &event);
}

static void test_order_of_a_session(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	/* The first try of s1's first event fails; s2 does not wait for it, s1's second event does. */
	scene.results[0] = POST_LATER;
	say(&scene, 0, "s1", "a");
	say(&scene, 0, "s1", "b");
	say(&scene, 0, "s2", "c");
	say(&scene, 1, "s2", "nobody wants it");
	say(&scene, 2, "s1", "d");
	loop_run(scene.loop);
	assert_string_equal(scene.order, "As1a As2c Bs1d As1a As1b ");
	assert_int_equal(scene.sum.delivered, 4);
	assert_int_equal(scene.sum.failed + scene.sum.dropped, 0);
	end(&scene);
}

static void test_giving_up(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	scene.results[0] = scene.results[1] = scene.results[2] = POST_LATER; /* three tries */
	scene.results[3] = POST_REFUSED;                                     /* one is enough */
	say(&scene, 0, "s1", "a");
	say(&scene, 0, "s1", "b");
	say(&scene, 0, "s1", "c");
	loop_run(scene.loop);
	assert_string_equal(scene.order, "As1a As1a As1a As1b As1c ");
	assert_int_equal(scene.sum.failed, 2);
	assert_int_equal(scene.sum.delivered, 1);
	end(&scene);
}

static void test_room(void **state)
{
	struct scene scene;
	char session[16];

	(void)state;
	begin(&scene);
	scene.hangs = true;
	for (int i = 0; i < LIMIT_HOOK_LANE + 3; i++)
		say(&scene, 0, "s0", "a");
	assert_int_equal(scene.sum.dropped, 3);
	for (int i = LIMIT_HOOK_LANE; i < LIMIT_HOOK_QUEUE + 5; i++) {
		(void)snprintf(session, sizeof(session), "s%d", 1 + i % 40);
		say(&scene, 0, session, "a");
	}
	assert_int_equal(scene.sum.dropped, 3 + 5);
	/* Nothing of it is the other receiver's matter. */
	say(&scene, 2, "s0", "b");
	assert_int_equal(scene.sum.dropped, 3 + 5);
	for (int i = 0; i < 5; i++)
		(void)loop_turn(scene.loop, 0);
	assert_int_equal(scene.most_at_once, LIMIT_HOOKS_AT_ONCE + 1);
	scene.hangs = false;
	co_signal(&scene.let_go);
	loop_run(scene.loop);
	assert_int_equal(scene.sum.delivered, LIMIT_HOOK_QUEUE + 1);
	assert_int_equal(scene.most_at_once, LIMIT_HOOKS_AT_ONCE + 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_what_is_allowed),
		cmocka_unit_test(test_signature),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_what_the_file_may_not_say),
		cmocka_unit_test(test_order_of_a_session),
		cmocka_unit_test(test_giving_up),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
