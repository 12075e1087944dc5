/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values from the warden, rules from the front. */
#include "session/stage/secrets.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/egress/injection.h"
#include "session/base/json.h"
#include "session/base/locked.h"
#include "session/base/util.h"

#define MEMORY_BYTES ((size_t)LIMIT_SECRETS * LIMIT_SECRET_BYTES)

int secrets_take(struct secrets *secrets, struct ends *ends, struct err *e)
{
	int rc = 0;

	if (ends->n_secrets > 0)
		secrets->memory = locked_alloc(MEMORY_BYTES);
	for (size_t i = 0; i < ends->n_secrets; i++) {
		struct secret *secret = &secrets->list[i];
		char *place = secrets->memory + i * LIMIT_SECRET_BYTES;
		ssize_t n = pread(ends->secrets[i].fd, place, LIMIT_SECRET_BYTES, 0);

		util_close_fd(&ends->secrets[i].fd);
		if (n <= 0)
			rc = err_sys(e, "reading a secret");
		*secret = (struct secret){.value = place, .len = n > 0 ? (size_t)n : 0};
		memcpy(secret->name, ends->secrets[i].name, sizeof(secret->name));
	}
	secrets->n = ends->n_secrets;
	ends->n_secrets = 0;
	return rc;
}

static struct secret *find(struct secrets *secrets, const char *name)
{
	for (size_t i = 0; i < secrets->n; i++)
		if (strcmp(secrets->list[i].name, name) == 0)
			return &secrets->list[i];
	return NULL;
}

const struct secret *secrets_find(const struct secrets *secrets, const char *name)
{
	return find((struct secrets *)(uintptr_t)secrets, name);
}

int secrets_read_rules(struct secrets *secrets, const json_t *rules, struct err *e)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule) {
		struct secret *secret = find(secrets, form_string(rule, "name", ""));

		if (!secret)
			return err_set(e, ERR_INTERNAL, NULL, "a secret that the session names did not come");
		(void)snprintf(secret->app, sizeof(secret->app), "%s", form_string(rule, "app", ""));
		(void)snprintf(secret->origin, sizeof(secret->origin), "%s", form_string(rule, "origin", ""));
		secret->any_field = strcmp(form_string(rule, "field", ""), "text") == 0;
	}
	json_decref(secrets->injections);
	secrets->injections = injection_list(rules);
	return 0;
}

void secrets_finish(struct secrets *secrets)
{
	locked_free(secrets->memory, MEMORY_BYTES);
	json_decref(secrets->injections);
	*secrets = (struct secrets){.n = 0};
}
