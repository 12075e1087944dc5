/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AT-SPI calls that this program makes, and what comes back made into numbers in range and valid UTF-8. All answers are of apps: hostile.
 * What waits runs in a coroutine. One thread.
 */
#ifndef ACCESS_ATSPI_H
#define ACCESS_ATSPI_H

#include "apps/access/bus.h"
#include "apps/access/nodes.h"
#include "apps/access/wire/proto.h"

#define ATSPI_REGISTRY "org.a11y.atspi.Registry"
#define ATSPI_ROOT "/org/a11y/atspi/accessible/root"
#define ATSPI_ACCESSIBLE "org.a11y.atspi.Accessible"
#define ATSPI_ACTION "org.a11y.atspi.Action"
#define ATSPI_COMPONENT "org.a11y.atspi.Component"
#define ATSPI_DOCUMENT "org.a11y.atspi.Document"
#define ATSPI_EDITABLE "org.a11y.atspi.EditableText"
#define ATSPI_SELECTION "org.a11y.atspi.Selection"
#define ATSPI_TEXT "org.a11y.atspi.Text"
#define ATSPI_VALUE "org.a11y.atspi.Value"

enum atspi_interface {
	HAS_ACTION = 1 << 0, HAS_COMPONENT = 1 << 1, HAS_DOCUMENT = 1 << 2, HAS_EDITABLE = 1 << 3, HAS_SELECTION = 1 << 4, HAS_TEXT = 1 << 5,
	HAS_VALUE = 1 << 6,
};

enum atspi_role {
	ROLE_CHECK_BOX = 7, ROLE_CHECK_MENU_ITEM = 8, ROLE_COMBO_BOX = 11, ROLE_LIST_ITEM = 32, ROLE_MENU_ITEM = 35, ROLE_POPUP_MENU = 41,
	ROLE_RADIO_MENU_ITEM = 45, ROLE_TEAROFF_MENU_ITEM = 59, ROLE_TOOL_TIP = 64, ROLE_PARAGRAPH = 73, ROLE_PAGE_TAB_LIST = 38, ROLE_DIALOG = 16, ROLE_FILLER = 20, ROLE_FRAME = 23, ROLE_LABEL = 29, ROLE_LIST = 31,
	ROLE_MENU = 33, ROLE_PANEL = 39, ROLE_PASSWORD = 40, ROLE_REDUNDANT = 86, ROLE_SCROLL_PANE = 49, ROLE_SEPARATOR = 50,
	ROLE_SPLIT_PANE = 53, ROLE_TERMINAL = 60, ROLE_TEXT = 61, ROLE_UNKNOWN = 67, ROLE_VIEWPORT = 68, ROLE_WINDOW = 69,
	ROLE_DOCUMENT_FRAME = 82, ROLE_ENTRY = 79, ROLE_SECTION = 85, ROLE_DOCUMENT_SPREADSHEET = 92, ROLE_DOCUMENT_EMAIL = 96,
	ROLE_LIST_BOX = 98, ROLE_GROUPING = 99, ROLE_STATIC = 116,
};

/* An app on the accessibility bus. */
struct app {
	struct app *next;
	struct peer peer;
	int pid;            /* as the bus knows it from the kernel, in the app jail; 0 until it was asked */
	bool gone;          /* it left the bus */
	bool gtk4;          /* its places are relative to its windows */
	bool lends_keys;    /* while anybody listens to events it takes each key to the registry and back before it has it (Qt) */
	bool introduced;    /* pid, gtk4 and lends_keys are known */
	bool guessed;       /* the registry has not told of it: its root is where most have it */
	struct ref root;
	struct ref focused; /* what it last said to have the focus */
	uint32_t window;    /* an X window, and the frame that it was found to be without doubt; 0: none */
	struct ref frame;
	char title[LIMIT_NODE_ROLE_BYTES + 1]; /* what it calls itself */
};

