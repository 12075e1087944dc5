/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image build, image ls: the images folder of this machine; no server is asked. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/base/json.h"
#include "session/base/limits.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

#define DEFAULT_IMAGES "/var/lib/glovebox/images"
#define SHORT_HASH 12

static const struct arg_option image_options[] = {
	{"images", 0, "DIR", false, "the images folder (default " DEFAULT_IMAGES ")"},
};

static const char *images_folder(const struct args *args)
{
	const char *given = args_get(args, "images");

	return given ? given : DEFAULT_IMAGES;
}

/* Becomes the script: its progress, its errors and its exit status are those of this command. */
static int run_build(struct cli *cli)
{
	const char *argv[ARGS_MAX + 4];
	auto_free char *script = NULL;
	struct err e = {0};
	size_t n = 0;

	if (cli_beside("../images/build", &script, &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	argv[n++] = script;
	argv[n++] = "--images";
	argv[n++] = images_folder(&cli->args);
	for (size_t i = 0; i < cli->args.n_words; i++)
		argv[n++] = cli->args.words[i];
	argv[n] = NULL;
	execv(script, (char *const *)(uintptr_t)argv);
	err_set(&e, ERR_INTERNAL, NULL, "%s cannot be run: %s", script, strerror(errno));
	return cli_fail(cli, CLI_REFUSED, &e);
}

const struct cli_command image_build = {
	"image build", "NAME…", "build images on this machine (root; nothing is done for one that is up to date)",
	image_options, ARRAY_LEN(image_options), 1, ARGS_MAX, ARGS_MAX, run_build,
};

static int is_manifest(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && dot != entry->d_name && strcmp(dot, ".json") == 0;
}

static int read_manifest(const char *folder, const char *name, json_t *images, struct err *e)
{
	auto_free char *file = util_printf("%s/manifests/%s", folder, name), *text = NULL;
	json_t *manifest;
	size_t len;

	if (cli_read_file(file, LIMIT_MANIFEST_BYTES, &text, &len, e) || json_parse(text, len, &manifest, e))
		return -1;
	json_array_append_new(images, manifest);
	return 0;
}

int image_read_manifests(const char *folder, json_t *images, struct err *e)
{
	auto_free char *manifests = util_printf("%s/manifests", folder);
	struct dirent **entries = NULL;
	int n = scandir(manifests, &entries, is_manifest, alphasort), status = 0;

	if (n < 0 && errno != ENOENT)
		return err_set(e, ERR_BAD_REQUEST, NULL, "%s cannot be read: %s", manifests, strerror(errno));
	for (int i = 0; i < n; i++) {
		status = status ? status : read_manifest(folder, entries[i]->d_name, images, e);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static void show_image(const json_t *image)
{
	const char *hash = json_string_value(json_object_get(image, "hash"));
	json_auto_t *short_hash = json_sprintf("%.*s", SHORT_HASH, hash ? hash : "-");
	const json_t *app;
	size_t i;

	show_value(stdout, json_object_get(image, "name"), 14);
	show_value(stdout, short_hash, SHORT_HASH + 2);
	show_value(stdout, json_object_get(image, "built"), 22);
	printf("%-10zu", json_array_size(json_object_get(image, "packages")));
	json_array_foreach(json_object_get(image, "apps"), i, app) {
		if (i > 0)
			putchar(' ');
		show_value(stdout, json_object_get(app, "name"), 0);
	}
	putchar('\n');
}

static int run_ls(struct cli *cli)
{
	json_auto_t *answer = json_pack("{s:[]}", "images");
	const json_t *image;
	struct err e = {0};
	size_t i;

	if (image_read_manifests(images_folder(&cli->args), json_object_get(answer, "images"), &e))
		return cli_fail(cli, CLI_REFUSED, &e);
	if (cli->json) {
		show_json(answer);
		return CLI_DONE;
	}
	printf("%-14s%-14s%-22s%-10s%s\n", "NAME", "HASH", "BUILT", "PACKAGES", "APPS");
	json_array_foreach(json_object_get(answer, "images"), i, image)
		show_image(image);
	return CLI_DONE;
}

const struct cli_command image_ls = {
	"image ls", "", "list the images of this machine",
	image_options, ARRAY_LEN(image_options), 0, 0, ARGS_MAX, run_ls,
};
