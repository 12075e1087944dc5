/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of faults in its user's room. */
#include "session/base/faults.h"

bool faults_full(const struct faults *faults)
{
	return faults->n == faults->max;
}

struct err *faults_next(struct faults *faults)
{
	if (faults_full(faults))
		return NULL;
	faults->n++;
	return faults->list ? &faults->list[faults->n - 1] : NULL;
}

void faults_add(struct faults *faults, const struct err *e, const char *prefix)
{
	struct err *place = faults_next(faults);

	if (!place)
		return;
	*place = *e;
	err_prefix(place, prefix);
}
