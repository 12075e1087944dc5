/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-egress */
/* longest: 1024 */
/*
 * What glovebox-egress is told; the first byte says by whom (a row of `links`). By its stage: policies and verdicts, as lines (frames.h) or as they are; a policy that is
 * taken is no wider than the warden's ceiling, and lets nothing through that is never reached. By the warden: labels. By the front: events for webhooks.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sandbox/egress/hook.h"
#include "sandbox/egress/labels.h"
#include "sandbox/egress/policy.h"
#include "sandbox/egress/talk.h"
#include "session/base/log.h"
#include "tests/fuzz/frames.h"

#define MOST_BYTES 8192

static bool is_closed;

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void check_judged(const struct policy *policy, const char *host, bool never)
{
	struct egress_host read;
	const struct egress_want want = {.host = &read, .port = 443, .is_read = false};
	const char *why = NULL, *rule;

	egress_host_read(host, strlen(host), &read);
	rule = policy_judge(policy, &want, &why);
	insist(rule || (why && *why), "a refusal says nothing");
	insist(!rule || policy->mode != EGRESS_NONE, "without a way out there is one");
	insist(!rule || !never, "what is never reached is let through");
	(void)policy_names(policy, &want);
}

static int take_policy(void *arg, const json_t *json, struct err *e)
{
	uint32_t ceiling = *(const uint32_t *)arg;
	struct policy policy = {.mode = EGRESS_NONE};

	if (policy_read(json, ceiling, &policy, e) < 0) {
		insist(e->code != ERR_NONE && e->msg[0] && util_utf8_valid(e->msg, strlen(e->msg)), "a refused policy has no text");
		return -1;
	}
	insist((uint32_t)policy.mode <= ceiling, "a policy is wider than the ceiling");
	insist(policy.caps.connections > 0 && policy.caps.connections <= LIMIT_EGRESS_CONNECTIONS, "a cap that is none");
	check_judged(&policy, "example.test", false);
	check_judged(&policy, "localhost", true);
	check_judged(&policy, "0x7f.1", true);
	policy_finish(&policy);
	return 0;
}

static void take_verdict(void *arg, uint64_t id, bool allows, bool session)
{
	(void)arg, (void)allows, (void)session;
	insist(id > 0, "a verdict on no question");
}

static void on_closed(void *arg)
{
	(void)arg;
	insist(!is_closed, "it closes twice");
	is_closed = true;
}

static void hear_stage(const uint8_t *data, size_t size, bool raw)
{
	static const struct talk_ops ops = {.policy = take_policy, .verdict = take_verdict, .closed = on_closed};
	static struct loop *loop;
	uint32_t ceiling = size > 0 ? data[0] % (EGRESS_OPEN + 1) : 0;
	struct talk *talk;
	struct err e;
	int ends[2];

	if (!loop)
		loop = loop_create(&e);
	if (!loop || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		DIE("no link: %s", strerror(errno));
	is_closed = false;
	talk = talk_create(loop, ends[0], &ops, &ceiling);
	if (raw)
		(void)util_write_all(ends[1], data, size);
	else if (size > 0)
		frames_stream(ends[1], data + 1, size - 1);
	while (loop_turn(loop, 0))
		;
	(void)close(ends[1]);
	while (loop_turn(loop, 0))
		;
	insist(is_closed, "it does not see that the stage is gone");
	talk_destroy(talk);
}

static void run_stage(const uint8_t *data, size_t size)
{
	hear_stage(data, size, false);
}

static void run_stage_raw(const uint8_t *data, size_t size)
{
	hear_stage(data, size, true);
}

static void run_warden(const uint8_t *data, size_t size)
{
	static const char settings[] = "permit = 10.0.0.0/8\n";
	static int fd = -1;
	struct labels labels;
	struct err e = {0};
	int ends[2];

	if (fd < 0) {
		fd = memfd_create("settings", MFD_CLOEXEC);
		if (fd < 0 || util_write_all(fd, settings, strlen(settings)) < 0)
			DIE("no settings: %s", strerror(errno));
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		DIE("no link: %s", strerror(errno));
	frames_labels(ends[1], data, size, fd, EGRESS_START);
	(void)close(ends[1]);
	if (labels_receive(&labels, ends[0], &e) < 0) {
		insist(e.code != ERR_NONE && e.msg[0], "labels are refused without a reason");
	} else {
		insist(labels.listen >= 0 && labels.stage >= 0 && labels.n_secrets <= LIMIT_SECRETS && labels.ceiling <= EGRESS_OPEN, "it starts without its parts");
		insist(memchr(labels.session, '\0', sizeof(labels.session)), "a session without an end");
		labels_finish(&labels);
	}
	(void)close(ends[0]);
}

static void run_front(const uint8_t *data, size_t size)
{
	static struct hook_event event;

	memcpy(&event, data, MIN(size, sizeof(event)));
	if (hook_check(&event, size))
		insist(size <= sizeof(event) && memchr(event.session, '\0', sizeof(event.session)) && memchr(event.id, '\0', sizeof(event.id)) &&
		               event.len <= sizeof(event.body) && event.kind < HOOK_N_EVENTS,
		       "an event that is none is taken");
}

static const struct {
	char name;
	void (*run)(const uint8_t *data, size_t size);
} links[] = {{'S', run_stage}, {'s', run_stage_raw}, {'W', run_warden}, {'F', run_front}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun) {
		(void)setenv("GLOVEBOX_LOG", "error", 1);
		log_init("fuzz", NULL);
		(void)signal(SIGPIPE, SIG_IGN);
		begun = true;
	}
	for (size_t i = 0; i < ARRAY_LEN(links) && size >= 1 && size <= MOST_BYTES; i++)
		if (links[i].name == (char)data[0])
			links[i].run(data + 1, size - 1);
	return 0;
}
