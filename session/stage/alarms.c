/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting, by a row each. */
#include "session/stage/alarms.h"

#include "session/stage/stage.h"

const char *alarms_name(enum alarm which)
{
#define NAME_OF(id, name) [ALARM_##id] = (name),
	static const char *const names[N_ALARMS] = {COUNTED_ALARMS(NAME_OF)};
#undef NAME_OF

	return names[which];
}

void alarms_add(struct stage *stage, enum alarm which, uint64_t n)
{
	if (n == 0)
		return;
	stage->alarms.n[which] += n;
	watch_note(stage);
}

json_t *alarms_json(const struct stage *stage)
{
	json_t *out = json_object();

	for (enum alarm which = 0; which < N_ALARMS; which++)
		if (stage->alarms.n[which] > 0)
			json_object_set_new(out, alarms_name(which), json_integer((json_int_t)stage->alarms.n[which]));
	return out;
}
