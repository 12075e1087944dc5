/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the warden says and hears: fixed-size records on SOCK_SEQPACKET, no JSON, nothing of variable length.
 *
 * front → warden: struct warden_request; warden → front: struct warden_event. The warden checks each field as if it were
 * hostile. warden → stage: struct stage_label with its descriptors, on a socket whose reading side the warden has shut.
 * Strings are NUL-terminated and padded with NUL.
 */
#ifndef WARDEN_PROTO_H
#define WARDEN_PROTO_H

#include <stdint.h>

#include "session/base/limits.h"

/* A session's id: "s" and 15 of a-z2-7. It names folders, so nothing else is accepted. */
#define SESSION_ID_LEN 16
#define SESSION_ID_SIZE (SESSION_ID_LEN + 1)
#define IMAGE_NAME_SIZE 64  /* a-z, 0-9 and "-", begins with a letter */
#define IMAGE_HASH_SIZE 65  /* 64 lower-case hex digits */
#define COOKIE_LEN 16       /* MIT-MAGIC-COOKIE-1 */
#define SECRET_NAME_SIZE 32 /* a-z, A-Z, 0-9, "_" and "-", begins with a letter */

/* Descriptors that a child of the warden finds open at its start. */
enum child_fd {
	CHILD_GO = 3,     /* one byte to read before it goes on; end of file: the warden is dead */
	CHILD_WARDEN = 4, /* its channel with the warden (front: both ways; stage and egress of a session: it only receives); egress of webhooks: its link to the
	                     front (sandbox/egress/hook.h) */
	CHILD_CONFIG = 5, /* front: the operator's configuration, a sealed copy in memory; empty if there is none; egress: the file of webhooks */
	CHILD_LISTEN = 5, /* stage: the listening socket run/ID/stage.sock (the front's come with labels) */
};

/* Why a stage ended by itself: what the warden cannot see, since the processes live on. */
enum stage_exit {
	STAGE_EXIT_DISPLAY = 10, /* the display does not answer, or has closed the connection */
	STAGE_EXIT_APPS,         /* pid 1 of the app jail has closed its link */
};

enum warden_op {
	WARDEN_HELLO = 1, /* warden → front, after the labels; front → warden (a request without a session): it serves now, with
	                     certificate and key that it was sent last */
	WARDEN_CREATE,    /* front → warden, answered by the event CREATED or FAILED */
	WARDEN_SEAL,      /* front → warden: the display is up; nothing in its root may be executed from now on; no answer */
	WARDEN_END,       /* front → warden: end the session; answered by ENDED when the last process is gone */
	WARDEN_CREATED,
	WARDEN_FAILED,
	WARDEN_USAGE,     /* front → warden, without a session: what do sessions use? At most every WARDEN_USAGE_MS, else REFUSED */
	WARDEN_USED,      /* its answer: an event for each session that runs, and at last one without a session, for the front itself */
	WARDEN_LABEL,     /* warden → front, first records: what it serves with */
	WARDEN_ENDED,     /* also unasked, with the reason, when a part of the session died; after FAILED, if it was asked for while it started */
	WARDEN_SET_TTL,   /* front → warden: it lives create.ttl_s from now on, the rest of create is zero; answered by DONE or REFUSED */
	WARDEN_DROP_JOURNAL, /* front → warden: the session has ended, and its journal is to go; answered by DONE or REFUSED */
	WARDEN_DONE,
	WARDEN_REFUSED,   /* any request but CREATE that broke a rule: nothing happened */
	WARDEN_ADD_VIEWER,   /* front → warden: somebody watches; answered by VIEWER_ADDED or REFUSED */
	WARDEN_VIEWER_ADDED, /* with one descriptor: a stream of the viewer's RFB. Its end is the end of the viewer, whoever closes it */
	WARDEN_PUT_SECRET,  /* front → warden, a struct warden_secret: store it in place of an older one; answered by DONE or REFUSED */
	WARDEN_DROP_SECRET, /* the same without a value: it is to go; sessions that run keep it */
};

/* Why a session ended (warden_event.reason). */
enum warden_reason {
	WARDEN_ASKED = 1,     /* WARDEN_END */
	WARDEN_DISPLAY_DIED,  /* Xvfb, the window manager or pid 1 of the session */
	WARDEN_APPS_DIED,     /* pid 1 of the app jail */
	WARDEN_STAGE_DIED,
	WARDEN_TTL,           /* the hard end of life */
};

#define WARDEN_USAGE_MS 100

