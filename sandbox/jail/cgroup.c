/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups and limits of sessions: which groups there are and which file says which limit are tables. */
#include "sandbox/jail/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/jail/hierarchy.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define MIB (1024 * 1024ULL)
#define STAGE_MEMORY (1536 * MIB) /* a WebP of 4096x4096 pixels without loss takes 800 of it, beside frames that are sent */
#define FRONT_MEMORY (768 * MIB)
#define EGRESS_MEMORY (256 * MIB)
#define VIEWS_MEMORY (1024 * MIB)
#define STAGE_PIDS 32
#define VIEWS_PIDS 64
#define EGRESS_PIDS 8
#define EGRESS_CPUS 1
#define VIEWS_CPUS 2 /* for all who watch a session: what one asks for again and again is encoded again */
#define DISPLAY_PIDS 64
#define CPU_PERIOD_US 100000ULL
/* When the processor is short, four times what its neighbours in the tree get: what answers callers before what sessions run. v1 and v2 count differently. */
#define MORE_SHARES (4 * 1024)
#define MORE_WEIGHT (4 * 100)

struct cgroups {
	struct hierarchy all[CGROUP_MAX_HIERARCHIES];
	int n;
	char *record;
};

/* The groups of a session, parents first. In a v2 with controllers the marked ones hand them down. */
static const struct group {
	const char *path;
	bool v2_only, hands_down;
} GROUPS[] = {
	{"", false, true},
	{"/stage", false, false},
	{"/views", false, false},
	{"/egress", false, false},
	{"/desk", false, true},
	{"/desk/display", false, false},
	{"/desk/jail", false, false},
	{"/desk/jail/base", true, false},
	{"/desk/jail/apps", true, false},
	{"/desk/jail/agent", true, false},
};

enum amount {
	JAIL_MEMORY,
	DISPLAY_MEMORY,
	STAGE_MEMORY_BYTES,
	VIEWS_MEMORY_BYTES,
	FRONT_MEMORY_BYTES,
	EGRESS_MEMORY_BYTES,
	JAIL_PIDS,
	DISPLAY_PIDS_MAX,
	STAGE_PIDS_MAX,
	VIEWS_PIDS_MAX,
	EGRESS_PIDS_MAX,
	CPU_PERIOD,
	CPU_QUOTA,
	VIEWS_CPU_QUOTA,
	EGRESS_CPU_QUOTA,
	CPU_SHARES,
	CPU_WEIGHT,
	NOTHING
};

