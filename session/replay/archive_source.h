/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as libzip takes them. Owner: session/replay. No threads. */
#ifndef REPLAY_ARCHIVE_SOURCE_H
#define REPLAY_ARCHIVE_SOURCE_H

#include <zip.h>

#include "session/replay/source.h"

/* `content` for libzip, which is borrowed: it must outlive what it is given to. *budget (NULL: no bound) is how many bytes of it may still be read. */
zip_source_t *archive_source(const struct source *content, uint64_t *budget);

#endif