/* What a session may reach outside at most; which hosts, the warden does not know. */
enum warden_egress { EGRESS_NONE, EGRESS_ALLOWLIST, EGRESS_OPEN };

struct warden_create {
	char image[IMAGE_NAME_SIZE];
	char image_hash[IMAGE_HASH_SIZE];
	uint16_t width_px, height_px;         /* the display at start and at most: Xvfb cannot grow */
	uint32_t memory_mb, pids, disk_mb;    /* limits of the app jail; 0 is refused */
	uint32_t inodes, open_files, x_mb;    /* files there can be, descriptors of one process, address space of the X server */
	uint32_t cpu_milli;                   /* thousandths of a CPU */
	char secrets[LIMIT_SECRETS][SECRET_NAME_SIZE]; /* their names, "" behind the last */
	uint32_t ttl_s;                       /* its life; the warden ends it LIMIT_END_MS later, if the front has not */
	uint32_t egress;                      /* enum warden_egress: the widest that it will ever want */
	uint32_t injected;                    /* a bit for each of the secrets: its glovebox-egress gets it, too */
};

/* RFB has it so: DES takes 8 characters. */
#define VIEWER_PASSWORD_SIZE 9

struct warden_viewer {
	uint32_t number;   /* that the stage gave (call `viewer`); 0 is refused */
	uint32_t controls; /* 1: it may ask the stage for input; 0: it has no way to */
	char password[VIEWER_PASSWORD_SIZE]; /* printable ASCII; "": none is asked for */
};

struct warden_request {
	uint32_t op;
	uint32_t tag; /* comes back in the answer */
	char session[SESSION_ID_SIZE];
	struct warden_create create; /* WARDEN_CREATE, and its ttl_s for WARDEN_SET_TTL */
	struct warden_viewer viewer; /* WARDEN_ADD_VIEWER; else zero */
};

/* A stored secret. Nothing that the warden sends has a value in it: only descriptors for stages do. */
struct warden_secret {
	uint32_t op;
	uint32_t tag;
	char name[SECRET_NAME_SIZE];
	uint32_t len; /* 1..LIMIT_SECRET_BYTES; what comes behind it is zero */
	uint8_t value[LIMIT_SECRET_BYTES];
};

/* What the host could give (warden_event.isolation): one bit per layer or limit that is in force. */
enum warden_isolation {
	ISOLATION_MEMORY = 1 << 0,
	ISOLATION_PIDS = 1 << 1,
	ISOLATION_CPU = 1 << 2,
	ISOLATION_DISK = 1 << 3,
	ISOLATION_SWAP_OFF = 1 << 4,
	ISOLATION_FREEZE = 1 << 5,  /* cgroup v2 freeze and kill */
	ISOLATION_SECCOMP = 1 << 6,
	ISOLATION_HANDOVER = 1 << 7, /* Landlock keeps trusted programs from the others */
	ISOLATION_ROOTLESS = 1 << 8, /* a weakness: the server belongs to an ordinary user, and so to that user's other programs */
	ISOLATION_LANDLOCK_PORTS = 1 << 9, /* it keeps the server's own processes from TCP ports */
	ISOLATION_LANDLOCK_SCOPES = 1 << 10, /* and these and trusted programs from signalling others, and from their abstract sockets */
};

/* What the processes of a session, stage and display included, have now, and the processor time that they have used. */
struct warden_usage {
	uint32_t known; /* ISOLATION_MEMORY, ISOLATION_PIDS, ISOLATION_CPU: what the host can tell */
	uint64_t memory_bytes, pids, cpu_usec;
};

struct warden_event {
	uint32_t op;
	uint32_t tag;
	char session[SESSION_ID_SIZE];
	struct warden_usage usage; /* of USED */
	uint32_t reason;    /* enum warden_reason, of ENDED */
	uint32_t code;      /* enum err_code, of FAILED and REFUSED */
	uint32_t isolation; /* of CREATED */
	char path[32];      /* of both: JSON pointer of the spec's field at fault, or "" */
	char detail[160];   /* one line for the log and, of both, for the caller (no host path, no errno text) */
};

/* WARDEN_LABEL: what the front serves with. Each comes with exactly one descriptor but FRONT_HOST. */
enum front_label_kind {
	FRONT_LISTENER = 1, /* a listening socket; `text` is "http://127.0.0.1:7070", "https://…" or "unix:/path" */
	FRONT_CERTIFICATE,  /* a file, to be read from its beginning whatever the offset: the front may be started again; `text` may be FRONT_PROVEN */
	FRONT_KEY,          /* the same */
	FRONT_HOST,         /* no descriptor: a name that Host may say, as the operator gave it */
	FRONT_HOOKS,        /* SOCK_SEQPACKET to glovebox-egress (sandbox/egress/hook.h); not sent when there are no webhooks */
};