/* One file of one group. In v1 memory comes before memory and swap, which must never be the smaller one. */
static const struct limit {
	int version;
	enum controller controller;
	const char *group, *file;
	enum amount amount;
	uint32_t bit;
} LIMITS[] = {
	{1, CONTROLLER_MEMORY, "/desk/jail", "memory.limit_in_bytes", JAIL_MEMORY, CGROUP_MEMORY},
	{1, CONTROLLER_MEMORY, "/desk/jail", "memory.memsw.limit_in_bytes", JAIL_MEMORY, CGROUP_SWAP_OFF},
	{1, CONTROLLER_MEMORY, "/desk/display", "memory.limit_in_bytes", DISPLAY_MEMORY, CGROUP_MEMORY},
	{1, CONTROLLER_MEMORY, "/desk/display", "memory.memsw.limit_in_bytes", DISPLAY_MEMORY, CGROUP_SWAP_OFF},
	{1, CONTROLLER_MEMORY, "/stage", "memory.limit_in_bytes", STAGE_MEMORY_BYTES, CGROUP_MEMORY},
	{1, CONTROLLER_MEMORY, "/stage", "memory.memsw.limit_in_bytes", STAGE_MEMORY_BYTES, CGROUP_SWAP_OFF},
	{1, CONTROLLER_MEMORY, "/views", "memory.limit_in_bytes", VIEWS_MEMORY_BYTES, CGROUP_MEMORY},
	{1, CONTROLLER_MEMORY, "/views", "memory.memsw.limit_in_bytes", VIEWS_MEMORY_BYTES, CGROUP_SWAP_OFF},
	{1, CONTROLLER_MEMORY, "/egress", "memory.limit_in_bytes", EGRESS_MEMORY_BYTES, CGROUP_MEMORY},
	{1, CONTROLLER_MEMORY, "/egress", "memory.memsw.limit_in_bytes", EGRESS_MEMORY_BYTES, CGROUP_SWAP_OFF},
	{1, CONTROLLER_PIDS, "/desk/jail", "pids.max", JAIL_PIDS, CGROUP_PIDS},
	{1, CONTROLLER_PIDS, "/desk/display", "pids.max", DISPLAY_PIDS_MAX, CGROUP_PIDS},
	{1, CONTROLLER_PIDS, "/stage", "pids.max", STAGE_PIDS_MAX, CGROUP_PIDS},
	{1, CONTROLLER_PIDS, "/views", "pids.max", VIEWS_PIDS_MAX, CGROUP_PIDS},
	{1, CONTROLLER_PIDS, "/egress", "pids.max", EGRESS_PIDS_MAX, CGROUP_PIDS},
	{1, CONTROLLER_CPU, "/views", "cpu.cfs_period_us", CPU_PERIOD, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/views", "cpu.cfs_quota_us", VIEWS_CPU_QUOTA, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/egress", "cpu.cfs_period_us", CPU_PERIOD, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/egress", "cpu.cfs_quota_us", EGRESS_CPU_QUOTA, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/desk", "cpu.cfs_period_us", CPU_PERIOD, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/desk", "cpu.cfs_quota_us", CPU_QUOTA, CGROUP_CPU},
	{1, CONTROLLER_CPU, "/stage", "cpu.shares", CPU_SHARES, 0},
	{1, CONTROLLER_CPU, "/desk/display", "cpu.shares", CPU_SHARES, 0},
	{2, CONTROLLER_MEMORY, "/desk/jail", "memory.max", JAIL_MEMORY, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "/desk/jail", "memory.swap.max", NOTHING, CGROUP_SWAP_OFF},
	{2, CONTROLLER_MEMORY, "/desk/display", "memory.max", DISPLAY_MEMORY, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "/desk/display", "memory.swap.max", NOTHING, CGROUP_SWAP_OFF},
	{2, CONTROLLER_MEMORY, "/stage", "memory.max", STAGE_MEMORY_BYTES, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "/stage", "memory.swap.max", NOTHING, CGROUP_SWAP_OFF},
	{2, CONTROLLER_MEMORY, "/views", "memory.max", VIEWS_MEMORY_BYTES, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "/views", "memory.swap.max", NOTHING, CGROUP_SWAP_OFF},
	{2, CONTROLLER_MEMORY, "/egress", "memory.max", EGRESS_MEMORY_BYTES, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "/egress", "memory.swap.max", NOTHING, CGROUP_SWAP_OFF},
	{2, CONTROLLER_PIDS, "/desk/jail", "pids.max", JAIL_PIDS, CGROUP_PIDS},
	{2, CONTROLLER_PIDS, "/desk/display", "pids.max", DISPLAY_PIDS_MAX, CGROUP_PIDS},
	{2, CONTROLLER_PIDS, "/stage", "pids.max", STAGE_PIDS_MAX, CGROUP_PIDS},
	{2, CONTROLLER_PIDS, "/views", "pids.max", VIEWS_PIDS_MAX, CGROUP_PIDS},
	{2, CONTROLLER_PIDS, "/egress", "pids.max", EGRESS_PIDS_MAX, CGROUP_PIDS},
	{2, CONTROLLER_CPU, "/views", "cpu.max", VIEWS_CPU_QUOTA, CGROUP_CPU},
	{2, CONTROLLER_CPU, "/egress", "cpu.max", EGRESS_CPU_QUOTA, CGROUP_CPU},
	{2, CONTROLLER_CPU, "/desk", "cpu.max", CPU_QUOTA, CGROUP_CPU}, /* the period is 100 ms unless said */
	{2, CONTROLLER_CPU, "/stage", "cpu.weight", CPU_WEIGHT, 0},
	{2, CONTROLLER_CPU, "/desk/display", "cpu.weight", CPU_WEIGHT, 0},
};

/* The groups of the server's own processes. One that callers make too large is killed and started again, and the sessions go on. */
static const char *const OWN_GROUPS[] = {"front", "egress"};

static const struct limit OWN_LIMITS[] = {
	{1, CONTROLLER_MEMORY, "front", "memory.limit_in_bytes", FRONT_MEMORY_BYTES, 0},
	{1, CONTROLLER_MEMORY, "front", "memory.memsw.limit_in_bytes", FRONT_MEMORY_BYTES, 0},
	{1, CONTROLLER_MEMORY, "egress", "memory.limit_in_bytes", EGRESS_MEMORY_BYTES, 0},
	{1, CONTROLLER_MEMORY, "egress", "memory.memsw.limit_in_bytes", EGRESS_MEMORY_BYTES, 0},
	{1, CONTROLLER_CPU, "front", "cpu.shares", CPU_SHARES, 0},
	{2, CONTROLLER_CPU, "front", "cpu.weight", CPU_WEIGHT, 0},
	{2, CONTROLLER_MEMORY, "front", "memory.max", FRONT_MEMORY_BYTES, 0},
	{2, CONTROLLER_MEMORY, "front", "memory.swap.max", NOTHING, 0},
	{2, CONTROLLER_MEMORY, "egress", "memory.max", EGRESS_MEMORY_BYTES, 0},
	{2, CONTROLLER_MEMORY, "egress", "memory.swap.max", NOTHING, 0},
};

/* Files that say what a group uses. A row that a row before it has answered is not asked: a v2 counts time, whoever limits it. */
static const struct meter {
	int version;
	unsigned controller; /* that the hierarchy must have, or 0 */
	const char *file, *key; /* the number after the key, or the first one */
	uint64_t divisor;
	uint32_t bit;
} METERS[] = {
	{1, CONTROLLER_MEMORY, "memory.usage_in_bytes", NULL, 1, CGROUP_MEMORY},
	{2, CONTROLLER_MEMORY, "memory.current", NULL, 1, CGROUP_MEMORY},
	{1, CONTROLLER_PIDS, "pids.current", NULL, 1, CGROUP_PIDS},
	{2, CONTROLLER_PIDS, "pids.current", NULL, 1, CGROUP_PIDS},
	{2, 0, "cpu.stat", "usage_usec ", 1, CGROUP_CPU},
	{1, CONTROLLER_CPU, "cpuacct.usage", NULL, 1000, CGROUP_CPU},
};

/* What is counted of one session, for its stage. Of rows with a name the first that is there counts. */
static const struct counter {
	const char *name;
	int version;
	unsigned controller; /* that the hierarchy must have, or 0 */
	const char *path;
} COUNTERS[] = {
	{"jail/memory", 1, CONTROLLER_MEMORY, "desk/jail/memory.usage_in_bytes"},
	{"jail/memory", 2, CONTROLLER_MEMORY, "desk/jail/memory.current"},
	{"jail/memory_peak", 1, CONTROLLER_MEMORY, "desk/jail/memory.max_usage_in_bytes"},
	{"jail/memory_peak", 2, CONTROLLER_MEMORY, "desk/jail/memory.peak"},
	{"jail/oom", 1, CONTROLLER_MEMORY, "desk/jail/memory.oom_control"},
	{"jail/oom", 2, CONTROLLER_MEMORY, "desk/jail/memory.events"},
	{"jail/pids", 1, CONTROLLER_PIDS, "desk/jail/pids.current"},
	{"jail/pids", 2, CONTROLLER_PIDS, "desk/jail/pids.current"},
	{"jail/pids_refused", 1, CONTROLLER_PIDS, "desk/jail/pids.events"},
	{"jail/pids_refused", 2, CONTROLLER_PIDS, "desk/jail/pids.events"},
	{"desk/cpu_us", 2, 0, "desk/cpu.stat"},
	{"desk/cpu_ns", 1, CONTROLLER_CPU, "desk/cpuacct.usage"},
	{"desk/throttled", 1, CONTROLLER_CPU, "desk/cpu.stat"},
	{"desk/throttled", 2, CONTROLLER_CPU, "desk/cpu.stat"},
	{"display/oom", 1, CONTROLLER_MEMORY, "desk/display/memory.oom_control"},
	{"display/oom", 2, CONTROLLER_MEMORY, "desk/display/memory.events"},
};
const size_t cgroup_n_meters = ARRAY_LEN(COUNTERS);

static uint64_t amount_of(enum amount amount, const struct cgroup_limits *limits)
{
	switch (amount) {
	case JAIL_MEMORY:
		return limits->memory_bytes;
	case DISPLAY_MEMORY:
		return limits->display_bytes;
	case STAGE_MEMORY_BYTES:
		return STAGE_MEMORY;
	case FRONT_MEMORY_BYTES:
		return FRONT_MEMORY;
	case EGRESS_MEMORY_BYTES:
		return EGRESS_MEMORY;
	case JAIL_PIDS:
		return limits->pids;
	case DISPLAY_PIDS_MAX:
		return DISPLAY_PIDS;
	case STAGE_PIDS_MAX:
		return STAGE_PIDS;
	case VIEWS_MEMORY_BYTES:
		return VIEWS_MEMORY;
	case VIEWS_PIDS_MAX:
		return VIEWS_PIDS;
	case EGRESS_PIDS_MAX:
		return EGRESS_PIDS;
	case EGRESS_CPU_QUOTA:
		return EGRESS_CPUS * CPU_PERIOD_US;
	case VIEWS_CPU_QUOTA:
		return VIEWS_CPUS * CPU_PERIOD_US;
	case CPU_PERIOD:
		return CPU_PERIOD_US;
	case CPU_QUOTA:
		return limits->cpu_milli * CPU_PERIOD_US / 1000;
	case CPU_SHARES:
		return MORE_SHARES;
	case CPU_WEIGHT:
		return MORE_WEIGHT;
	case NOTHING:
		return 0;
	}
	DIE("no such amount");
}

/* `group` is the session, or "" for a limit of the server's own. */
static bool set_limit(const struct hierarchy *h, const char *group, const struct limit *limit, const struct cgroup_limits *limits)
{
	char path[160];
	char value[32];

	(void)snprintf(path, sizeof(path), "%s%s/%s", group, limit->group, limit->file);
	(void)snprintf(value, sizeof(value), "%" PRIu64, amount_of(limit->amount, limits));
	if (hierarchy_write(h->dir, path, value) == 0)
		return true;
	log_debug("%s of %s could not be set: %s", limit->file, group, strerror(errno));
	return false;
}

/* The bits of the limits that hold, and of those that could not be set. */
static void set_limits(const struct hierarchy *h, const char *group, const struct limit *rows, size_t n, const struct cgroup_limits *limits,
                       uint32_t *done, uint32_t *failed)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].version == h->version && (h->controllers & (unsigned)rows[i].controller)) {
			if (set_limit(h, group, &rows[i], limits))
				*done |= rows[i].bit;
			else
				*failed |= rows[i].bit;
		}
}

