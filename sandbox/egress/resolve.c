/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A channel of c-ares for each search: it reads the host's files anew. */
#include "sandbox/egress/resolve.h"

#include <ares.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include "session/base/co.h"
#include "session/base/util.h"

#define ASK_MS 2500 /* one server, at first */
#define ASK_TRIES 3
#define SOCKETS 32
#define SECOND_FAMILY_MS 500

struct search {
	struct loop *loop;
	ares_channel channel;
	struct watched {
		struct search *search;
		int fd;
		struct loop_source *source; /* NULL: the place is free */
	} sockets[SOCKETS];
	struct loop_timer *timer;
	unsigned n_asked;      /* questions without an answer: one for each family */
	int status;            /* of what was asked: success once any had it */
	struct resolved found;
	struct co_event changed;
};

static void go_on(struct search *search);

static void on_socket(void *arg, uint32_t events)
{
	struct watched *watched = arg;
	struct search *search = watched->search;
	bool reads = events & (EPOLLIN | EPOLLERR | EPOLLHUP), writes = events & (EPOLLOUT | EPOLLERR | EPOLLHUP);

	ares_process_fd(search->channel, reads ? watched->fd : ARES_SOCKET_BAD, writes ? watched->fd : ARES_SOCKET_BAD);
	go_on(search);
}

static void on_time(void *arg)
{
	struct search *search = arg;

	search->timer = NULL;
	ares_process_fd(search->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	go_on(search);
}

/* It wants to be called again in a while, or is done. */
static void go_on(struct search *search)
{
	struct timeval wait, *set;

	loop_cancel(search->timer);
	search->timer = NULL;
	if (search->n_asked == 0)
		return;
	set = ares_timeout(search->channel, NULL, &wait);
	if (set)
		search->timer = loop_at(search->loop, util_now_ms() + set->tv_sec * 1000 + set->tv_usec / 1000 + 1, on_time, search);
}

static struct watched *find_place(struct search *search, int fd)
{
	struct watched *unused = NULL;

	for (size_t i = 0; i < SOCKETS; i++) {
		if (search->sockets[i].source && search->sockets[i].fd == fd)
			return &search->sockets[i];
		if (!search->sockets[i].source)
			unused = &search->sockets[i];
	}
	return unused;
}

static void on_interest(void *arg, ares_socket_t fd, int reads, int writes)
{
	struct search *search = arg;
	struct watched *place = find_place(search, fd);
	uint32_t events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);

	if (!place)
		return; /* its answer will not be heard: the time ends it */
	if (!events) {
		loop_remove(place->source);
		place->source = NULL;
	} else if (place->source) {
		loop_modify(place->source, events);
	} else {
		*place = (struct watched){.search = search, .fd = fd};
		place->source = loop_add(search->loop, fd, events, on_socket, place);
	}
}

static void add_address(struct search *search, const struct ares_addrinfo_node *node)
{
	struct resolved_address *address = &search->found.list[search->found.n];

	if ((node->ai_family != AF_INET && node->ai_family != AF_INET6) || search->found.n == LIMIT_EGRESS_ADDRESSES ||
	    node->ai_addrlen > sizeof(address->at))
		return;
	memcpy(&address->at, node->ai_addr, node->ai_addrlen);
	address->len = node->ai_addrlen;
	search->found.n++;
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *answer)
{
	struct search *search = arg;

	(void)timeouts;
	for (const struct ares_addrinfo_node *node = answer ? answer->nodes : NULL; node; node = node->ai_next)
		add_address(search, node);
	if (answer)
		ares_freeaddrinfo(answer);
	if (search->status != ARES_SUCCESS)
		search->status = status;
	search->n_asked--;
	co_signal(&search->changed);
}

