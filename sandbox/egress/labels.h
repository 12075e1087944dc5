/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the warden hands to the glovebox-egress of a session (struct egress_label). Owner: sandbox/egress. No threads. */
#ifndef EGRESS_LABELS_H
#define EGRESS_LABELS_H

#include "sandbox/egress/address.h"
#include "session/base/err.h"
#include "session/warden/proto.h"

/* Descriptors are -1 when they are not there. */
struct labels {
	int listen, stage, keep;
	struct {
		char name[SECRET_NAME_SIZE];
		int fd;
	} secrets[LIMIT_SECRETS];
	size_t n_secrets;
	struct address_list permitted;   /* networks of the operator's own that may be reached where the list names the host */
	uint32_t ceiling;                /* enum warden_egress */
	char session[SESSION_ID_SIZE];
};

/* Waits for all of them, START included, on the channel. -1: the warden is gone, or broke the form. */
int labels_receive(struct labels *labels, int warden_fd, struct err *e);

/* Closes and frees what is still there. */
void labels_finish(struct labels *labels);

/* Reads the operator's settings, lines "permit = PREFIX"; the list is the caller's to free, also after an error. */
int labels_read_settings(const char *text, struct address_list *permitted, struct err *e);

#endif