#define FRONT_PROVEN "proven" /* a front has served with it: its dates do not matter any more */

struct front_label {
	uint32_t op;
	uint32_t kind;
	char text[264];
};

/* WARDEN_HELLO: what the front must know; sent once, when all labels are. */
struct warden_hello {
	uint32_t op;
	uint32_t max_sessions;
	uint32_t request_ms; /* how long a request may take to arrive */
	uint8_t operator_token_sha256[32];
	uint32_t restarts;   /* of the front, since the warden started */
	uint8_t code_sha256[32]; /* the one-use code of the console printed at start; zero if none */
};

/* Labels of what the warden hands to a stage. Each comes with exactly one descriptor but START and VIEWER. */
enum stage_label_kind {
	STAGE_INIT = 1,     /* SOCK_SEQPACKET to pid 1 of the app jail (apps/init/proto.h) */
	STAGE_JOURNAL,      /* journal.jsonl, write-only, O_APPEND */
	STAGE_SESSION_JSON, /* session.json, write-only, O_APPEND */
	STAGE_PROC,         /* root of a read-only proc of the session's pid namespace (directory descriptor) */
	STAGE_SWITCH,       /* a directory-less switch file, open for writing; `name` is jail/freeze (all of the app jail), apps/freeze,
	                       apps/kill, agent/freeze or agent/kill; and jail/events and agent/events, open for reading, which say
	                       whether these stand still; none without ISOLATION_FREEZE */
	STAGE_PICTURES,     /* the file of its pictures, write-only, O_APPEND */
	STAGE_SECRET,       /* a stored secret that the session's spec names: sealed memory, read-only; `name` is its name */
	STAGE_START,        /* no descriptor: all is handed over; cookie and sizes are filled in */
	STAGE_METER,        /* before START: a file that counts what the session uses, read-only; `name` is a row of session/stage/meters.c */
	STAGE_VIEWER,       /* after START, whenever somebody watches: `viewer` and `controls`, and the descriptors of enum viewer_end */
	STAGE_EGRESS,       /* SOCK_STREAM to the session's glovebox-egress (sandbox/egress/link.h); again after START for each that is started in its place; none
	                       when the session has no way out */
};

/* What comes with STAGE_VIEWER (display/view/proto.h says what goes over them). */
enum viewer_end {
	VIEWER_SOCKET, /* SOCK_SEQPACKET to the view; of one without controls the direction to the stage is shut */
	VIEWER_PIXELS, /* its segment, to write */
	VIEWER_TAKEN,  /* an eventfd: the view has taken what was published last */
	N_VIEWER_ENDS,
};

struct stage_label {
	uint32_t kind;
	char name[32];
	char session[SESSION_ID_SIZE];
	uint8_t cookie[COOKIE_LEN];        /* trusted MIT-MAGIC-COOKIE-1 of the display :0, socket /tmp/.X11-unix/X0 */
	uint16_t width_px, height_px;
	int32_t apps_pid;                  /* pid of the app jail's init in the session's pid namespace */
	uint32_t trusted;                  /* the gid of the host that trusted apps have */
	uint32_t viewer, controls;         /* as in struct warden_viewer */
};

/* Labels of what the warden hands to the glovebox-egress of a session. Each comes with exactly one descriptor but START, which is the last. */
enum egress_label_kind {
	EGRESS_LISTEN = 1, /* a listening SOCK_STREAM: /run/egress/proxy.sock of the app jail */
	EGRESS_STAGE,      /* SOCK_STREAM to the session's stage (sandbox/egress/link.h) */
	EGRESS_SECRET,     /* a stored secret that is put into requests (warden_create.injected): sealed memory, read-only; `name` is its name */
	EGRESS_KEEP,       /* EGRESS_KEEP_BYTES of memory that outlive a process: zero at first, then what the one before has written there */
	EGRESS_SETTINGS,   /* sealed memory: text of the operator's, a line "permit = PREFIX" for each network of its own that may be reached */
	EGRESS_START,      /* no descriptor: all is handed over; `ceiling` and `session` are filled in */
};

#define EGRESS_KEEP_BYTES (64 * 1024)

struct egress_label {
	uint32_t kind;
	uint32_t ceiling; /* enum warden_egress: a wider policy is none */
	char name[SECRET_NAME_SIZE];
	char session[SESSION_ID_SIZE];
};

#endif
