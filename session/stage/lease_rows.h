/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lease as a state machine: who holds the controls, what happens, who holds them then. What has no row is refused. The table of docs/people.md is made
 * of these rows. Owner: the stage.
 */
#ifndef STAGE_LEASE_ROWS_H
#define STAGE_LEASE_ROWS_H

enum lease_holder { LEASE_AGENT, LEASE_HUMAN, LEASE_NOBODY, LEASE_N_HOLDERS };

enum lease_event {
	LEASE_ASK,      /* the action request_human */
	LEASE_DEMAND,   /* a policy wants a person */
	LEASE_TAKE,     /* a person presses Take over */
	LEASE_GIVE,     /* a person gives them back */
	LEASE_EXTEND,   /* a person needs more time */
	LEASE_CLEAR,    /* the operator, or who made the session */
	LEASE_LOSE,     /* the viewer of the person is gone */
	LEASE_COME,     /* a viewer of the person is there (again) */
	LEASE_RUN_OUT,  /* the countdown is over */
	LEASE_WITHDRAW, /* the agent does not ask any more, or its time limit is reached */
	LEASE_REVOKE,   /* the person's token is revoked */
	LEASE_N_EVENTS
};

enum lease_effect {
	LEASE_EPOCH = 1 << 0,   /* epoch + 1 */
	LEASE_STOP = 1 << 1,    /* the call that runs is stopped */
	LEASE_RELEASE = 1 << 2, /* keys and buttons are let go of */
	LEASE_HOLD = 1 << 3,    /* a hold begins: the agent's own processes stand still, clipboards are not carried, nothing is recorded */
	LEASE_FREE = 1 << 4,    /* it ends: they go on, and the agent must look before it acts */
	LEASE_RENEW = 1 << 5,   /* the countdown of an idle person begins anew */
	LEASE_LOSS = 1 << 6,    /* that of a lost viewer begins */
	LEASE_RETURN = 1 << 7,  /* that of on_lost begins, if the spec has one */
};

/* from, event, to, effects (without LEASE_), and in words what the effects do not say. */
#define LEASE_ROWS(X)                                                                                                                       \
	X(AGENT, ASK, NOBODY, EPOCH | STOP | RELEASE | HOLD, "the call that asks is not stopped itself")                                    \
	X(AGENT, DEMAND, NOBODY, EPOCH | STOP | RELEASE | HOLD, "")                                                                         \
	X(AGENT, TAKE, HUMAN, EPOCH | STOP | RELEASE | HOLD | RENEW, "of kind login the agent's processes are ended, unless they are kept") \
	X(HUMAN, TAKE, HUMAN, RENEW, "by the same person alone: with another viewer, or to share the picture")                              \
	X(HUMAN, GIVE, AGENT, EPOCH | RELEASE | FREE, "by the holder alone")                                                                \
	X(HUMAN, EXTEND, HUMAN, RENEW, "by the holder alone")                                                                               \
	X(HUMAN, CLEAR, NOBODY, EPOCH | RELEASE, "")                                                                                        \
	X(HUMAN, LOSE, HUMAN, RELEASE | LOSS, "")                                                                                           \
	X(HUMAN, COME, HUMAN, RENEW, "with a token of the holder")                                                                          \
	X(HUMAN, RUN_OUT, NOBODY, EPOCH | RELEASE | RETURN, "")                                                                             \
	X(HUMAN, REVOKE, NOBODY, EPOCH | RELEASE, "")                                                                                       \
	X(NOBODY, TAKE, HUMAN, EPOCH | RENEW, "as from the agent")                                                                          \
	X(NOBODY, GIVE, AGENT, EPOCH | FREE, "")                                                                                            \
	X(NOBODY, CLEAR, AGENT, EPOCH | FREE, "")                                                                                           \
	X(NOBODY, WITHDRAW, AGENT, EPOCH | FREE, "by the agent that asked, as long as no person has come")                                  \
	X(NOBODY, RUN_OUT, AGENT, EPOCH | FREE, "with on_lost of the spec alone")

struct lease_row {
	enum lease_holder from;
	enum lease_event event;
	enum lease_holder to;
	unsigned int effects; /* enum lease_effect */
};

/* NULL: this is refused. */
const struct lease_row *lease_row(enum lease_holder from, enum lease_event event);

/* Words of the API: "agent", "human", "nobody"; "ask", "take", …. */
const char *lease_holder_name(enum lease_holder holder);
const char *lease_event_name(enum lease_event event);

#endif
