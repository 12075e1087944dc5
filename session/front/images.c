/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Manifests, from files that the operator's command line wrote. */
#include "session/front/images.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"
#include "session/warden/proto.h"

#define SUFFIX ".json"

static bool is_name(const char *name, size_t len)
{
	/* The root of displays is the server's own. */
	if (len == strlen("display") && memcmp(name, "display", len) == 0)
		return false;
	return len > 0 && len < IMAGE_NAME_SIZE && name[0] >= 'a' && name[0] <= 'z' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") >= len;
}

/* NULL when there is none, or none that can be used. */
static json_t *load(const char *folder, const char *name)
{
	auto_free char *path = util_printf("%s/%s.json", folder, name);
	auto_free char *text = NULL;
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	json_t *manifest = NULL;
	struct err e;
	ssize_t len;

	if (fd < 0)
		return NULL;
	len = util_read_file(fd, LIMIT_MANIFEST_BYTES, &text);
	if (len < 0 || json_parse(text, (size_t)len, &manifest, &e) < 0) {
		log_warn("the manifest of image %s cannot be read", name);
		return NULL;
	}
	if (strcmp(form_string(manifest, "name", ""), name) != 0 || strlen(form_string(manifest, "hash", "")) != IMAGE_HASH_SIZE - 1 ||
	    !json_is_array(json_object_get(manifest, "apps"))) {
		log_warn("the manifest of image %s has not the right form", name);
		json_decref(manifest);
		return NULL;
	}
	(void)json_object_del(manifest, "packages");
	return manifest;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The length of the name before ".json", or 0. */
static size_t stem(const char *file)
{
	size_t len = strlen(file);

	if (len <= strlen(SUFFIX) || strcmp(file + len - strlen(SUFFIX), SUFFIX) != 0)
		return 0;
	len -= strlen(SUFFIX);
	return is_name(file, len) ? len : 0;
}

/* The names of the manifests, in order. */
static size_t list_names(const char *folder, char *names[LIMIT_IMAGES])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	while (dir && n < LIMIT_IMAGES && (entry = readdir(dir)))
		if (stem(entry->d_name) > 0)
			names[n++] = util_printf("%.*s", (int)stem(entry->d_name), entry->d_name);
	if (dir)
		(void)closedir(dir);
	qsort(names, n, sizeof(*names), compare);
	return n;
}

json_t *images_list(const char *folder)
{
	char *names[LIMIT_IMAGES];
	size_t n = list_names(folder, names);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *manifest = load(folder, names[i]);

		if (manifest && json_array_append_new(list, json_pack("{s:O, s:O, s:O}", "name", json_object_get(manifest, "name"), "hash",
		                                                      json_object_get(manifest, "hash"), "apps",
		                                                      json_object_get(manifest, "apps"))) < 0)
			log_warn("image %s cannot be listed", names[i]);
		json_decref(manifest);
		free(names[i]);
	}
	return list;
}

static int refuse(const char *folder, const char *name, struct err *e)
{
	json_auto_t *list = images_list(folder);
	char there[160] = "", shown[80];
	const json_t *image;
	size_t i;

	json_array_foreach(list, i, image)
		err_list(there, sizeof(there), ", ", form_string(image, "name", ""));
	return err_set(e, ERR_NO_IMAGE, "/image", "there is no image %s; there are: %s. The operator makes one with: glovebox image build NAME",
	               err_quote(shown, sizeof(shown), name, strlen(name)), *there ? there : "none");
}

int images_read(const char *folder, const char *name, json_t **manifest, struct err *e)
{
	json_t *found = is_name(name, strlen(name)) ? load(folder, name) : NULL;

	if (!found)
		return refuse(folder, name, e);
	*manifest = found;
	return 0;
}
