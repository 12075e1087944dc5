/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every amount that an outsider controls has its limit here, with its unit in its name.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#define LIMIT_BODY_BYTES (1024 * 1024)        /* one request body */
#define LIMIT_JSON_DEPTH 32                   /* nesting of arrays and objects in a body */
#define LIMIT_FRAME_BYTES (256 * 1024)        /* one frame on the front-stage link; larger bodies go in several */
#define LIMIT_REPLY_BYTES (64 * 1024 * 1024)  /* one reply of a stage that the front relays */
#define LIMIT_ACTIONS 256                     /* actions in one call */
#define LIMIT_TEXT_BYTES (400 * 1024)         /* UTF-8 bytes of one `type` (100,000 characters) */
#define LIMIT_TEXT_CHARS 100000
#define LIMIT_PATH_POINTS 256                 /* points of a drag */
#define LIMIT_WAITING_CALLS 32                /* calls of one session that wait for their turn */
#define LIMIT_CALL_MS 300000                  /* timeout_ms of a call, at most */
#define LIMIT_CALL_DEFAULT_MS 60000
#define LIMIT_X_WAIT_MS 2000                  /* one reply of the X server */
#define LIMIT_X_CONNECT_MS 10000              /* connecting to the X server */
#define LIMIT_X_DEAD_MS 10000                 /* an X server that answers nothing for so long is taken as dead */
#define LIMIT_X_BLOCK_S 5                     /* one call into the X libraries; an alarm ends the process after that */
#define LIMIT_PING_MS 2000                    /* one answer of a window to _NET_WM_PING */
#define LIMIT_START_MS 30000                  /* from create to ready */
#define LIMIT_LAUNCH_MS 30000                 /* from launch to a mapped window */
#define LIMIT_SPAWN_BYTES (96 * 1024)         /* argv, environment and working directory of one command */
#define LIMIT_SPAWN_STRINGS 1024              /* argv and environment entries of one command */
#define LIMIT_EXEC_OUTPUT_BYTES (256 * 1024)  /* stdout, and again stderr, of one exec */
#define LIMIT_EXEC_MS 300000
#define LIMIT_TITLE_BYTES 1024                /* one window title or class */
#define LIMIT_WINDOWS 256                     /* windows in one list */
#define LIMIT_CONNECTIONS 1024                /* HTTP connections in all */
#define LIMIT_REQUEST_MS 30000                /* receiving one request, from its first byte */
#define LIMIT_SESSIONS 64                     /* sessions at once, unless the ceilings say another number */
#define LIMIT_SIDE_MIN_PX 64                  /* side of a display */
#define LIMIT_SIDE_MAX_PX 4096

#endif
