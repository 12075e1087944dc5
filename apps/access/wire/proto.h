/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the stage and glovebox-access: records on two pipes, built together, so that it has no versions.
 *
 * A record is its length (of what follows), an op and the number of the question, then fields in a fixed order. The stage takes what the
 * helper says as hostile: it runs beside the apps. Integers are in the order of the machine; a text is its length and bytes.
 */
#ifndef WIRE_PROTO_H
#define WIRE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/base/limits.h"

enum access_op {
	/* Stage → helper. All but the first are answered, by ACCESS_NODE and ACCESS_DONE, or by ACCESS_FAILED. */
	ACCESS_FIRST = 1, /* first_id */
	ACCESS_AT,        /* target, x, y: the node there */
	ACCESS_FOCUS,     /* target, which has the keys now: the field that gets them. Of each of these only the last is told of later changes. */
	ACCESS_TREE,      /* target, tree */
	ACCESS_PRESS,     /* id, text: name of the action, or "" */
	ACCESS_SET,       /* id, text: the value */
	ACCESS_GRAB,      /* id: it is to have the focus of its app; whether it has is ACCESS_FOCUS's answer */
	ACCESS_READ,      /* id, text: what was typed into it, for which a moment is waited: the node as it is then */
	ACCESS_PLACE,     /* id: the node with its place as it is now */
	ACCESS_CLIENTS,   /* nothing: a node for each that is on the accessibility bus, with its process alone (0: not known) */
	/* Helper → stage. */
	ACCESS_STATE,     /* text: why there is no accessibility now, or ""; address of its bus */
	ACCESS_FOCUSED,   /* focus; question 0: it has changed */
	ACCESS_NODE,      /* item: one node of the answer */
	ACCESS_DONE,      /* done: the answer is whole */
	ACCESS_FAILED,    /* fault, text */
	ACCESS_N_OPS
};

#define ACCESS_ADDRESS_BYTES 200
#define ACCESS_DEFAULT_ACTION "default"
#define ACCESS_UNTOLD_ACTION "-"

enum access_fault {
	ACCESS_NOT_FOUND, ACCESS_SILENT, ACCESS_REFUSED,
	ACCESS_UNSET, /* the answer to ACCESS_SET: it takes text, but by keys alone */
	ACCESS_SECRET, /* the same: it is a password field */
	ACCESS_N_FAULTS
};

/* States of a node, as AT-SPI numbers them. */
enum access_state {
	STATE_ACTIVE = 1, STATE_BUSY = 3, STATE_CHECKED = 4, STATE_COLLAPSED = 5, STATE_DEFUNCT = 6, STATE_EDITABLE = 7, STATE_ENABLED = 8,
	STATE_EXPANDABLE = 9, STATE_EXPANDED = 10, STATE_FOCUSABLE = 11, STATE_FOCUSED = 12, STATE_MODAL = 16, STATE_MULTI_LINE = 17,
	STATE_PRESSED = 20, STATE_SELECTABLE = 22, STATE_SELECTED = 23, STATE_SENSITIVE = 24, STATE_SHOWING = 25, STATE_VISIBLE = 30,
	STATE_MANAGES_DESCENDANTS = 31, STATE_INDETERMINATE = 32, STATE_REQUIRED = 33, STATE_INVALID_ENTRY = 36, STATE_IS_DEFAULT = 39,
	STATE_VISITED = 40, STATE_CHECKABLE = 41, STATE_HAS_POPUP = 42, STATE_READ_ONLY = 43,
};

/* The X window that a question is about. */
struct access_target {
	uint32_t window;           /* its number, said back */
	int32_t pid;               /* of its X client, in the app jail; 0 asks every app */
	int32_t x, y, width, height; /* of it, in native pixels of the root */
	bool popup;                /* it has no manager: a menu, a tooltip */
	char title[LIMIT_TITLE_BYTES + 1];
};

struct access_tree {
	uint32_t max_nodes, max_depth, timeout_ms;
	bool all; /* also nodes that say nothing */
};

/* A node. */
struct access_item {
	uint32_t id;       /* never of another node */
	uint32_t parent;   /* the id of the one that it hangs on in this answer, or 0 */
	int32_t pid;       /* of its app, as the bus's kernel knowledge says */
	uint64_t states;   /* 1 << enum access_state */
	uint32_t n_children; /* that it says it has; at most INT32_MAX */
	int32_t x, y, width, height; /* native pixels of the root; 0 by 0 is not known */
	bool password, editable, text_cut, has_text;
	char role[LIMIT_NODE_ROLE_BYTES + 1];
	char name[LIMIT_NODE_NAME_BYTES + 1];
	char description[LIMIT_NODE_NAME_BYTES + 1];
	char text[LIMIT_NODE_TEXT_BYTES + 1]; /* or the number that it stands at; never of a password field */
	char actions[LIMIT_NODE_ACTIONS_BYTES + 1]; /* names, one a line */
};

struct access_told {
	bool known, has_node, terminal, prompt;
	bool late; /* not known, because the app has not answered yet */
	uint32_t window;
	int32_t pid;
	struct access_item node;
	char url[LIMIT_NODE_URL_BYTES + 1];
};

struct access_done {
	bool truncated;
	char hung[LIMIT_NODE_NAME_BYTES + 1]; /* apps that were silent, one a line */
};

struct access_record {
	enum access_op op;
	uint32_t question;
	/* As the op says. */
	uint32_t id;
	int32_t x, y;
	enum access_fault fault;
	struct access_target target;
	struct access_tree tree;
	struct access_item item;
	struct access_told focus;
	struct access_done done;
	char text[LIMIT_NODE_VALUE_BYTES + 1];
	char address[ACCESS_ADDRESS_BYTES + 1];
};

#define ACCESS_LENGTH_BYTES 4
#define ACCESS_PLACE_MAX 1000000 /* px: what is further off is nowhere */

/* Writes the record with its length into out (LIMIT_ACCESS_RECORD_BYTES). Returns its bytes. Texts that are no UTF-8 are a programmer's error. */
size_t access_pack(const struct access_record *record, char *out);

/*
 * Reads one record from the front of len bytes. Returns its bytes, 0 when it is not whole yet, or -1 when it breaks the form: unknown op,
 * too long, text that is not UTF-8 or has a NUL, a number out of range, bytes left over.
 */
long access_unpack(const char *bytes, size_t len, struct access_record *record);

#endif
