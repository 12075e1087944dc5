/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands, a row each, defined in the file that does their work. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "session/cli/cli.h"

extern const struct cli_command session_new, session_show, session_rm;             /* session.c */
extern const struct cli_command session_pause, session_resume;                     /* session.c */
extern const struct cli_command mcp_serve;                                         /* mcp.c */
extern const struct cli_command ls_sessions;                                       /* ls.c */
extern const struct cli_command cp_file;                                           /* cp.c */
extern const struct cli_command workspace_get;                                     /* workspace.c */
extern const struct cli_command lease_command;                                     /* lease.c */
extern const struct cli_command set_session;                                       /* set.c */
extern const struct cli_command grant_make, grant_ls, grant_revoke;                /* grant.c */
extern const struct cli_command view_open;                                         /* view.c */
extern const struct cli_command approvals_ls, approvals_show, approvals_allow, approvals_deny, approvals_rules; /* approvals.c */
extern const struct cli_command secret_put, secret_ls, secret_rm;                  /* secret.c */
extern const struct cli_command shot_take;                                         /* shot.c */
extern const struct cli_command act_send;                                          /* act.c */
extern const struct cli_command run_file;                                          /* run.c */
extern const struct cli_command replay_journal;                                    /* replay.c */
extern const struct cli_command export_journal;                                    /* export.c */
extern const struct cli_command exec_run;                                          /* exec.c */
extern const struct cli_command image_build, image_ls;                             /* image.c */
extern const struct cli_command limits_suggest;                                    /* limits.c */
extern const struct cli_command top_show;                                          /* top.c */
extern const struct cli_command token_make;                                        /* token.c */
extern const struct cli_command doctor_look;                                       /* doctor.c */
extern const struct cli_command selftest_run;                                      /* selftest.c */

/* Options of a command that makes sessions: rows of its table. */
#define SESSION_SPEC_OPTIONS                                                                                                          \
	{"spec", 0, "FILE", false, "start from this session spec (JSON; - is standard input); the other options go over it"},         \
	{"image", 0, "NAME", false, "the image to start from"},                                                                       \
	{"app", 0, "NAME", true, "start this app of the image's catalogue and wait for its window"},                                  \
	{"size", 0, "WxH", false, "pixels of the display"},                                                                           \
	{"max-size", 0, "WxH", false, "the most that it can be resized to; as --size if not given"},                                  \
	{"label", 0, "K=V", true, "a label, shown by ls and show"},                                                                   \
	{"env", 0, "K=V", true, "an environment variable of apps and commands"},                                                      \
	{"egress", 0, "MODE", false, "what its programs may reach outside: none, allowlist or open"},                                 \
	{"allow", 0, "HOST[:PORT]", true, "let them reach this host, or with *.SUFFIX all below it; the mode is allowlist then"},     \
	{"ttl", 0, "SECONDS", false, "end the session after this time at the latest"},                                                \
	{"idle", 0, "SECONDS", false, "end it when no agent called for so long; 0: never"}

/* The spec that these options say; the caller's reference. ERR_BAD_REQUEST and what json_parse refuses. */
int session_read_spec(const struct args *args, json_t **out, struct err *e);

/* The manifests of an images folder, added to an array in the order of their names; a folder that is not there has none. ERR_BAD_REQUEST. */
int image_read_manifests(const char *folder, json_t *images, struct err *e);

/* Puts the size that an option says, if it was given, into "display" of a spec as its members `sides`. ERR_BAD_REQUEST. */
int session_put_size(json_t *spec, const struct args *args, const char *option, const char *const sides[2], struct err *e);

/* Puts the options image, app, size, max-size, label, env, ttl and idle, those of them that were given, over a spec. ERR_BAD_REQUEST. */
int session_put_options(json_t *spec, const struct args *args, struct err *e);

#endif