static void make_own(const struct hierarchy *h)
{
	uint32_t unused = 0;

	for (size_t i = 0; i < ARRAY_LEN(OWN_GROUPS); i++)
		if (mkdirat(h->dir, OWN_GROUPS[i], 0755) < 0)
			log_warn("no group %s: %s", OWN_GROUPS[i], strerror(errno));
	set_limits(h, "", OWN_LIMITS, ARRAY_LEN(OWN_LIMITS), NULL, &unused, &unused);
}

int cgroup_create(struct cgroups **out, const char *name, const char *record, const char *v2_place, struct err *e)
{
	struct cgroups *cgroups = util_zalloc(sizeof(*cgroups));

	cgroups->record = util_strdup(record);
	cgroups->n = hierarchy_find(cgroups->all, CGROUP_MAX_HIERARCHIES, name, v2_place);
	/* Now: what is recorded may lie in a cgroup2 that was mounted a moment ago. */
	hierarchy_sweep_recorded(record);
	if (hierarchy_record(record, cgroups->all, cgroups->n, e) < 0) {
		cgroup_destroy(cgroups);
		return -1;
	}
	for (int i = 0; i < cgroups->n; i++)
		if (hierarchy_make(&cgroups->all[i]) < 0) {
			/* Read-only, as in some containers: what it would have limited is reported as missing. */
			log_warn("no groups can be made in %s: %s", cgroups->all[i].path, strerror(errno));
			cgroups->all[i--] = cgroups->all[--cgroups->n];
		}
	for (int i = 0; i < cgroups->n; i++)
		make_own(&cgroups->all[i]);
	*out = cgroups;
	return 0;
}

