/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading what the kernel counts: a row per limit. */
#include "session/stage/meters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/stage/culprits.h"
#include "session/stage/stage.h"

#define MIB (1024 * 1024.0)
#define FILE_BYTES 1024          /* of what the kernel says in one of the files */
#define FULL_BYTES (64 * 1024)   /* a disk with less room is full */
#define EMPTIER 0.97             /* what is met is not met any more below this share of it */
#define X_FULL 0.95              /* a picture that does not fit is refused before all is used */
#define SLOW_LOOKS 5             /* throttled for so many looks, the processor is the limit */

#define ROW_OF(id, name, fix) [METER_##id] = {name, fix},
static const struct row {
	const char *name;
	const char *fix;
} rows[N_METERS] = {COUNTED_LIMITS(ROW_OF)};
#undef ROW_OF

/* The number behind a key, or the first one, in a file of the kernel's. */
static bool read_number(int fd, const char *key, uint64_t *out)
{
	char text[FILE_BYTES];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	const char *at = text;
	char *end;

	if (n <= 0)
		return false;
	text[n] = '\0';
	at = key ? strstr(text, key) : text;
	if (!at)
		return false;
	at += key ? strlen(key) : 0;
	*out = strtoull(at, &end, 10);
	return end > at;
}

static double tenths(double value)
{
	return (double)(int64_t)(value * 10 + 0.5) / 10;
}

static void use(struct meter_state *state, double used)
{
	state->known = true;
	state->used = used;
	state->peak = MAX(state->peak, used);
}

static bool has_peak(const struct meters *meters, enum meter which)
{
	return meters->of[which].known && (which != METER_CPU || meters->has_window);
}

/* When it was met: what the kernel killed is given back by the time that somebody looks. */
static double used_then(const struct stage *stage, enum meter which)
{
	const struct meter_state *state = &stage->meters.of[which];

	return tenths(which == METER_MEMORY ? MAX(state->used, MIN(state->peak, state->value)) : state->used);
}

