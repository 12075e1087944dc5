/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glovebox-view: serves one viewer of one session. Started by the warden, which hands it everything; it ends with its viewer, its stage or the
 * warden, whichever is first.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "display/view/view.h"
#include "sandbox/confine/confine.h"
#include "session/base/log.h"
#include "session/base/util.h"

static struct view view = {.rfb = VIEW_RFB, .stage = VIEW_STAGE, .taken = VIEW_TAKEN, .pair = {-1, -1}};

static int open_all(struct err *e)
{
	void *segment;

	if (pread(VIEW_START, &view.start, sizeof(view.start), 0) != sizeof(view.start))
		return err_set(e, ERR_INTERNAL, NULL, "the warden did not say how to start");
	segment = mmap(NULL, view_segment_bytes(view.start.max_width_px, view.start.max_height_px), PROT_READ, MAP_SHARED, VIEW_PIXELS, 0);
	if (segment == MAP_FAILED)
		return err_sys(e, "mapping the segment");
	view.segment = segment;
	/* Keys and texts of a person pass here. That the memory cannot be locked is no reason not to serve: nothing of ours swaps. */
	(void)mlock(&view, sizeof(view));
	return 0;
}

int main(void)
{
	struct err e;

	log_init("glovebox-view", NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (confine_enter(&confine_view, &e) < 0 || open_all(&e) < 0) {
		log_err(LOG_ERROR, &e, "start");
		return EXIT_FAILURE;
	}
	if (view_run(&view, &e) < 0)
		log_err(LOG_INFO, &e, "a viewer");
	return EXIT_SUCCESS;
}
