/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types and headers that pass. */
#include "session/front/safe.h"

#include <string.h>

#include "session/base/util.h"

static const char *const media_types[] = {"application/octet-stream", "application/x-tar", "application/json", "application/problem+json",
                                          "text/event-stream", "image/png", "image/jpeg", "image/webp"};

const char *safe_type(const char *type)
{
	for (size_t i = 1; type && i < ARRAY_LEN(media_types); i++)
		if (strcmp(media_types[i], type) == 0)
			return media_types[i];
	return media_types[0];
}

bool safe_is_header(const char *name, const char *value)
{
	static const char *const others[] = {"Retry-After", "Idempotency-Replayed", "ETag", "Accept-Ranges", "Content-Range"};
	bool is_known = strncmp(name, "Glovebox-", 9) == 0;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		is_known |= strcmp(name, others[i]) == 0;
	if (!is_known)
		return false;
	for (const char *at = name; *at; at++)
		if ((*at < 'a' || *at > 'z') && (*at < 'A' || *at > 'Z') && *at != '-')
			return false;
	for (const char *at = value; at && *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return value;
}
