/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading Accept. */
#include "session/front/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* How close a range of `len` characters is to a type: see struct accept_of. */
static int closeness(const char *range, size_t len, const char *type)
{
	size_t main_len = strcspn(type, "/") + 1;

	if (len == strlen(type) && strncasecmp(range, type, len) == 0)
		return 3;
	if (len == main_len + 1 && strncasecmp(range, type, main_len) == 0 && range[main_len] == '*')
		return 2;
	return len == 3 && memcmp(range, "*/*", 3) == 0 ? 1 : 0;
}

/* A weight of zero says that the type is not taken: "0", "0.", "0.000". */
static bool is_zero(const char *weight, size_t len)
{
	return len > 0 && weight[0] == '0' && strspn(weight, "0.") >= len;
}

/* Is there a parameter q with a weight of zero in ";a=b;q=0"? */
static bool has_zero_weight(const char *parameters, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t start = at + 1 + strspn(parameters + at + 1, BLANKS);
		size_t end = at + 1;

		while (end < len && parameters[end] != ';')
			end++;
		if (start + 2 < end && (parameters[start] == 'q' || parameters[start] == 'Q') && parameters[start + 1] == '=') {
			size_t last = end;

			while (last > start && strchr(BLANKS, parameters[last - 1]))
				last--;
			return is_zero(parameters + start + 2, last - start - 2);
		}
		at = end;
	}
	return false;
}

static void take(struct accept_of *of, int close, bool taken)
{
	if (close > of->closeness)
		*of = (struct accept_of){close, taken};
	else if (close > 0 && close == of->closeness)
		of->taken |= taken;
}

void accept_add(struct accept *accept, const char *value)
{
	while (*value) {
		size_t len = strcspn(value, ","), skip = strspn(value, BLANKS);
		size_t type_len = skip < len ? strcspn(value + skip, BLANKS ";,") : 0;
		size_t parameters = skip + type_len;

		while (parameters < len && value[parameters] != ';')
			parameters++;
		if (type_len > 0) {
			bool taken = !has_zero_weight(value + parameters, len - parameters);

			accept->named = true;
			take(&accept->json, closeness(value + skip, type_len, "application/json"), taken);
			take(&accept->tar, closeness(value + skip, type_len, "application/x-tar"), taken);
			take(&accept->events, closeness(value + skip, type_len, "text/event-stream"), taken);
		}
		value += len + (value[len] == ',');
	}
}

bool accept_json(const struct accept *accept)
{
	return !accept->named || accept->json.taken;
}

bool accept_events(const struct accept *accept)
{
	return !accept->named || accept->events.taken;
}

bool accept_names_tar(const struct accept *accept)
{
	return accept->tar.closeness == 3 && accept->tar.taken;
}
