/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the text, and what writes each kind of them. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "session/base/util.h"
#include "session/front/conn.h"
#include "session/front/front.h"
#include "session/front/metrics.h"
#include "session/front/routes.h"

#define LABELS_MAX 256
#define FDS_MAX 65536

struct row {
	const char *name, *type, *help;
	void (*write)(FILE *out, const struct front *front, const struct row *row);
	enum tally tally;     /* for write_tally */
	uint32_t known;       /* for write_usage: the bit of a number that the host must be able to tell */
	double unit;          /* what one of it is in the row's unit */
	size_t offset;        /* for write_usage and write_conns: where the number is */
};

static void write_name(FILE *out, const char *name, const char *suffix, const char *labels)
{
	fprintf(out, "%s%s%s%s%s ", name, suffix, *labels ? "{" : "", labels, *labels ? "}" : "");
}

static void write_number(FILE *out, const char *name, const char *labels, double value)
{
	write_name(out, name, "", labels);
	fprintf(out, "%.15g\n", value);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_tally(FILE *out, const struct front *front, const struct row *row)
{
	json_t *tally = front->metrics->tallies[row->tally], *value;
	auto_free const char **names = util_zalloc((json_object_size(tally) + 1) * sizeof(*names));
	const char *name;
	size_t n = 0;

	json_object_foreach(tally, name, value)
		names[n++] = name;
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++) {
		write_name(out, row->name, "", names[i]);
		fprintf(out, "%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(tally, names[i])));
	}
}

static void write_histogram(FILE *out, const char *name, const char *labels, const struct histogram *histogram)
{
	const char *comma = *labels ? "," : "";
	uint64_t n = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		n += histogram->in[i];
		fprintf(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, labels, comma, metrics_bounds[i].text, (unsigned long long)n);
	}
	fprintf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, (unsigned long long)histogram->n);
	write_name(out, name, "_sum", labels);
	fprintf(out, "%.6f\n", (double)histogram->sum_us / 1e6);
	write_name(out, name, "_count", labels);
	fprintf(out, "%llu\n", (unsigned long long)histogram->n);
}

static void write_durations(FILE *out, const struct front *front, const struct row *row)
{
	for (size_t i = 0; i <= routes_n; i++) {
		const struct route *route = i < routes_n ? &routes[i] : NULL;
		char labels[LABELS_MAX];

		(void)snprintf(labels, sizeof(labels), "method=\"%s\",route=\"%s\"", route ? route->method : "", route ? route->path : "");
		if (front->metrics->by_route[i].n > 0)
			write_histogram(out, row->name, labels, &front->metrics->by_route[i]);
	}
}

static void write_create_durations(FILE *out, const struct front *front, const struct row *row)
{
	write_histogram(out, row->name, "", &front->metrics->created);
}

static void write_sessions(FILE *out, const struct front *front, const struct row *row)
{
	for (int state = 0; state < N_SESSION_STATES; state++) {
		char labels[LABELS_MAX];
		size_t n = 0;

		for (const struct session *session = front->sessions.first; session; session = session->next)
			n += session->state == (enum session_state)state;
		(void)snprintf(labels, sizeof(labels), "state=\"%s\"", session_state_name((enum session_state)state));
		write_number(out, row->name, labels, (double)n);
	}
}

static void write_max_sessions(FILE *out, const struct front *front, const struct row *row)
{
	write_number(out, row->name, "", (double)front->sessions.max_live);
}

