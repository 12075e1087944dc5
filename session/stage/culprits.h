/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of a session that take from all others what these need (the display, the kernel's time). Which of them it is nobody can tell for
 * sure, so they are ended by whom they belong to, those that are most likely first. Owner: the stage. One thread.
 */
#ifndef STAGE_CULPRITS_H
#define STAGE_CULPRITS_H

struct stage;

enum culprits {
	CULPRITS_AGENT, /* what the agent started by commands, and all that came of it */
	CULPRITS_APPS,  /* the apps as well */
	N_CULPRITS
};

/* "agent", "apps": the names in journal lines. */
const char *culprits_name(enum culprits whose);

/* Kills them, and counts it as an alarm. Waits for nothing. */
void culprits_end(struct stage *stage, enum culprits whose);

#endif