void cgroup_destroy(struct cgroups *cgroups)
{
	bool gone = true;

	if (!cgroups)
		return;
	for (int i = 0; i < cgroups->n; i++)
		gone = hierarchy_remove(&cgroups->all[i]) && gone;
	if (gone)
		(void)unlink(cgroups->record);
	free(cgroups->record);
	free(cgroups);
}

static int make_groups(const struct hierarchy *h, const char *session, struct err *e)
{
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(GROUPS); i++) {
		if (GROUPS[i].v2_only && h->version != 2)
			continue;
		(void)snprintf(path, sizeof(path), "%s%s", session, GROUPS[i].path);
		if (mkdirat(h->dir, path, 0755) < 0)
			return err_sys(e, "making the group %s", path);
		if (GROUPS[i].hands_down)
			hierarchy_hand_down(h, path);
	}
	return 0;
}

int cgroup_make_session(struct cgroups *cgroups, const char *session, const struct cgroup_limits *limits, uint32_t *in_force,
                        struct err *e)
{
	uint32_t done = 0, failed = 0;

	for (int i = 0; i < cgroups->n; i++) {
		const struct hierarchy *h = &cgroups->all[i];

		if (make_groups(h, session, e) < 0)
			return -1;
		set_limits(h, session, LIMITS, ARRAY_LEN(LIMITS), limits, &done, &failed);
		if (h->version == 2 && h->can_kill)
			done |= CGROUP_FREEZE;
	}
	*in_force = done & ~failed;
	return 0;
}

