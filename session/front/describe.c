/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions as callers see them. */
#include "session/front/describe.h"

#include <string.h>
#include <time.h>

#include "session/base/space.h"
#include "session/base/util.h"
#include "session/front/spec.h"

json_t *describe_time(int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm utc;
	char text[32];

	if (!gmtime_r(&seconds, &utc) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return json_null();
	return json_string(text);
}

static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		DIE("no memory for %s", name);
}

/* Which layers and limits are in force, which the host could not give, and what is weaker than it could be. */
static json_t *isolation_report(uint32_t bits)
{
	static const struct {
		enum warden_isolation bit;
		const char *name;
	} layers[] = {
		{ISOLATION_MEMORY, "memory"}, {ISOLATION_PIDS, "pids"},         {ISOLATION_CPU, "cpu"},         {ISOLATION_DISK, "disk"},
		{ISOLATION_SWAP_OFF, "swap_off"}, {ISOLATION_FREEZE, "freeze"}, {ISOLATION_SECCOMP, "seccomp"},
		{ISOLATION_HANDOVER, "handover"}, {ISOLATION_LANDLOCK_PORTS, "landlock_ports"}, {ISOLATION_LANDLOCK_SCOPES, "landlock_scopes"},
	};
	json_t *in_force = json_array(), *missing = json_array(), *weaker = json_array();

	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		(void)json_array_append_new(bits & layers[i].bit ? in_force : missing, json_string(layers[i].name));
	if (bits & ISOLATION_ROOTLESS)
		(void)json_array_append_new(weaker, json_string("server_user"));
	return json_pack("{s:s, s:o, s:o, s:o}", "tier", "jail", "in_force", in_force, "missing", missing, "weaker", weaker);
}

static json_t *links(const struct session *session)
{
	static const char *const parts[] = {"act", "computer", "cancel", "screenshot", "thumbnail", "events", "stream", "lease", "rfb", "viewers", "shares", "journal", "recording", "pause", "resume", "tokens", "tickets"};
	json_t *out = json_pack("{s:o}", "self", json_sprintf("/v1/sessions/%s", session->id));

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		set(out, parts[i], json_sprintf("/v1/sessions/%s/%s", session->id, parts[i]));
	return out;
}

/* The apps that were asked for, in the form in which a stage tells the ones that it started. */
static json_t *apps_asked(const json_t *spec)
{
	json_t *list = json_array(), *app;
	size_t i;

	json_array_foreach(json_object_get(spec, "apps"), i, app)
		(void)json_array_append_new(list, json_pack("{s:O}", "app", app));
	return list;
}

json_t *describe_usage(const struct warden_usage *usage, const json_t *state)
{
	json_t *limits = json_object_get(state, "limits"), *out = usage->known || limits ? json_object() : NULL;

	if (usage->known & ISOLATION_MEMORY)
		set(out, "memory_bytes", json_integer((json_int_t)usage->memory_bytes));
	if (usage->known & ISOLATION_PIDS)
		set(out, "pids", json_integer((json_int_t)usage->pids));
	if (usage->known & ISOLATION_CPU)
		set(out, "cpu_ms", json_integer((json_int_t)(usage->cpu_usec / 1000)));
	if (limits)
		set(out, "limits", json_incref(limits));
	return out;
}

/* Before the stage says it: as the stage will. */
static json_t *space_of(const json_t *spec)
{
	const json_t *display = json_object_get(spec, "display"), *named = json_object_get(spec, "space");
	const struct space native = {(int)form_int(display, "width", 1), (int)form_int(display, "height", 1)};

	return named ? json_deep_copy(named) : space_json(space_for_models(native));
}

/* As far as its stage has told. */
static json_t *lease_of(const struct session *session)
{
	const struct stage_hello *hello = &session->hello;
	json_t *out = json_pack("{s:s, s:n, s:I, s:n, s:n, s:n, s:n}", "holder", *hello->holder ? hello->holder : "agent", "viewer", "epoch",
	                 (json_int_t)hello->epoch, "since", "reason", "kind", "expires_at");

	(void)json_object_update_existing(out, session->lease);
	return out;
}

json_t *describe_session(const struct session *session, const json_t *state)
{
	static const char *const from_stage[] = {"space", "at", "held", "focus", "apps", "lease", "egress", "setup"};
	json_t *spec = session->spec, *display = json_copy(json_object_get(spec, "display"));
	json_t *out = json_pack("{s:s, s:s, s:O, s:o, s:o, s:o, s:o}", "id", session->id, "state",
	                        session_state_name(session->state), "image", json_object_get(spec, "image"), "display", display, "space",
	                        space_of(spec), "lease", lease_of(session), "apps",
	                        apps_asked(spec));

	(void)json_object_update(display, json_object_get(state, "display"));
	for (size_t i = 0; state && i < ARRAY_LEN(from_stage); i++)
		if (json_object_get(state, from_stage[i]))
			set(out, from_stage[i], json_incref(json_object_get(state, from_stage[i])));
	set(out, "owner", json_string(session->owner));
	set(out, "labels", json_incref(json_object_get(spec, "labels")));
	set(out, "isolation_report", isolation_report(session->isolation));
	set(out, "not_in_force", json_array()); /* nothing of what a spec takes, at present */
	set(out, "links", links(session));
	set(out, "created_at", describe_time(session->created_ms));
	set(out, "expires_at", describe_time(session->expires_ms));
	set(out, "idle_s", json_incref(json_object_get(spec, "idle_s")));
	if (*session->reason)
		set(out, "reason", json_string(session->reason));
	if (session->ended_ms > 0)
		set(out, "ended_at", describe_time(session->ended_ms));
	return out;
}
