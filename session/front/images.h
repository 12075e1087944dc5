/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The images that sessions can start from: manifests in /images, read anew each time, since an image may be built while the
 * server runs. Owner: session/front. No threads.
 */
#ifndef FRONT_IMAGES_H
#define FRONT_IMAGES_H

#include <jansson.h>

#include "session/base/err.h"

/*
 * Reads `folder`/NAME.json: {"name","hash","apps":[{"name",…}],…}; without its list of packages, which is long. The caller's
 * reference. ERR_NO_IMAGE, with the names that there are and how to build one.
 */
int images_read(const char *folder, const char *name, json_t **manifest, struct err *e);

/* All of them: [{"name","hash","apps":[…]}…] in the order of their names. Those whose manifest is not good are left out, and the
 * root of displays. The caller's reference. */
json_t *images_list(const char *folder);

#endif