bool cgroup_kill_session(struct cgroups *cgroups, const char *session, const char *path)
{
	char file[160];

	(void)snprintf(file, sizeof(file), "%s/%s%scgroup.kill", session, path, path[0] ? "/" : "");
	for (int i = 0; i < cgroups->n; i++)
		if (cgroups->all[i].version == 2)
			return hierarchy_write(cgroups->all[i].dir, file, "1") == 0;
	return false;
}

/* The number in a file, added to *sum. */
static bool add_number(int dir, const char *path, const char *key, uint64_t *sum)
{
	char text[512];
	const char *at = text;
	auto_fd fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *end;

	if (len <= 0)
		return false;
	text[len] = '\0';
	if (key) {
		at = strstr(text, key);
		if (!at)
			return false;
		at += strlen(key);
	}
	errno = 0;
	*sum += strtoull(at, &end, 10);
	return end > at && errno == 0;
}

/* The groups below `group`, or that alone, in one hierarchy; true if each could be read. */
static bool read_meter(const struct hierarchy *h, const struct meter *meter, const char *const *groups, size_t n, uint64_t *value)
{
	char path[160];
	uint64_t sum = 0;

	if (h->version != meter->version || (h->controllers & meter->controller) != meter->controller)
		return false;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", groups[i], meter->file);
		if (!add_number(h->dir, path, meter->key, &sum))
			return false;
	}
	*value = sum / meter->divisor;
	return true;
}

