/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image build, image ls: the images folder of this machine; no server is asked. */
#include <stdio.h>

#include "session/base/util.h"
#include "session/cli/commands.h"
static int run_build(struct cli *cli){(void)cli;return 1;}
const struct cli_command image_build = {"image build", "NAME…", "build images", NULL, 0, 1, ARGS_MAX, ARGS_MAX, run_build};
const struct cli_command image_ls = {"image ls", "", "list the images of this machine", NULL, 0, 0, 0, ARGS_MAX, run_build};