static int say_what_came(const struct search *search, const char *host, struct err *e)
{
	if (search->found.n > 0)
		return 0;
	switch (search->status) {
	case ARES_SUCCESS:
		return err_set(e, ERR_NOT_FOUND, NULL, "%s has no address", host);
	case ARES_ENOTFOUND:
	case ARES_ENODATA:
		return err_set(e, ERR_NOT_FOUND, NULL, "%s has no address", host);
	case ARES_ETIMEOUT:
		return err_set(e, ERR_TIMEOUT, NULL, "no name server answers");
	default:
		return err_set(e, ERR_INTERNAL, NULL, "looking up %s: %s", host, ares_strerror(search->status));
	}
}

static void ask(struct search *search, const char *name)
{
	static const int families[] = {AF_INET6, AF_INET};

	/* An answer may come at once. */
	search->status = ARES_ENODATA;
	search->n_asked = ARRAY_LEN(families);
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		const struct ares_addrinfo_hints hints = {.ai_family = families[i], .ai_flags = ARES_AI_NOSORT};

		ares_getaddrinfo(search->channel, name, NULL, &hints, on_answer, search);
	}
	go_on(search);
}

/* Servers that do not answer for a family keep nobody from the addresses of the other one for long. */
static int wait_for_answers(struct search *search, int64_t deadline_ms, struct err *e)
{
	int64_t enough_ms = deadline_ms;

	while (search->n_asked > 0) {
		if (search->found.n > 0 && enough_ms == deadline_ms && util_now_ms() + SECOND_FAMILY_MS < deadline_ms)
			enough_ms = util_now_ms() + SECOND_FAMILY_MS;
		if (co_wait_event(&search->changed, enough_ms, e) < 0)
			return e->code == ERR_TIMEOUT && search->found.n > 0 ? 0 : -1;
	}
	return 0;
}

/* `domains` is ARES_OPT_DOMAINS for none, or 0 for those of the host. */
static int search_name(struct loop *loop, const char *name, int domains, int64_t deadline_ms, struct resolved *out, struct err *e)
{
	struct search search = {.loop = loop};
	char lookups[] = "fb"; /* the file, then the servers */
	struct ares_options options = {.timeout = ASK_MS, .tries = ASK_TRIES, .lookups = lookups, .sock_state_cb = on_interest,
	                               .sock_state_cb_data = &search};
	int status, rc;

	status = ares_init_options(&search.channel, &options,
	                           domains | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
	if (status != ARES_SUCCESS)
		return err_set(e, ERR_INTERNAL, NULL, "looking up names: %s", ares_strerror(status));
	ask(&search, name);
	rc = wait_for_answers(&search, deadline_ms, e);
	loop_cancel(search.timer);
	search.timer = NULL;
	/* Calls on_answer, if it was not called, and gives up all sockets. */
	ares_destroy(search.channel);
	if (rc == 0)
		rc = say_what_came(&search, name, e);
	if (rc == 0)
		*out = search.found;
	return rc;
}

int resolve_name(struct loop *loop, const char *name, int64_t deadline_ms, struct resolved *out, struct err *e)
{
	return search_name(loop, name, ARES_OPT_DOMAINS, deadline_ms, out, e);
}

static char *text_of(const struct sockaddr_storage *address, const char *before)
{
	bool is_v4 = address->ss_family == AF_INET;
	const void *bytes = is_v4 ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
	                          : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(address->ss_family, bytes, text, sizeof(text)))
		DIE("an address of family %d", address->ss_family);
	return util_printf("%s%s%s%s%s", before ? before : "", before ? "," : "", is_v4 ? "" : "[", text, is_v4 ? "" : "]");
}

int resolve_host(struct loop *loop, const char *host, int64_t deadline_ms, char **addresses, struct err *e)
{
	struct resolved found;
	char *text = NULL;

	if (search_name(loop, host, 0, deadline_ms, &found, e) < 0)
		return -1;
	for (size_t i = 0; i < found.n; i++) {
		auto_free char *before = text;

		text = text_of(&found.list[i].at, before);
	}
	*addresses = text;
	return 0;
}
