/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands, a row each, defined in the file that does their work. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "session/cli/cli.h"

extern const struct cli_command session_new, session_show, session_rm;             /* session.c */
extern const struct cli_command session_pause, session_resume;                     /* session.c */
extern const struct cli_command ls_sessions;                                       /* ls.c */
extern const struct cli_command set_session;                                       /* set.c */
extern const struct cli_command grant_make, grant_ls, grant_revoke;                /* grant.c */
extern const struct cli_command shot_take;                                         /* shot.c */
extern const struct cli_command act_send;                                          /* act.c */
extern const struct cli_command exec_run;                                          /* exec.c */
extern const struct cli_command image_build, image_ls;                             /* image.c */
extern const struct cli_command token_make;                                        /* token.c */
extern const struct cli_command doctor_look;                                       /* doctor.c */

/* The manifests of an images folder, added to an array in the order of their names; a folder that is not there has none. ERR_BAD_REQUEST. */
int image_read_manifests(const char *folder, json_t *images, struct err *e);

#endif