static uint64_t number_at(const void *base, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static void write_usage(FILE *out, const struct front *front, const struct row *row)
{
	for (const struct session *session = front->sessions.first; session; session = session->next) {
		char labels[LABELS_MAX];

		if (!session->stage || !(session->usage.known & row->known))
			continue;
		(void)snprintf(labels, sizeof(labels), "session=\"%s\"", session->id);
		write_number(out, row->name, labels, (double)number_at(&session->usage, row->offset) * row->unit);
	}
}

static void write_own_usage(FILE *out, const struct front *front, const struct row *row)
{
	if (front->usage.front.known & row->known)
		write_number(out, row->name, "", (double)number_at(&front->usage.front, row->offset) * row->unit);
}

static void write_conns(FILE *out, const struct front *front, const struct row *row)
{
	write_number(out, row->name, "", (double)number_at(conns_counts(front->conns), row->offset));
}

static void write_restarts(FILE *out, const struct front *front, const struct row *row)
{
	write_number(out, row->name, "", front->restarts);
}

static void write_version(FILE *out, const struct front *front, const struct row *row)
{
	(void)front;
	write_number(out, row->name, "version=\"" GLOVEBOX_VERSION "\"", 1);
}

static void write_cpu(FILE *out, const struct front *front, const struct row *row)
{
	struct rusage used;

	(void)front;
	if (getrusage(RUSAGE_SELF, &used) == 0)
		write_number(out, row->name, "", (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
}

static nfds_t max_fds(void)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur > FDS_MAX ? FDS_MAX : (nfds_t)files.rlim_cur;
}

static void write_max_fds(FILE *out, const struct front *front, const struct row *row)
{
	(void)front;
	write_number(out, row->name, "", (double)max_fds());
}

/* There is no /proc here: poll says which numbers are no descriptors. */
static void write_fds(FILE *out, const struct front *front, const struct row *row)
{
	nfds_t n = max_fds(), n_open = 0;
	auto_free struct pollfd *fds = util_zalloc(n * sizeof(*fds));

	(void)front;
	for (nfds_t i = 0; i < n; i++)
		fds[i].fd = (int)i;
	if (poll(fds, n, 0) < 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		n_open += !(fds[i].revents & POLLNVAL);
	write_number(out, row->name, "", (double)n_open);
}

static void write_start(FILE *out, const struct front *front, const struct row *row)
{
	write_number(out, row->name, "", (double)front->started_ms / 1000);
}

static void write_viewers(FILE *out, const struct front *front, const struct row *row)
{
	write_number(out, row->name, "", (double)number_at(&front->viewers, row->offset));
}

static void write_viewer_bytes(FILE *out, const struct front *front, const struct row *row)
{
	uint64_t in, sent;

	viewers_count_bytes(&front->viewers, &in, &sent);
	write_number(out, row->name, "direction=\"in\"", (double)in);
	write_number(out, row->name, "direction=\"out\"", (double)sent);
}

#define TALLY(name, which, help) {name, "counter", help, write_tally, which, 0, 0, 0}
#define SIMPLE(name, type, write, help) {name, type, help, write, N_TALLIES, 0, 0, 0}
#define CONNS(name, type, member, help) {name, type, help, write_conns, N_TALLIES, 0, 0, offsetof(struct conns_counts, member)}
#define VIEWERS(name, type, member, help) {name, type, help, write_viewers, N_TALLIES, 0, 0, offsetof(struct viewers, member)}
#define USAGE(name, type, write, bit, unit, member, help) \
	{name, type, help, write, N_TALLIES, bit, unit, offsetof(struct warden_usage, member)}

/* Sorted by name. */
static const struct row rows[] = {
	TALLY("glovebox_actions_total", ACTIONS, "Actions that were run, by name and outcome."),
	TALLY("glovebox_acts_total", ACTS, "Lists of actions that were begun, by outcome."),
	TALLY("glovebox_approvals_total", APPROVALS, "Questions to people: asked, answered with yes (once, session) or no (denied), expired, withdrawn."),
	SIMPLE("glovebox_build_info", "gauge", write_version, "Always 1; the version is a label."),
	CONNS("glovebox_connections_accepted_total", "counter", accepted, "Connections that were accepted."),
	CONNS("glovebox_connections_open", "gauge", open, "Connections that are open."),
	CONNS("glovebox_connections_refused_total", "counter", refused, "Connections that were refused: too many, in all or from one address."),
	CONNS("glovebox_connections_shed_total", "counter", shed, "Idle connections that were closed to make room for others."),
	CONNS("glovebox_connections_timed_out_total", "counter", timed_out, "Connections that were closed for being too slow or idle."),
	TALLY("glovebox_egress_bytes_total", EGRESS_BYTES, "Bytes that went out of sessions and came in, through their egress."),
	TALLY("glovebox_egress_decisions_total", EGRESS, "Connections and requests of sessions to hosts outside, by verdict."),
	TALLY("glovebox_file_bytes_total", FILE_BYTES, "Bytes of files that went in (file_put) and out (file_get) over the API."),
	TALLY("glovebox_files_total", FILES, "Files and folders that were read, written and deleted over the API."),
	SIMPLE("glovebox_front_restarts_total", "counter", write_restarts, "How often the front was started again since the server started."),
	TALLY("glovebox_limits_hit_total", LIMITS_HIT, "How often sessions met their limits, by the limit's name in the spec."),
	TALLY("glovebox_refusals_total", REFUSED, "Refused requests and calls, by code: unauthorized counts bad tokens, busy full queues."),
	TALLY("glovebox_reply_body_bytes_total", REPLY_BYTES, "Bytes of bodies of replies."),
	TALLY("glovebox_request_body_bytes_total", BODY_BYTES, "Bytes of bodies of requests."),
	SIMPLE("glovebox_request_duration_seconds", "histogram", write_durations, "From the request line to the start of the reply, by route."),
	TALLY("glovebox_requests_abandoned_total", ABANDONED, "Requests whose caller left before the reply, which cancels their call."),
	TALLY("glovebox_requests_total", REQUESTS, "Requests that were answered, by route and status."),
	TALLY("glovebox_security_events_total", SECURITY,
	      "What guards refused, stopped or noted: bad tokens, codes, hosts and origins, roles, leases, secrets, keys in what sessions say, killed commands."),
	USAGE("glovebox_session_cpu_seconds_total", "counter", write_usage, ISOLATION_CPU, 1e-6, cpu_usec,
	      "Processor time of a session, display and stage included."),
	SIMPLE("glovebox_session_create_duration_seconds", "histogram", write_create_durations, "From a good spec to a session that is ready."),
	USAGE("glovebox_session_memory_bytes", "gauge", write_usage, ISOLATION_MEMORY, 1, memory_bytes,
	      "Memory of a session, display, stage and files included."),
	USAGE("glovebox_session_pids", "gauge", write_usage, ISOLATION_PIDS, 1, pids, "Processes and threads of a session, display and stage included."),
	SIMPLE("glovebox_sessions", "gauge", write_sessions, "Sessions by state; those that have ended are kept for a while."),
	TALLY("glovebox_sessions_created_total", CREATED, "Sessions that became ready."),
	TALLY("glovebox_sessions_ended_total", ENDED, "Ends of sessions, by reason."),
	SIMPLE("glovebox_sessions_max", "gauge", write_max_sessions, "Sessions that there may be at once."),
	TALLY("glovebox_sessions_not_created_total", NOT_CREATED, "Good specs of which no session came, by code."),
	SIMPLE("glovebox_view_bytes_total", "counter", write_viewer_bytes, "Bytes of RFB that viewers have sent (in) and been sent (out)."),
	VIEWERS("glovebox_views_lost_total", "counter", n_lost, "Views whose viewer vanished without a word."),
	VIEWERS("glovebox_views_open", "gauge", n, "Views that are open."),
	VIEWERS("glovebox_views_opened_total", "counter", n_opened, "Views that were opened."),
	VIEWERS("glovebox_views_silent_total", "counter", n_silent,
	        "How often a viewer with controls gave no sign of life, so that what it held down was let go of."),
	TALLY("glovebox_webhooks_total", WEBHOOKS, "Events for webhooks: delivered, failed (given up), dropped (no room)."),
	SIMPLE("process_cpu_seconds_total", "counter", write_cpu, "Processor time of the front."),
	SIMPLE("process_max_fds", "gauge", write_max_fds, "Descriptors that the front may have open."),
	SIMPLE("process_open_fds", "gauge", write_fds, "Descriptors that the front has open."),
	USAGE("process_resident_memory_bytes", "gauge", write_own_usage, ISOLATION_MEMORY, 1, memory_bytes,
	      "Memory of the front, as its control group counts it."),
	SIMPLE("process_start_time_seconds", "gauge", write_start, "When the front was started, in seconds since 1970."),
};

int metrics_check(struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!*rows[i].help || (i > 0 && strcmp(rows[i - 1].name, rows[i].name) >= 0))
			return err_set(e, ERR_INTERNAL, NULL, "the metric %s has no help, or is not in its place", rows[i].name);
	return 0;
}

char *metrics_text(const struct front *front, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		DIE("no memory for the metrics");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help, rows[i].name, rows[i].type);
		rows[i].write(out, front, &rows[i]);
	}
	if (fclose(out) != 0)
		DIE("no memory for the metrics");
	return text;
}
