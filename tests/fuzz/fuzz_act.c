/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: glovebox-stage */
/* longest: 1024 */
/*
 * Bodies of `act`. Whatever it is, it is refused with a fault that has a code, a text and a pointer that reads as one, or each of its actions has a row, and
 * arguments that are within the display; and it is read the same from what was read.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "apps/apps.h"
#include "apps/state.h"
#include "display/display.h"
#include "input/inner.h"
#include "session/base/util.h"
#include "session/stage/batch.h"
#include "session/stage/rows.h"

static const struct batch_place places[] = {
	{{1280, 800}, {1280, 800}, false, false}, {{640, 400}, {1920, 1080}, false, false}, {{1, 1}, {64, 64}, false, false}, {{1280, 800}, {1280, 800}, true, true},
};

/* Two programs: one takes addresses, one takes nothing. */
#define MANIFEST "{\"apps\":[{\"name\":\"firefox\",\"argv\":[\"/usr/bin/firefox-esr\"],\"args\":\"urls\"},{\"name\":\"terminal\",\"argv\":[\"/usr/bin/xterm\"]}]}"

static struct apps *programs(void)
{
	static struct apps apps;

	if (!apps.catalogue.apps) {
		json_auto_t *manifest = json_loads(MANIFEST, 0, NULL);
		struct err e = {0};

		if (catalogue_create(&apps.catalogue, manifest, &e) < 0 || environment_create(&apps.environment, NULL, &e) < 0)
			DIE("%s", e.msg);
	}
	return &apps;
}

static int read_batch(struct batch *batch, const char *body, size_t len, const struct batch_place *place, struct faults *faults)
{
	static struct input hands; /* without a secret */
	const struct action_set sets[] = {{display_rows, display_n_rows, NULL}, {input_rows, input_n_rows, &hands}, {apps_rows, apps_n_rows, programs()}, {access_rows, access_n_rows, programs()}, {rows_own, rows_n_own, NULL}};

	return batch_read(batch, body, len, sets, ARRAY_LEN(sets), place, faults);
}

static void check_refusal(const struct faults *faults)
{
	if (faults->n == 0 || faults->n > faults->max)
		DIE("refused with %zu faults", faults->n);
	for (size_t i = 0; i < faults->n; i++) {
		const struct err *e = &faults->list[i];

		if (e->code == ERR_NONE || !e->msg[0] || (e->path[0] && e->path[0] != '/'))
			DIE("a fault \"%s\" at \"%s\"", e->msg, e->path);
		if (!util_utf8_valid(e->msg, strlen(e->msg)) || !util_utf8_valid(e->path, strlen(e->path)))
			DIE("a fault that is no text");
	}
}

static void check_batch(const struct batch *batch)
{
	if (batch->n_steps > LIMIT_ACTIONS || batch->timeout_ms <= 0)
		DIE("%zu steps within %lld ms", batch->n_steps, (long long)batch->timeout_ms);
	for (size_t i = 0; i < batch->n_steps; i++) {
		const struct batch_step *step = &batch->steps[i];
		const json_t *x = json_object_get(step->args, "x"), *y = json_object_get(step->args, "y");
		const struct space native = step->place.native;

		if (!step->row || !step->args)
			DIE("step %zu has no row", i);
		if (strcmp(step->row->name, "click") == 0 && x && y &&
		    (json_integer_value(x) < 0 || json_integer_value(x) >= native.width_px || json_integer_value(y) < 0 || json_integer_value(y) >= native.height_px))
			DIE("a click beyond the display");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct batch batch;
	struct err list[4] = {{.code = ERR_NONE}};
	struct faults faults = {.list = list, .max = ARRAY_LEN(list)};

	if (read_batch(&batch, (const char *)data, size, &places[fuzz_pick(data, size) % ARRAY_LEN(places)], &faults) < 0) {
		check_refusal(&faults);
		return 0;
	}
	check_batch(&batch);
	batch_free(&batch);
	return 0;
}
