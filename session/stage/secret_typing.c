/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule of a secret, held against what has the keys. */
#include "session/stage/secret_typing.h"

#include <string.h>

#include "session/base/util.h"
#include "session/stage/stage.h"

bool secret_typing_has(void *arg, const char *name)
{
	return secrets_find(&((struct stage *)arg)->secrets, name) != NULL;
}

static int refuse(const struct secret *secret, const char *what, struct err *e)
{
	return err_set(e, ERR_SECRET, NULL, "%s; the secret %s is typed into a %sfield of %s in %s alone: click on it first", what, secret->name,
	               secret->any_field ? "" : "password ", secret->origin, secret->app);
}

/* By the word of the X server and the kernel, and by that of the app. */
static int check_app(struct stage *stage, const struct secret *secret, const struct access_focus *focus, struct err *e)
{
	const char *app;
	int pid;

	if (apps_trusted(stage->apps, focus->window, &app, &pid, e) < 0)
		return -1;
	if (!app || strcmp(app, secret->app) != 0 || pid != focus->pid)
		return refuse(secret, "another app has the focus", e);
	return 0;
}

static int check_field(const struct secret *secret, const struct access_focus *focus, struct err *e)
{
	char origin[ORIGIN_SIZE];

	if (!focus->known || !focus->has_node)
		return refuse(secret, "it is not known what has the focus", e);
	if (!origin_of(focus->url, origin) || strcmp(origin, secret->origin) != 0)
		return refuse(secret, "a page of another origin has the focus", e);
	if (!focus->node.editable || (!secret->any_field && !focus->node.password))
		return refuse(secret, "another kind of field has the focus", e);
	if (focus->node.width == 0 || focus->node.height == 0)
		return refuse(secret, "it is not known where the field is, so that it cannot be left out of pictures", e);
	return 0;
}

int secret_typing_check(struct stage *stage, const char *name, struct err *e)
{
	const struct secret *secret = secrets_find(&stage->secrets, name);
	struct access_focus *focus = &stage->secret_focus;

	if (!secret)
		return err_set(e, ERR_SECRET, NULL, "the session has no secret of this name");
	if (!secret->app[0])
		return err_set(e, ERR_SECRET, NULL, "the secret %s has no app and no origin to be typed into", secret->name);
	if (access_focus_now(apps_access(stage->apps), util_now_ms() + SECRET_FOCUS_MS, focus, e) < 0 || check_field(secret, focus, e) < 0)
		return -1;
	return check_app(stage, secret, focus, e);
}

int secret_typing_begin(void *arg, const char *name, const char **value, size_t *len, struct err *e)
{
	struct stage *stage = arg;
	const struct secret *secret = secrets_find(&stage->secrets, name);

	if (secret_typing_check(stage, name, e) < 0 || spots_add(stage, &stage->secret_focus, e) < 0 || display_update(stage->display, e) < 0)
		return -1;
	*value = secret->value;
	*len = secret->len;
	return 0;
}

/* What has the focus after it may hold the end of it: it is blank, too, if it takes text. */
bool secret_typing_end(void *arg)
{
	struct stage *stage = arg;
	const struct access_focus before = stage->secret_focus;
	struct access_focus now;
	bool stays;

	co_shield();
	(void)access_focus_now(apps_access(stage->apps), util_now_ms() + SECRET_FOCUS_MS, &now, NULL);
	co_unshield();
	stays = !now.known || (now.has_node && now.node.id == before.node.id && strcmp(now.url, before.url) == 0);
	/* How the field looks with it: by that it is known whether it can still be seen when its page is left. */
	(void)display_update(stage->display, NULL);
	if (!stays && now.has_node && now.node.editable && now.node.width > 0)
		(void)spots_add(stage, &now, NULL);
	return stays;
}
