/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stage in a process of its own beside a real X server and window manager; the test is warden, front and pid 1 of the app jail to it.
 * Every function fails the test when something is not as it must be.
 */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include <jansson.h>
#include <sys/un.h>
#include <xcb/xcb.h>

#include "session/base/ipc.h"
#include "tests/x/xserver.h"

#define RIG_WIDTH 640
#define RIG_HEIGHT 400
#define RIG_CALL_MS 15000

/* The body of open: a space of half the display, no apps, a variable SECRET with the value hush. */
#define RIG_SPEC                                                                                                                         \
	"{\"spec\":{\"space\":{\"width\":320,\"height\":200},\"apps\":[],\"env\":{\"SECRET\":\"hush\"}},"                               \
	"\"image\":{\"name\":\"test\",\"hash\":\"00ff\",\"apps\":[]}}"

struct rig {
	struct xserver server;
	pid_t stage;
	int journal_fd, session_fd, pictures_fd, init_fd; /* init_fd: what pid 1 of the app jail has; -1 once it is closed */
	int warden_fd; /* SOCK_SEQPACKET: what the warden has */
	struct sockaddr_un address;
	char folder[32];
	xcb_connection_t *x; /* another client of the display */
	xcb_window_t root;
};

/* For cmocka_unit_test_setup_teardown; *state is the rig. */
int rig_set_up(void **state);
int rig_set_up_full_journal(void **state); /* as much is in the journal as may be */
int rig_set_up_full_pictures(void **state); /* as many pictures as may be */
int rig_tear_down(void **state);

/* A connection of the front; its HELLO is read. */
int rig_connect(struct rig *rig);
/* One, with the session opened and started over it. */
int rig_open(struct rig *rig);

/* The next frame: its bytes, malloced and NUL-terminated. */
char *rig_read_frame(int fd, struct ipc_frame_head *head);
void rig_send_frame(int fd, uint16_t kind, uint16_t flags, const void *data, size_t len);
/* `query` (JSON) and `body` may be NULL. */
void rig_send_call(int fd, const char *name, const char *role, const char *query, const char *body);

struct rig_reply {
	int status;
	json_t *envelope, *json; /* json: of the body, NULL when that is none */
	char *body;
	size_t len;
};

struct rig_reply rig_read_reply(int fd);
void rig_free_reply(struct rig_reply *reply);
struct rig_reply rig_call(int fd, const char *name, const char *role, const char *body);
/* A call that must have this status; its JSON, the caller's reference. */
json_t *rig_expect(int fd, int status, const char *name, const char *role, const char *body);
/* One that must be refused with this code. */
void rig_expect_code(int fd, int status, const char *code, const char *name, const char *role, const char *body);
/* The i-th result of an act's reply; borrowed. */
const json_t *rig_result(const json_t *reply, size_t i);

/* The text of a memory file of the stage's; malloced. */
char *rig_text(int fd);
char *rig_journal(const struct rig *rig);
/* Waits until the journal says `part`. */
void rig_wait_journal(const struct rig *rig, const char *part);

/* What is pressed, as X has it, and where the pointer is (x and y may be NULL). */
uint16_t rig_pointer(struct rig *rig, int *x, int *y);
/* Waits until something is pressed, or nothing is any more. */
void rig_wait_mask(struct rig *rig, bool any);

#endif
