/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-front */
/* longest: 1024 */
/*
 * Requests to the front behind their heads: the first line is a target, the rest a body, which is read as that of each route with a form of its own (operation_forms,
 * and the spec of a session, for the operator and for a key with limits). Whatever it is, it is refused with faults that have a code, a text and a pointer that reads as
 * one, or what was made of it is whole: the warden's record of a spec passes the warden's own check, and a spec that is completed is complete.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/util.h"
#include "session/front/config.h"
#include "session/front/operation.h"
#include "session/front/quota.h"
#include "session/front/spec.h"
#include "session/front/target.h"

#define MOST_BYTES 16384
#define MOST_FAULTS 4
#define CONFIG "{\"keys\":[{\"name\":\"small\",\"token_sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"images\":[\"desktop\"]," \
	"\"egress\":\"allowlist\",\"limits\":{\"cpu\":1,\"memory_mb\":1024},\"ttl_s\":600}],\"defaults\":{\"ttl_s\":900}}"

static void insist(bool holds, const char *what)
{
	if (!holds)
		DIE("%s", what);
}

static void check_text(const char *text)
{
	insist(util_utf8_valid(text, strlen(text)), "a fault that is no text");
}

static void check_faults(const struct faults *faults)
{
	insist(faults->n > 0 && faults->n <= faults->max, "refused without a fault");
	for (size_t i = 0; i < faults->n; i++) {
		const struct err *e = &faults->list[i];

		insist(e->code != ERR_NONE && e->msg[0] && (!e->path[0] || e->path[0] == '/'), "a fault without code, text or pointer");
		check_text(e->msg);
		check_text(e->path);
	}
}

/* --- the target --- */

static void try_target(const char *line)
{
	struct target target;
	struct err e = {0};
	auto_free char *path = NULL;

	if (target_check_size(line, &e) < 0 || target_parse(line, &target, &e) < 0) {
		insist(e.code != ERR_NONE && e.msg[0], "a refused target has no reason");
		check_text(e.msg);
		return;
	}
	for (size_t i = 0; i < target.n_segments && i < TARGET_SEGMENTS; i++) {
		const char *segment = target.segment[i];

		insist(segment[0] && !strchr(segment, '/') && strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0, "a segment that is none");
		check_text(segment);
	}
	path = target_path(&target);
	insist(path && path[0] == '/', "a target without a path");
	target_finish(&target);
}

/* --- the body --- */

static const struct config *config_of_operator(void)
{
	static struct config config;

	if (!config.document) {
		auto_fd fd = memfd_create("config", MFD_CLOEXEC);
		struct err e;

		if (fd < 0 || util_write_all(fd, CONFIG, strlen(CONFIG)) < 0 || config_read(fd, &config, &e) < 0)
			DIE("the configuration is refused at %s: %s", e.path, e.msg);
	}
	return &config;
}

static void check_spec(const json_t *spec, const char *owner)
{
	static const char *const members[] = {"display", "limits", "egress", "approval", "setup", "record", "labels", "env"};
	struct err list[MOST_FAULTS] = {{.code = ERR_NONE}};
	struct faults faults = {.list = list, .max = MOST_FAULTS};
	json_auto_t *again = NULL, *shown = spec_without_values(spec);
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		insist(json_is_object(json_object_get(spec, members[i])), "a whole spec lacks a member");
	if (quota_complete_spec(config_of_operator(), owner, spec, &again, &faults) < 0)
		DIE("a whole spec is refused at %s: %s", list[0].path, list[0].msg);
	insist(json_equal(spec, again), "a whole spec is completed");
	json_object_foreach(json_object_get(spec, "env"), name, value)
		insist(!json_string_length(value) || json_object_get(shown, "env") != json_object_get(spec, "env"), "a spec is shown with its values");
}

static void try_spec(const json_t *body, const char *owner)
{
	struct err list[MOST_FAULTS] = {{.code = ERR_NONE}};
	struct faults faults = {.list = list, .max = MOST_FAULTS};
	json_auto_t *asked = json_deep_copy(body), *spec = NULL;
	size_t count = 0;
	bool counts = spec_take_count(asked, &count, &faults) == 0;
	int rc = quota_complete_spec(config_of_operator(), owner, asked, &spec, &faults);

	if (rc < 0 || !counts)
		check_faults(&faults);
	else
		insist(faults.n == 0, "a spec that is taken has faults");
	if (rc == 0)
		check_spec(spec, owner);
}

static const json_t *usual_spec(void)
{
	static json_t *usual;

	if (!usual) {
		json_auto_t *nothing = json_object();
		struct err e;

		if (spec_complete(nothing, NULL, &usual, &e) < 0)
			DIE("the usual spec is refused: %s", e.msg);
	}
	return usual;
}

static void try_change(const json_t *body)
{
	struct err list[MOST_FAULTS] = {{.code = ERR_NONE}};
	struct faults faults = {.list = list, .max = MOST_FAULTS};
	json_auto_t *change = json_deep_copy(body), *changed = NULL;

	if (spec_change(usual_spec(), change, &changed, &faults) < 0)
		check_faults(&faults);
	else
		check_spec(changed, OWNER_OPERATOR);
}

static void try_form(const struct form *form, const json_t *body)
{
	struct err list[MOST_FAULTS] = {{.code = ERR_NONE}};
	struct faults faults = {.list = list, .max = MOST_FAULTS};

	if (form_check_all(form, body, "", NULL, &faults) < 0)
		check_faults(&faults);
	else
		insist(json_is_object(body) && faults.n == 0, "a body that is taken is no object");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t len = end ? (size_t)(end - data) : 0;
	auto_free char *line = util_zalloc(len + 1);
	json_auto_t *body = NULL;
	struct err e;

	if (!end || size > MOST_BYTES)
		return 0;
	memcpy(line, data, len);
	try_target(line);
	if (json_parse((const char *)end + 1, size - len - 1, &body, &e) < 0)
		return 0;
	for (size_t i = 0; i < operation_n_forms; i++)
		try_form(operation_forms[i].form, body);
	try_spec(body, OWNER_OPERATOR);
	try_spec(body, "small");
	if (json_is_object(body))
		try_change(body);
	return 0;
}
