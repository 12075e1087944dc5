/* SPDX-License-Identifier: GPL-2.0-or-later */
/* token: a new token for a key of the configuration; no server is asked. */
#include <stdint.h>
#include <string.h>

#include "session/base/hash.h"
#include "session/base/secret.h"
#include "session/base/util.h"
#include "session/cli/commands.h"
#include "session/cli/show.h"

static int run_token(struct cli *cli)
{
	char *token = secret_new_token(args_get(&cli->args, "operator") ? "gbo_" : "gbk_");
	uint8_t hash[HASH_BYTES];
	char hex[2 * HASH_BYTES + 1];

	hash_sha256(token, strlen(token), hash);
	util_hex(hex, hash, sizeof(hash));
	if (cli->json) {
		json_auto_t *answer = json_pack("{s:s, s:s}", "token", token, "token_sha256", hex);

		show_json(answer);
	} else {
		printf("token         %s\ntoken_sha256  %s\n", token, hex);
	}
	secret_wipe(token);
	return CLI_DONE;
}

static const struct arg_option token_options[] = {
	{"operator", 0, NULL, false, "for a key with the role operator; else for an owner's"},
};

const struct cli_command token_make = {
	"token", "[--operator]", "make a new token, and what the configuration of gloveboxd must say of it",
	token_options, ARRAY_LEN(token_options), 0, 0, ARGS_MAX, run_token,
};
