/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The apps of an image, as its manifest lists them, and what may be handed to each. No threads.
 *
 * {"apps":[{"name","title","argv":[…],"class","trusted","runs":[…],"args":"none|files|urls|files_urls",
 * "kind":"app|terminal"}],"session_bus":bool}
 */
#ifndef APPS_CATALOGUE_H
#define APPS_CATALOGUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"

enum catalogue_args {
	CATALOGUE_NONE = 0,
	CATALOGUE_FILES = 1 << 0, /* absolute paths, or names below the home folder */
	CATALOGUE_URLS = 1 << 1,  /* http:, https:, file: and about:blank */
};

struct catalogue_app {
	const char *name;     /* "firefox"; strings are the manifest's */
	const char *title;    /* "Firefox" */
	const char *class_name; /* of WM_CLASS; "" if it is not known */
	const char **argv;    /* ends in NULL */
	size_t n_argv;
	bool trusted;         /* may do what an agent's program may not */
	const char **runs;    /* programs and folders that a trusted one executes beside itself; ends in NULL */
	bool terminal;        /* what it runs is the agent's */
	unsigned int args;    /* enum catalogue_args */
};

struct catalogue {
	json_t *manifest;
	struct catalogue_app *apps;
	size_t n_apps;
	bool session_bus;
};

/* Reads the manifest, of which a reference is kept. Errors: ERR_SESSION_FAILED, with the row at fault. */
int catalogue_create(struct catalogue *out, const json_t *manifest, struct err *e);
void catalogue_finish(struct catalogue *catalogue);

/* The row, or NULL with ERR_BAD_FIELD at /app: names that are near, and all that there are. */
const struct catalogue_app *catalogue_find(const struct catalogue *catalogue, const char *name, struct err *e);

/*
 * Checks the arguments of a launch (a list of strings, or NULL) against the row, and makes the whole argv: *out is malloced as one
 * list of malloced strings that ends in NULL, to be freed by catalogue_free_argv. Names below the home folder become absolute. Errors:
 * ERR_BAD_FIELD at /args or /args/N. out may be NULL: then it is only checked.
 */
int catalogue_argv(const struct catalogue_app *app, const json_t *args, char ***out, struct err *e);
void catalogue_free_argv(char **argv);

#endif
