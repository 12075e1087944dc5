/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage's end of glovebox-files (apps/files), which is started for one call and ends with it. What it says is taken as hostile: a frame that breaks its form
 * ends it. One thread; in coroutines.
 */
#ifndef APPS_FILES_H
#define APPS_FILES_H

#include "apps/apps.h"
#include "apps/files/proto.h"

struct process;

struct files_helper {
	struct process *process;
	struct co_event changed;
	/* The frame that was read last. */
	struct files_head head;
	char data[FILES_DATA_BYTES + 1]; /* a NUL behind its bytes */
};

/* Starts it: `verb`, and arguments that end in NULL. Errors: those of spawner_start. */
int files_start(struct files_helper *helper, struct apps *apps, const char *const *argv, int64_t deadline_ms, struct err *e);

/* Reads the next frame. A FAULT is an error as its row says. Errors: ERR_TIMEOUT, ERR_CANCELLED, ERR_SESSION_FAILED when it ended or broke the form. */
int files_receive(struct files_helper *helper, int64_t deadline_ms, struct err *e);

/* The same, of a frame that must be of this kind and begin with so many bytes, which are copied. */
int files_expect(struct files_helper *helper, enum files_op op, void *head, size_t head_len, int64_t deadline_ms, struct err *e);

/* Sends one frame of at most FILES_DATA_BYTES. When it has ended, the error is what it said before. */
int files_send(struct files_helper *helper, enum files_op op, const void *data, size_t len, int64_t deadline_ms, struct err *e);

/* No more words: it ends by itself, and undoes what is not whole; if not, it is killed. Waits, also when cancelled. */
void files_finish(struct files_helper *helper);

#endif