/* What is asked about every node. */
struct seen {
	struct app *app;
	struct ref ref;
	uint32_t role;
	uint64_t states;
	uint32_t n_children;
	unsigned int interfaces; /* enum atspi_interface */
	int32_t x, y, width, height; /* as the app says them; 0 by 0 is not known */
	char name[LIMIT_NODE_NAME_BYTES + 1];
};

/* The calls for one of it that are under way. */
struct looking {
	struct call *role, *states, *name, *n_children, *interfaces, *place;
};

static inline bool seen_is(const struct seen *seen, enum access_state state)
{
	return (seen->states & (1ULL << state)) != 0;
}

/* Sends the calls about the node; atspi_look_take waits for them. False: the app did not answer, or the node is not there. */
void atspi_look(struct bus *bus, struct app *app, const struct ref *ref, struct looking *looking);
bool atspi_look_take(struct looking *looking, struct app *app, const struct ref *ref, int64_t deadline_ms, struct seen *out);
void atspi_look_drop(struct looking *looking);

/* Both. */
bool atspi_see(struct bus *bus, struct app *app, const struct ref *ref, int64_t deadline_ms, struct seen *out);

const char *atspi_role_name(uint32_t role);

/* A call without arguments; one to the property of an interface; to be given to atspi_take_… */
struct call *atspi_call(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *member);
struct call *atspi_get(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *property);
struct call *atspi_call_ints(struct bus *bus, struct app *app, const struct ref *ref, const char *interface, const char *member, int n,
                             const int32_t *args);

/* Children of the node: of one with more than LIMIT_TREE_CHILDREN the first ones, `max` at most, each by a call of its own. *out holds
 * LIMIT_TREE_CHILDREN. Returns how many. */
struct children_call {
	bool all; /* one call for all of them */
	uint32_t n;
	struct call *list;
	struct call *each[LIMIT_TREE_CHILDREN];
};
void atspi_children(struct bus *bus, const struct seen *seen, uint32_t max, struct children_call *out);
uint32_t atspi_children_take(struct children_call *calls, const struct app *app, int64_t deadline_ms, struct ref *out);

/* Replies. Each ends the call; false when it is not of that form, or none. */
bool atspi_take_ref(struct call *call, const struct app *app, int64_t deadline_ms, struct ref *out);
bool atspi_take_int(struct call *call, int64_t deadline_ms, int32_t *out);          /* i or u, also in a variant */
bool atspi_take_double(struct call *call, int64_t deadline_ms, double *out);        /* in a variant */
bool atspi_take_bool(struct call *call, int64_t deadline_ms, bool *out);
/* A string, also in a variant: at most max bytes of it, cut between characters. *cut (may be NULL) says that there was more. */
bool atspi_take_text(struct call *call, int64_t deadline_ms, char *out, size_t max, bool *cut);

/* Takes the blanks from both ends of a name: GTK 3 has some in each menu item's, in place of its keys. */
void atspi_trim(char *name);

/* Copies at most max bytes of valid UTF-8, cut between characters. True: all of it. */
bool atspi_copy(char *out, size_t max, const char *text);

/* Takes out what atspi_text_take never gives: U+FFFC, which stands for a child, and blanks at the end. */
void atspi_strip(char *text);

/* What is written in the node, without the marks of embedded objects. At most LIMIT_NODE_TEXT_BYTES. False: nothing. Two rounds of calls:
 * the first is under way when `count` is. */
struct call *atspi_text_count(struct bus *bus, const struct seen *seen);
struct call *atspi_text(struct bus *bus, const struct seen *seen, int32_t count);
bool atspi_text_take(struct call *call, int32_t count, int64_t deadline_ms, char out[LIMIT_NODE_TEXT_BYTES + 1], bool *cut);

/* Names of the actions, one a line; their number. */
int atspi_actions_take(struct call *call, int64_t deadline_ms, char out[LIMIT_NODE_ACTIONS_BYTES + 1]);

#endif
