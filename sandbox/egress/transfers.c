/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The multi interface of libcurl: its sockets and its timer on the loop. */
#include "sandbox/egress/transfers.h"

#include <sys/epoll.h>

#include "session/base/co.h"
#include "session/base/util.h"

struct transfers {
	struct loop *loop;
	CURLM *multi;
	struct loop_timer *timer;
};

/* A socket of libcurl's, while it is watched. */
struct watched {
	struct transfers *transfers;
	curl_socket_t fd;
	struct loop_source *source;
};

/* One that runs; on its coroutine's stack. */
struct running {
	bool done;
	CURLcode result;
	struct co_event changed;
};

static void take_results(struct transfers *transfers)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(transfers->multi, &left))) {
		struct running *running = NULL;

		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&running);
		running->result = message->data.result;
		running->done = true;
		co_signal(&running->changed);
	}
}

static void act(struct transfers *transfers, curl_socket_t fd, int what)
{
	int n;

	(void)curl_multi_socket_action(transfers->multi, fd, what, &n);
	take_results(transfers);
}

static void on_ready(void *arg, uint32_t events)
{
	struct watched *watched = arg;
	int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
	           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

	act(watched->transfers, watched->fd, what);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct transfers *transfers = arg;
	struct watched *watched = known;
	uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watched)
			loop_remove(watched->source);
		free(watched);
		(void)curl_multi_assign(transfers->multi, fd, NULL);
	} else if (watched) {
		loop_modify(watched->source, events);
	} else {
		watched = util_zalloc(sizeof(*watched));
		*watched = (struct watched){.transfers = transfers, .fd = fd};
		watched->source = loop_add(transfers->loop, fd, events, on_ready, watched);
		(void)curl_multi_assign(transfers->multi, fd, watched);
	}
	return 0;
}

static void on_time(void *arg)
{
	struct transfers *transfers = arg;

	transfers->timer = NULL;
	act(transfers, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
	struct transfers *transfers = arg;

	(void)multi;
	loop_cancel(transfers->timer);
	transfers->timer = ms < 0 ? NULL : loop_at(transfers->loop, util_now_ms() + ms, on_time, transfers);
	return 0;
}

struct transfers *transfers_create(struct loop *loop)
{
	struct transfers *transfers = util_zalloc(sizeof(*transfers));

	transfers->loop = loop;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(transfers->multi = curl_multi_init()))
		DIE("libcurl does not start");
	(void)curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers);
	(void)curl_multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	(void)curl_multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers);
	return transfers;
}

void transfers_destroy(struct transfers *transfers)
{
	if (!transfers)
		return;
	(void)curl_multi_cleanup(transfers->multi);
	loop_cancel(transfers->timer);
	free(transfers);
}

CURLcode transfers_run(struct transfers *transfers, CURL *easy)
{
	struct running running = {.result = CURLE_ABORTED_BY_CALLBACK};
	struct err e;

	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, &running);
	if (curl_multi_add_handle(transfers->multi, easy) != CURLM_OK)
		return CURLE_FAILED_INIT;
	while (!running.done && co_wait_event(&running.changed, CO_FOREVER, &e) == 0)
		;
	(void)curl_multi_remove_handle(transfers->multi, easy);
	return running.result;
}
