/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between a session's stage and its glovebox-egress: frames of session/base/ipc.h on a SOCK_STREAM socketpair that the warden made, each
 * of a kind from below, with a JSON object. A policy may be longer than a frame: then each of its frames but the last has the flag EGRESS_MORE. Each end takes the other's words as hostile. None of it has
 * content, a query of a URL or credentials.
 */
#ifndef EGRESS_LINK_H
#define EGRESS_LINK_H

enum egress_link_kind {
	/* stage → egress: {"mode":"none|allowlist|open","allow":[ENTRY…],"caps":{"connections":N,"bytes_s":N,"bytes":N},"ask":BOOL,"inject":[…],"cut":BOOL}
	 * stands in place of the one before; until the first has come everything is refused. "ask": what the list lets through is asked about before a
	 * first connection to a host and port. "cut": connections made under the former policy are closed. A cap of 0 is none. */
	EGRESS_POLICY = 1,
	/* stage → egress: {"id":N,"allow":BOOL,"session":BOOL} answers an ASK; "session": the same host and port are not asked about again */
	EGRESS_VERDICT,
	/* egress → stage: {"id":N,"host":TEXT,"port":N,"method":TEXT}: the connection is parked until its verdict, or EGRESS_ASK_MS */
	EGRESS_ASK,
	/* egress → stage: {"verdict":"allow|deny|ask","host":TEXT,"port":N,"method":TEXT,"rule":TEXT,"address":TEXT,"reason":TEXT,"secret":TEXT}: host is "" and
	 * port 0 where a request has none, the others are there where there are any; each text has at most 300 bytes */
	EGRESS_DECISION,
	/* egress → stage: {"host":TEXT,"port":N,"up":BYTES,"down":BYTES,"ms":N} */
	EGRESS_CLOSED,
	/* egress → stage: {"connections":N,"up":N,"down":N,"allowed":N,"denied":N}: open now, and totals of this process; at most once a second, when
	 * they changed */
	EGRESS_USAGE,
	/* egress → stage: {"ready":true,"ca":BOOL}: the policy that was sent last is in force; "ca": the files of its certificate are there */
	EGRESS_READY,
	/* egress → stage: {"id":N}: nobody waits for the verdict on this ASK any more */
	EGRESS_LEFT,
};

enum egress_link_flag {
	EGRESS_MORE = 1, /* the object goes on in the next frame of this kind; all of it at most LIMIT_EGRESS_POLICY_BYTES */
};

#define EGRESS_ASK_MS 60000

/* What the reason of a DECISION begins with that cut an answer; the secret's name follows. */
#define EGRESS_RETURNED "the response held the secret "

#endif