void cgroup_read_usage(const struct cgroups *cgroups, const char *session, struct cgroup_usage *usage)
{
	static const char *const LEAVES[] = {"stage", "views", "egress", "desk/display", "desk/jail"};
	char paths[ARRAY_LEN(LEAVES)][64];
	const char *groups[ARRAY_LEN(LEAVES)] = {"front"};
	size_t n = session ? ARRAY_LEN(LEAVES) : 1;

	*usage = (struct cgroup_usage){.known = 0};
	for (size_t i = 0; session && i < n; i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "%s/%s", session, LEAVES[i]);
		groups[i] = paths[i];
	}
	for (size_t m = 0; m < ARRAY_LEN(METERS); m++) {
		uint64_t *value = METERS[m].bit == CGROUP_MEMORY ? &usage->memory_bytes : METERS[m].bit == CGROUP_PIDS ? &usage->pids : &usage->cpu_usec;

		for (int i = 0; i < cgroups->n && !(usage->known & METERS[m].bit); i++)
			if (read_meter(&cgroups->all[i], &METERS[m], groups, n, value))
				usage->known |= METERS[m].bit;
	}
}

int cgroup_open_meter(const struct cgroups *cgroups, const char *session, size_t at, const char **name)
{
	const struct counter *counter = &COUNTERS[at];
	char path[160];

	*name = counter->name;
	(void)snprintf(path, sizeof(path), "%s/%s", session, counter->path);
	for (int i = 0; i < cgroups->n; i++)
		if (cgroups->all[i].version == counter->version && (cgroups->all[i].controllers & counter->controller) == counter->controller)
			return openat(cgroups->all[i].dir, path, O_RDONLY | O_CLOEXEC);
	return -1;
}

bool cgroup_remove_session(struct cgroups *cgroups, const char *session)
{
	char path[128];
	bool gone = true;

	for (int i = 0; i < cgroups->n; i++)
		for (size_t k = ARRAY_LEN(GROUPS); k-- > 0;) {
			(void)snprintf(path, sizeof(path), "%s%s", session, GROUPS[k].path);
			if (unlinkat(cgroups->all[i].dir, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
				gone = false;
		}
	return gone;
}

int cgroup_seat_init(struct cgroup_seat *seat, struct cgroups *cgroups, const char *path, struct err *e)
{
	char procs[160];

	*seat = (struct cgroup_seat){.v2_dir = -1};
	(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	for (int i = 0; i < cgroups->n; i++) {
		const struct hierarchy *h = &cgroups->all[i];
		int fd = h->version == 2 ? openat(h->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		                         : openat(h->dir, procs, O_WRONLY | O_CLOEXEC);

		if (fd < 0) {
			(void)err_sys(e, "opening the group %s", path);
			cgroup_seat_finish(seat);
			return -1;
		}
		if (h->version == 2)
			seat->v2_dir = fd;
		else
			seat->v1_procs[seat->n_v1++] = fd;
	}
	return 0;
}

void cgroup_seat_finish(struct cgroup_seat *seat)
{
	util_close_fd(&seat->v2_dir);
	for (int i = 0; i < seat->n_v1; i++)
		util_close_fd(&seat->v1_procs[i]);
	seat->n_v1 = 0;
}

int cgroup_open_v2(struct cgroups *cgroups, const char *path, int access, int *fd, struct err *e)
{
	for (int i = 0; i < cgroups->n; i++)
		if (cgroups->all[i].version == 2) {
			int opened = openat(cgroups->all[i].dir, path, access | O_CLOEXEC);

			if (opened < 0)
				return err_sys(e, "opening %s", path);
			*fd = opened;
			return 0;
		}
	return err_set(e, ERR_UNSUPPORTED, NULL, "this host has no cgroup2");
}