/* `ended`: whose programs are, for it; or NULL. */
static void write_line(struct stage *stage, enum meter which, const char *ended, int64_t now_ms)
{
	struct meter_state *state = &stage->meters.of[which];
	struct err e;

	if (journal_add(stage->journal, "limit",
	                json_pack("{s:s,s:f,s:f,s:I,s:s*,s:s}", "limit", rows[which].name, "value", state->value, "used", used_then(stage, which), "hits",
	                          (json_int_t)(state->hits - state->told), "ended", ended, "fix", rows[which].fix), &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
	log_info("the limit %s of %.15g was met%s%s", rows[which].name, state->value, ended ? ", ended: " : "", ended ? ended : "");
	state->told = state->hits;
	state->told_ms = now_ms;
}

static void tell(struct stage *stage, enum meter which, int64_t now_ms)
{
	const struct meter_state *state = &stage->meters.of[which];

	if (state->hits != state->told && (!state->told_ms || now_ms - state->told_ms >= LIMIT_METER_TELL_MS))
		write_line(stage, which, NULL, now_ms);
}

static void hit(struct stage *stage, enum meter which, uint64_t times)
{
	struct meter_state *state = &stage->meters.of[which];

	if (times == 0)
		return;
	state->hits += times;
	(void)util_wall_time(state->hit_at, sizeof(state->hit_at));
	tell(stage, which, util_now_ms());
	watch_note(stage);
}

/* What the kernel counts upward. */
static void count(struct stage *stage, enum meter which, uint64_t counted)
{
	struct meter_state *state = &stage->meters.of[which];
	uint64_t more = counted - MIN(counted, state->counted);

	state->counted = counted;
	hit(stage, which, more);
}

/* What is met for a while counts once, when it begins. */
static void meet(struct stage *stage, enum meter which, bool is_met)
{
	struct meter_state *state = &stage->meters.of[which];
	bool begins = is_met && !state->is_met;

	if (is_met || state->used < state->value * EMPTIER)
		state->is_met = is_met;
	hit(stage, which, begins ? 1 : 0);
}

static void look_memory(struct stage *stage)
{
	struct meter_state *state = &stage->meters.of[METER_MEMORY];
	const int *fds = stage->ends.meter_fds;
	uint64_t n;

	if (read_number(fds[END_JAIL_MEMORY], NULL, &n))
		use(state, (double)n / MIB);
	if (read_number(fds[END_JAIL_MEMORY_PEAK], NULL, &n))
		state->peak = MAX(state->peak, (double)n / MIB);
	if (read_number(fds[END_JAIL_OOM], "oom_kill ", &n))
		count(stage, METER_MEMORY, n);
}

static void look_pids(struct stage *stage)
{
	const int *fds = stage->ends.meter_fds;
	uint64_t n;

	if (read_number(fds[END_JAIL_PIDS], NULL, &n))
		use(&stage->meters.of[METER_PIDS], (double)n);
	if (read_number(fds[END_JAIL_PIDS_REFUSED], "max ", &n))
		count(stage, METER_PIDS, n);
}

static void look_disk(struct stage *stage)
{
	struct statfs disk;

	if (stage->ends.meter_fds[END_JAIL_DISK] < 0 || fstatfs(stage->ends.meter_fds[END_JAIL_DISK], &disk) < 0)
		return;
	use(&stage->meters.of[METER_DISK], (double)(disk.f_blocks - disk.f_bfree) * (double)disk.f_bsize / MIB);
	use(&stage->meters.of[METER_INODES], (double)(disk.f_files - disk.f_ffree));
	meet(stage, METER_DISK, disk.f_bfree * (uint64_t)disk.f_bsize < FULL_BYTES);
	meet(stage, METER_INODES, disk.f_ffree == 0);
}

/* The average is over LIMIT_METER_CPU_MS, so that one short burst is no peak; before that there is none, which is not 0. */
static void use_cpu(struct meters *meters, uint64_t cpu_us, int64_t now_ms)
{
	struct meter_state *state = &meters->of[METER_CPU];
	int64_t past_ms = now_ms - meters->looked_ms, window_ms = now_ms - meters->window_ms;

	if (meters->looked_ms && past_ms > 0) {
		state->known = true;
		state->used = (double)(cpu_us - MIN(cpu_us, meters->cpu_us)) / 1000 / (double)past_ms;
	}
	if (!meters->window_ms || window_ms >= LIMIT_METER_CPU_MS) {
		if (meters->window_ms) {
			state->peak = MAX(state->peak, (double)(cpu_us - meters->window_cpu_us) / 1000 / (double)window_ms);
			meters->has_window = true;
		}
		meters->window_ms = now_ms;
		meters->window_cpu_us = cpu_us;
	}
	meters->cpu_us = cpu_us;
}

static void look_cpu(struct stage *stage, int64_t now_ms)
{
	struct meters *meters = &stage->meters;
	const int *fds = stage->ends.meter_fds;
	uint64_t cpu, periods, throttled;

	if (read_number(fds[END_DESK_CPU_US], "usage_usec ", &cpu))
		use_cpu(meters, cpu, now_ms);
	else if (read_number(fds[END_DESK_CPU_NS], NULL, &cpu))
		use_cpu(meters, cpu / 1000, now_ms);
	if (!read_number(fds[END_DESK_THROTTLED], "nr_periods ", &periods) || !read_number(fds[END_DESK_THROTTLED], "nr_throttled ", &throttled))
		return;
	if (periods > meters->periods)
		meters->slow_looks = (throttled - meters->throttled) * 2 > periods - meters->periods ? meters->slow_looks + 1 : 0;
	meters->periods = periods;
	meters->throttled = throttled;
	meet(stage, METER_CPU, meters->slow_looks >= SLOW_LOOKS);
}

static void look_x(struct stage *stage)
{
	struct meter_state *state = &stage->meters.of[METER_X];
	uint64_t pages, killed;

	if (xvfb_look(&stage->meters.xvfb, &pages)) {
		use(state, (double)pages * (double)sysconf(_SC_PAGESIZE) / MIB);
		meet(stage, METER_X, state->used > state->value * X_FULL);
	}
	if (read_number(stage->ends.meter_fds[END_DISPLAY_OOM], "oom_kill ", &killed))
		count(stage, METER_X, killed);
}

/* The most so far, and what was met. */
static void write_usage(struct stage *stage, int64_t now_ms)
{
	struct meters *meters = &stage->meters;
	json_t *peaks = json_object();
	struct err e;

	for (enum meter which = 0; which < N_METERS; which++)
		if (has_peak(meters, which))
			json_object_set_new(peaks, rows[which].name, json_real(tenths(meters->of[which].peak)));
	meters->usage_ms = now_ms;
	if (journal_add(stage->journal, "usage", json_pack("{s:I,s:I,s:o,s:o}", "elapsed_ms", (json_int_t)(now_ms - meters->begun_ms), "cpu_ms",
	                                                   (json_int_t)(meters->cpu_us / 1000), "peaks", peaks, "hits", meters_hits(stage)), &e) < 0)
		log_err(LOG_ERROR, &e, "journal");
}

void meters_look(struct stage *stage)
{
	struct meters *meters = &stage->meters;
	int64_t now_ms = util_now_ms();

	if (!meters->begun_ms)
		return;
	look_memory(stage);
	look_pids(stage);
	look_disk(stage);
	look_cpu(stage, now_ms);
	look_x(stage);
	meters->looked_ms = now_ms;
	for (enum meter which = 0; which < N_METERS; which++)
		tell(stage, which, now_ms);
}

/* A fork bomb: the agent's programs are ended, and if it was none of them, the apps. */
static void end_flood(struct stage *stage, int64_t now_ms)
{
	struct meters *meters = &stage->meters;
	uint64_t refused = meters->of[METER_PIDS].counted - meters->refused;
	enum culprits whose;

	meters->refused += refused;
	meters->flood_looks = refused >= LIMIT_METER_FLOOD ? meters->flood_looks + 1 : 0;
	if (meters->flood_looks == 0 || meters->flood_looks % LIMIT_METER_FLOOD_LOOKS != 0)
		return;
	whose = meters->flood_looks == LIMIT_METER_FLOOD_LOOKS ? CULPRITS_AGENT : CULPRITS_APPS;
	meters->ended = culprits_name(whose);
	meters->n_ended++;
	write_line(stage, METER_PIDS, meters->ended, now_ms);
	culprits_end(stage, whose);
}

static void on_time(void *arg)
{
	struct stage *stage = arg;
	int64_t now_ms = util_now_ms();

	meters_look(stage);
	end_flood(stage, now_ms);
	if (now_ms - stage->meters.usage_ms >= LIMIT_METER_USAGE_MS && !journal_is_full(stage->journal))
		write_usage(stage, now_ms);
	stage->meters.timer = loop_at(stage->loop, now_ms + LIMIT_METER_MS, on_time, stage);
}

void meters_begin(struct stage *stage, int proc_fd)
{
	const json_t *limits = json_object_get(stage->spec, "limits");
	struct meters *meters = &stage->meters;
	int64_t now_ms = util_now_ms();

	for (enum meter which = 0; which < N_METERS; which++)
		meters->of[which].value = json_number_value(json_object_get(limits, rows[which].name));
	meters->begun_ms = meters->usage_ms = now_ms;
	xvfb_begin(&meters->xvfb, proc_fd);
	meters->timer = loop_at(stage->loop, now_ms + LIMIT_METER_MS, on_time, stage);
}

void meters_end(struct stage *stage)
{
	struct meters *meters = &stage->meters;

	if (!meters->begun_ms)
		return;
	meters_look(stage);
	write_usage(stage, util_now_ms());
	loop_cancel(meters->timer);
	xvfb_end(&meters->xvfb);
	meters->timer = NULL;
	meters->begun_ms = 0;
}

void meters_hit(struct stage *stage, enum meter which, double value, double used)
{
	struct meter_state *state = &stage->meters.of[which];

	state->value = value;
	use(state, used);
	hit(stage, which, 1);
}

void meters_use(struct stage *stage, enum meter which, double value, double used, bool is_met)
{
	stage->meters.of[which].value = value;
	use(&stage->meters.of[which], used);
	meet(stage, which, is_met);
}

json_t *meters_json(struct stage *stage)
{
	json_t *out = json_object();

	if (util_now_ms() - stage->meters.looked_ms >= LIMIT_METER_LEAST_MS)
		meters_look(stage);
	for (enum meter which = 0; which < N_METERS; which++) {
		const struct meter_state *state = &stage->meters.of[which];
		json_t *row;

		if (state->value <= 0)
			continue;
		row = json_pack("{s:f,s:I,s:s?}", "value", state->value, "hits", (json_int_t)state->hits, "hit_at", state->hits ? state->hit_at : NULL);
		if (state->known)
			json_object_set_new(row, "used", json_real(tenths(state->used)));
		if (has_peak(&stage->meters, which))
			json_object_set_new(row, "peak", json_real(tenths(state->peak)));
		json_object_set_new(out, rows[which].name, row);
	}
	return out;
}

json_t *meters_hits(const struct stage *stage)
{
	json_t *out = json_object();

	for (enum meter which = 0; which < N_METERS; which++)
		if (stage->meters.of[which].hits > 0)
			json_object_set_new(out, rows[which].name, json_integer((json_int_t)stage->meters.of[which].hits));
	return out;
}

struct meters_mark meters_mark(const struct stage *stage)
{
	struct meters_mark mark = {.n_ended = stage->meters.n_ended};

	for (enum meter which = 0; which < N_METERS; which++)
		mark.hits[which] = stage->meters.of[which].hits;
	return mark;
}

json_t *meters_since(struct stage *stage, const struct meters_mark *mark)
{
	const char *ended = stage->meters.n_ended != mark->n_ended ? stage->meters.ended : NULL;
	json_t *out = NULL;

	meters_look(stage);
	for (enum meter which = 0; which < N_METERS; which++) {
		const struct meter_state *state = &stage->meters.of[which];

		if (state->hits == mark->hits[which] && !state->is_met)
			continue;
		if (!out)
			out = json_array();
		json_array_append_new(out, json_pack("{s:s,s:f,s:f,s:s*,s:s}", "limit", rows[which].name, "value", state->value, "used", used_then(stage, which),
		                                     "ended", which == METER_PIDS ? ended : NULL, "fix", rows[which].fix));
	}
	return out;
}
