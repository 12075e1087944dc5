/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every amount that an outsider controls has its limit here, with its unit in its name.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#define LIMIT_BODY_BYTES (1024 * 1024)        /* one request body */
#define LIMIT_ACT_BODY_BYTES (16 * 1024 * 1024) /* the same of an act: a clipboard of 5 MiB as HTML and as text, or in Base64, or escaped */
#define LIMIT_ACT_VALUES 524288               /* values in it: as many as LIMIT_BODY_BYTES hold */
#define LIMIT_ACT_BODIES_BYTES (64 * 1024 * 1024) /* bodies of calls that a stage has at once */
#define LIMIT_PUBLIC_BODY_BYTES 4096          /* the same where no token is needed */
#define LIMIT_JSON_DEPTH 32                   /* nesting of arrays and objects in a body */
#define LIMIT_FRAME_BYTES (256 * 1024)        /* one frame on the front-stage link; larger bodies go in several */
#define LIMIT_REPLY_BYTES (64 * 1024 * 1024)  /* one reply of a stage that the front relays */
#define LIMIT_ACTIONS 256                     /* actions in one call */
#define LIMIT_TEXT_BYTES (400 * 1024)         /* UTF-8 bytes of one `type` (100,000 characters) */
#define LIMIT_TEXT_CHARS 100000
#define LIMIT_CHORD_KEYS 8                    /* keys that are pressed together */
#define LIMIT_CHORD_BYTES 200                 /* their names in one string */
#define LIMIT_ACT_REPLY_BYTES (16 * 1024 * 1024) /* results of one call, pictures and output in them included */
#define LIMIT_WAIT_MS 60000                   /* one `wait` */
#define LIMIT_MASKS 16                        /* rectangles of an observation whose changes do not count */
#define LIMIT_SECRET_BYTES 4096               /* value of a stored secret */
#define LIMIT_SECRETS 16                      /* of one session */
#define LIMIT_STORED_SECRETS 256              /* of the server */
#define LIMIT_BLANKS 16                       /* places of the screen that no picture shows */
#define LIMIT_CHANGED 16                      /* rectangles of what has changed, in one observation */
#define LIMIT_SEEN_TOKENS 64                  /* tokens of a session whose last picture is known */
#define LIMIT_REASON_BYTES 1200                /* why an agent asks for a person, and what that says, also with a no: 300 characters */
#define LIMIT_HOLD_IDLE_MS 900000             /* a person who holds the controls does nothing */
#define LIMIT_VIEWER_LOST_MS 30000            /* the person's viewer may come back */
#define LIMIT_WARN_MS 60000                   /* before either of them, or the session, ends a person is told */
#define LIMIT_LEASE_WAITS 16                  /* long polls of the lease of one session */
#define LIMIT_FRAME 9007199254740991          /* number of a frame that a caller can name */
#define LIMIT_QUIET_MS 10000                  /* quiet_ms of an observation, at most */
#define LIMIT_FAULTS 16                       /* faults that one refusal lists */
#define LIMIT_STAGE_FREED_BYTES (16 * 1024 * 1024) /* memory that a stage keeps for the next picture */
#define LIMIT_FRONT_FREED_BYTES (16 * 1024 * 1024) /* and the front for the next reply */
#define LIMIT_STAGE_QUEUED_BYTES (64 * 1024 * 1024) /* answers that callers have not read; beyond it no more are made */
#define LIMIT_STAGE_CONNECTIONS 64            /* connections that a stage accepts at once */
#define LIMIT_PATH_POINTS 256                 /* points of a drag */
#define LIMIT_WAITING_CALLS 32                /* calls of one session that wait for their turn */
#define LIMIT_CREATE_KEYS 100000              /* of creates, of the whole server */
#define LIMIT_CREATE_KEY_MS 86400000          /* for so long */
#define LIMIT_EVENTS 1024                     /* of a session, kept for readers that come back */
#define LIMIT_EVENT_BYTES 8192                /* data of one, beyond which its action is named alone */
#define LIMIT_EVENT_HEARTBEAT_MS 15000        /* without an event, a comment */
#define LIMIT_LAST_EVENT_MS 500               /* for readers to take the last one, before the processes of the session are killed */
#define LIMIT_VIEWERS 16                      /* who watch one session by RFB, at once */
#define LIMIT_VIEWER_MS 40000                 /* a number that was given to one who does not come */
#define LIMIT_VIEW_EVERY_MS 20                /* what changes on the screen is published to a viewer no more often */
#define LIMIT_CUT_BYTES (256 * 1024)          /* text of a clipboard between a viewer and its session */
#define LIMIT_STREAMS 16                      /* readers of streams of one session */
#define LIMIT_STREAMS_IN_ALL 512              /* and of all sessions: other requests need connections, too */
#define LIMIT_STREAM_QUEUED_BYTES (64 * 1024) /* that one of them has not taken, in the stage and again in the front; beyond it nothing more is sent to it */
#define LIMIT_STREAM_BUFFER_BYTES (16 * 1024) /* in the kernel, that could still be sent to it: what waits there is old when it is read */
#define LIMIT_STREAM_FRAMES_BYTES (64 * 1024 * 1024) /* large frames that the readers of one session have not taken; beyond it no more are made */
#define LIMIT_STREAM_SMALL_BYTES (9 * 1024 * 1024) /* one that is not large: 1920x1080 in any format, in Base64 */
#define LIMIT_FPS 60                          /* frames in a second of a stream of the picture */
#define LIMIT_KEY_CHARS 255                   /* an Idempotency-Key */
#define LIMIT_KEYS 100000                     /* of them in one session */
#define LIMIT_RESULTS 1024                    /* keys whose results are kept */
#define LIMIT_RESULTS_BYTES (8 * 1024 * 1024) /* all of these results */
#define LIMIT_RESULTS_MS 600000               /* for so long */
#define LIMIT_CALL_MS 300000                  /* timeout_ms of a call, at most */
#define LIMIT_CALL_DEFAULT_MS 60000
#define LIMIT_COMING_BYTES (256 * 1024)       /* of a body that is taken as it comes: kept in the front, and again in the stage */
#define LIMIT_FILE_CALLS 4                    /* calls for files of one session that run at once */
#define LIMIT_FILE_STEP_MS 30000              /* the next word of the helper that serves one, or of its caller */
#define LIMIT_REFUSED_BODY_MS 1000            /* nothing comes of a body that is refused: the answer goes out without its end */
#define LIMIT_FILE_READER_MS 60000            /* whoever fetches one takes nothing of it */
#define LIMIT_FILE_SCAN_MS 300000             /* reading a file through before it is sent */
#define LIMIT_UPLOAD_BYTES (1LL << 37)        /* body of an upload; what a session may have is less */
#define LIMIT_MCP_CALLS 64                    /* requests of an MCP client on standard input that run at once */
#define LIMIT_MCP_END_MS 1000                 /* from the end of its input, for answers that are under way */
#define LIMIT_X_WAIT_MS 2000                  /* one reply of the X server */
#define LIMIT_X_EXTRA_MS 200                  /* so much more where this process did not run meanwhile, which so much says */
#define LIMIT_X_CONNECT_MS 10000              /* connecting to the X server */
#define LIMIT_X_DEAD_MS 10000                 /* an X server that answers nothing for so long is taken as dead */
#define LIMIT_X_BLOCK_S 5                     /* one call into the X libraries; an alarm ends the process after that */
#define LIMIT_FAILED_MS 3000                  /* a stage that has failed says so for so long, then it ends */
#define LIMIT_PING_MS 2000                    /* one answer of a window to _NET_WM_PING */
#define LIMIT_READ_MS 5                       /* and more for each character that it may not have read yet, */
#define LIMIT_DRAIN_MS 60000                  /* but not longer than this */
#define LIMIT_SLOTS_MS 3000                   /* spare keys keep their symbols for a window that cannot say what it has read */
#define LIMIT_RESIZE_MS 3000                  /* from another size of the display until window manager and windows have followed */
#define LIMIT_RESTORE_MS 100                  /* between two times that the display gets its size back from a program that took it */
#define LIMIT_WM_MS 250                       /* the window manager taking note of a press of a button */
#define LIMIT_NO_PING_MS 50                   /* what a window without _NET_WM_PING gets to read a new keyboard map */
#define LIMIT_SELECTION_FORMATS 32            /* in which the content of a selection is kept */
#define LIMIT_SELECTION_BYTES (8 * 1024 * 1024) /* of all of them */
#define LIMIT_SELECTION_MS 1000               /* reading all of them from their owner */
#define LIMIT_SELECTION_ANSWER_MS 800         /* its answer to one question, or its next piece */
#define LIMIT_SELECTION_STALE_BYTES (32 * 1024 * 1024) /* what has been replaced and is still being fetched */
#define LIMIT_CLIPBOARD_BYTES (5 * 1024 * 1024) /* text, HTML or PNG of a clipboard, each */
#define LIMIT_CLIPBOARD_BASE64_BYTES ((LIMIT_CLIPBOARD_BYTES + 2) / 3 * 4) /* a PNG of it in a body */
#define LIMIT_CLIPBOARD_MS 5000               /* reading one of them from an owner that goes on answering */
#define LIMIT_COPY_MS 500                     /* an app having what it was told to copy */
#define LIMIT_CARRY_MS 1000                   /* carrying one from an untrusted app to trusted ones */
#define LIMIT_CARRY_EVERY_MS 100              /* and the next one not before */
#define LIMIT_CARRY_HURRY_MS 10000            /* keys do not wait for a carry for so long after an owner that did not answer */
#define LIMIT_CLIPBOARD_SIDE_PX 16384         /* a PNG of it */
#define LIMIT_CLIPBOARD_PIXELS (32 * 1024 * 1024)
#define LIMIT_SELECTION_REQUESTS 32           /* of other clients that are served at once */
#define LIMIT_SECRET_TYPED_MS 2000            /* that typing a stored secret takes, unless it is very long */
#define LIMIT_SELECTION_STEP_MS 5000          /* a client taking one piece of what is served */
#define SELECTION_PIECE_BYTES (24 * 1024)     /* less than may be sent without waiting */
#define LIMIT_PASTE_MS 3000                   /* from the keys that paste, or the last question, to the next question or the text */
#define LIMIT_PASTE_ALL_MS 20000              /* from the keys that paste until the text is fetched */
#define LIMIT_START_MS 30000                  /* from create to ready */
#define LIMIT_LAUNCH_MS 30000                 /* from launch to a mapped window */
#define LIMIT_SPAWN_BYTES (96 * 1024)         /* argv, environment and working directory of one command */
#define LIMIT_SPAWN_STRINGS 1024              /* argv and environment entries of one command */
#define LIMIT_EXEC_OUTPUT_BYTES (256 * 1024)  /* stdout, and again stderr, of one exec */
#define LIMIT_EXEC_MS 300000
#define LIMIT_CHILDREN 1024                   /* programs that init runs for the stage at once */
#define LIMIT_KILL_MS 2000                    /* from SIGKILL to the report that a program is gone */
#define LIMIT_LAUNCH_ARGS 16                  /* arguments of one launch */
#define LIMIT_LAUNCH_ARG_BYTES 4096           /* one of them */
#define LIMIT_PROGRAMS 32                     /* names of the agent's programs that a person is told */
#define LIMIT_LAUNCHED 64                     /* launched programs of a session that run at once */
#define LIMIT_DOOR 8                          /* calls of glovebox-launch that wait at once */
#define LIMIT_DOOR_MS 5000                    /* from its connection to the name */
#define LIMIT_RELAYED 256                     /* connections of the app jail to its way out at once */
#define LIMIT_PARKED 32                      /* connections that wait for one answer of a person */
#define LIMIT_EGRESS_LIST_BYTES (768 * 1024)  /* an allow list as JSON: with all else it is less than LIMIT_EGRESS_POLICY_BYTES */
#define LIMIT_EGRESS_BYTES (1LL << 50)        /* the highest cap of bytes that a spec can have */
#define LIMIT_STDERR_TAIL_BYTES 1000          /* what is shown of the output of an app that failed */
#define LIMIT_TITLE_BYTES 1024                /* one window title or class */
#define LIMIT_WINDOWS 256                     /* windows in one list */
#define LIMIT_POPUPS 64                       /* menus and the like, beside them */
#define LIMIT_PART_WINDOWS 64                 /* a window, its menus and its dialogs in one picture */
#define LIMIT_PART_RECTS 1024                 /* rectangles into which what is seen of them falls; the rest is left out of the picture */
#define LIMIT_TOPS 4096                       /* children of the root, from the top, that are looked at for what lies over what */
#define LIMIT_PIECES 256                      /* rectangles into which what is seen of a window falls; more count as covered */
#define LIMIT_NODE_ROLE_BYTES 48              /* an accessible node: its role */
#define LIMIT_NODE_NAME_BYTES 512             /* its name; a description is as long */
#define LIMIT_NODE_TEXT_BYTES 2000            /* what is written in it */
#define LIMIT_NODE_ACTIONS_BYTES 200          /* names of what can be done with it */
#define LIMIT_NODE_PATH_BYTES 255             /* how D-Bus calls it */
#define LIMIT_NODE_URL_BYTES 2048             /* address of the page that it is in */
#define LIMIT_NODE_VALUE_BYTES 16384          /* what is set in one */
#define LIMIT_TREE_NODES 5000                 /* nodes of one tree */
#define LIMIT_TREE_WALK 20000                 /* nodes that are looked at for it */
#define LIMIT_TREE_DEPTH 100
#define LIMIT_TREE_CHILDREN 500               /* children of one node that are looked at: sheets say that they have 2^31 */
#define LIMIT_TREE_BYTES (1024 * 1024)        /* names and texts of one tree */
#define LIMIT_TREE_MS 10000                   /* making one */
#define LIMIT_ACCESS_APPS 64                  /* apps that are asked */
#define LIMIT_ACCESS_CLIENTS 256              /* names on the accessibility bus */
#define LIMIT_ACCESS_NODES 32768              /* nodes whose numbers are kept */
#define LIMIT_ACCESS_ASKS 32                  /* questions at once */
#define LIMIT_ACCESS_RECORD_BYTES 32768       /* one record between stage and helper */
#define LIMIT_ACCESS_MESSAGE_BYTES (4 * 1024 * 1024) /* one message of an app to the helper */
#define LIMIT_ACCESS_SILENT_MS 1500           /* an app that says nothing for so long hangs */
#define LIMIT_ACCESS_START_MS 5000            /* until the helper is ready */
#define LIMIT_CONNECTIONS 1024                /* HTTP connections in all */
#define LIMIT_LISTENERS 8                     /* places where the API is served */
#define LIMIT_HOSTS 64                        /* names of hosts that the operator gives */
#define LIMIT_CONNECTIONS_PER_ADDRESS 256     /* of them from one address, loopback excepted */
#define LIMIT_REQUEST_MS 30000                /* receiving one request, from its first line; and waiting for the next one; unless an option says another */
#define LIMIT_HEAD_MS 10000                   /* receiving the head of a request, once its first line is there; and a TLS handshake */
#define LIMIT_SEND_MS (LIMIT_REQUEST_MS / 2)  /* sending one reply, and a second more for each LIMIT_SEND_BYTES_PER_S of it */
#define LIMIT_SEND_BYTES_PER_S 16384
#define LIMIT_VANISHED_MS 45000               /* the reader of a stream acknowledges nothing that was sent to it */
#define LIMIT_SEND_BUFFER_BYTES (128 * 1024)  /* of a reply, in the kernel */
#define LIMIT_RECEIVE_BUFFER_BYTES (128 * 1024) /* of a request that is not read yet, in the kernel */
#define LIMIT_TLS_BUFFER_BYTES (32 * 1024)    /* between TLS and HTTP, each way, in the kernel */
#define LIMIT_PEM_BYTES (256 * 1024)          /* a certificate with its chain, or a key */
#define LIMIT_LINGER_MS 2000                  /* from our end of a connection to the peer's */
#define LIMIT_HELD_BYTES (128 * 1024 * 1024)  /* bodies and replies of all connections, in the front's memory */
#define LIMIT_HEAD_BYTES (32 * 1024)          /* request line and header fields */
#define LIMIT_DRAIN_BYTES (24 * 1024 * 1024)  /* of a body that is refused, read so that the client gets to see why */
#define LIMIT_QUERY_PARAMETERS 16
#define LIMIT_QUERY_SPLIT 128                 /* of them; a target with more is refused before libmicrohttpd takes it apart */
#define LIMIT_STAGE_LINKS 48                  /* connections of the front to one stage: waiting calls and looks, beside LIMIT_STREAMS */
#define LIMIT_STAGE_IDLE 4                    /* of them kept while no call runs */
#define LIMIT_STAGE_IDLE_MAX 16               /* and so many while fewer than LIMIT_IDLE_IN_ALL are */
#define LIMIT_IDLE_IN_ALL 1024                /* to all stages */
#define LIMIT_LINK_BYTES (512 * 1024)         /* of a stage's reply, waiting in the front for its reader */
#define LIMIT_STATE_MS 5000                   /* a stage's answer about itself */
#define LIMIT_USAGE_MS 1000                   /* the warden's answer about what sessions use */
#define LIMIT_PAUSE_MS 5000                   /* the running act's end, before its session is frozen */
#define LIMIT_FREEZE_MS 2000                  /* from then until all processes of the session stand still */
#define LIMIT_END_MS 5000                     /* a stage's tidy end, before its processes are killed */
#define LIMIT_ENDED_SESSIONS 256              /* sessions that have ended and are still listed */
#define LIMIT_ENDED_MS 3600000                /* for so long */
#define LIMIT_MCP_ID_BYTES 1024               /* id of a request of MCP, a string */
#define LIMIT_MCP_BATCH 32                    /* messages in one body, where its revision has batches */
#define LIMIT_MCP_BATCHES 8                   /* such bodies at work at once: their answers are in memory until the last of them */
#define LIMIT_MCP_PARAMS 8                    /* Mcp-Param-… header fields of a request */
#define LIMIT_MCP_CAPS_BYTES 4096             /* what a legacy client says that it can, kept with its session */
#define LIMIT_MCP_SESSIONS 1024               /* of legacy clients, of all tokens */
#define LIMIT_MCP_SESSIONS_OF_TOKEN 64        /* and of one */
#define LIMIT_MCP_RUNS 512                    /* requests of MCP at work at once */
#define LIMIT_MCP_REPLY_BYTES (20 * 1024 * 1024) /* one answer of MCP; a stage's, and what it is wrapped in */
#define LIMIT_MCP_QUIET_MS 15000              /* without a word on the stream of an answer, a comment; and until an answer becomes a stream */
#define LIMIT_MCP_PROGRESS_MS 5000            /* between two notifications of progress while nothing else is to be told */
#define LIMIT_MCP_QUEUED_BYTES (64 * 1024)    /* notifications that a reader has not taken; beyond it they are dropped */
#define LIMIT_MCP_ENTRIES 500                 /* of a folder, in one answer */
#define LIMIT_MCP_READ_BYTES (128 * 1024)     /* of a file that is no picture, in one answer */
#define LIMIT_MCP_PICTURE_BYTES (2520 * 1024) /* a file that is one, which is told as a whole */
#define LIMIT_COUNT 64                        /* sessions that one create makes */
#define LIMIT_BIRTHS 8                        /* of them at a time */
#define LIMIT_LIST LIMIT_SESSIONS_MAX         /* sessions of one page of a list: all that live have room in it */
#define LIMIT_CODE_MS 300000                  /* life of a one-use code */
#define LIMIT_CODE_TRY_MS 1000                /* between two wrong codes, once LIMIT_CODE_TRIES were wrong at once */
#define LIMIT_CODE_TRIES 5
#define LIMIT_TICKETS 1024                    /* links for people that wait to be used */
#define LIMIT_SESSION_TICKETS 16              /* of them of one session, so that no owner takes all */
#define LIMIT_VIEW_TICKET_MS 30000            /* life of a ticket that opens a view */
#define LIMIT_SHARES 16                       /* share links of one session */
#define LIMIT_SHARES_IN_ALL 1024
#define LIMIT_SHARE_DEFAULT_S 3600            /* life of one, unless its maker says another */
#define LIMIT_SHARE_TRIES 5                   /* wrong codes for one, ever */
#define LIMIT_WEBSOCKETS 256                  /* views that are open, of all sessions: other requests need connections, too */
#define LIMIT_WEBSOCKETS_OF_TOKEN 64          /* of them by one token */
#define LIMIT_WEBSOCKET_FRAME_BYTES (1024 * 1024) /* one frame that a viewer sends; none is kept whole */
#define LIMIT_WEBSOCKET_TURN_BYTES (32 * 1024) /* that one viewer sends, each way, before others have their turn */
#define LIMIT_WEBSOCKET_CONTROL 64            /* answers to its pings that it has not taken; then it is not read from */
#define LIMIT_WEBSOCKET_CLOSE_MS 2000         /* from a close to the end of the connection */
#define LIMIT_WEBSOCKET_DEAD_MS 15000         /* a viewer says nothing for so long, asked by pings: it is gone */
#define LIMIT_WEBSOCKET_PING_MS 5000          /* between two of them */
#define LIMIT_VIEWER_PING_MS 400              /* the same for a viewer with controls */
#define LIMIT_VIEWER_SILENT_MS 1400           /* which says nothing for so long: what it holds down is let go of */
#define LIMIT_TOKENS 64                       /* tokens of one session */
#define LIMIT_TOKEN_NAME_BYTES 64             /* what its maker calls one */
#define LIMIT_CONSOLE_TOKEN_MS 43200000       /* life of the token that a code was traded for */
#define LIMIT_FILE_BYTES (1024 * 1024 * 1024) /* one file that front or stage writes: a journal, the store */
#define LIMIT_AUDIT_BYTES (64 * 1024 * 1024)  /* the audit log, before it is put aside */
#define LIMIT_AUDIT_TICK_MS 10000             /* between two lines of what is counted, and between two anchors of journals */
#define LIMIT_AUDIT_REFUSALS 100              /* refused creates that are told one by one in this time */
#define LIMIT_CONFIG_BYTES (1024 * 1024)      /* the operator's configuration */
#define LIMIT_CONFIG_KEYS 1024                /* keys in it */
#define LIMIT_CONFIG_HOSTS 64                 /* names of hosts in it */
#define LIMIT_WATCH_MS 30000                  /* the front asks a stage anew who has the controls */
#define LIMIT_HOOKS 16                        /* receivers of webhooks */
#define LIMIT_HOOK_ADDRESSES 64               /* addresses that the operator lets them have */
#define LIMIT_HOOK_BYTES 8192                 /* body of one event */
#define LIMIT_HOOK_QUEUE 1024                 /* deliveries to one receiver that wait */
#define LIMIT_HOOK_LANE 64                    /* of them of one session */
#define LIMIT_HOOKS_AT_ONCE 8                 /* requests to one receiver that run */
#define LIMIT_HOOK_MS 10000                   /* one of them */
#define LIMIT_HOOK_TRIES 6                    /* of one delivery */
#define LIMIT_HOOK_LAST_MS 4000               /* what waits at the end of the server */
#define LIMIT_HOOK_REPLY_BYTES 65536          /* of its answer, which is thrown away */
#define LIMIT_EGRESS_ENTRIES 10000            /* entries of an allow list */
#define LIMIT_EGRESS_PORTS 16                 /* of one of them */
#define LIMIT_EGRESS_METHODS 16
#define LIMIT_EGRESS_PATHS 32
#define LIMIT_EGRESS_POLICY_BYTES (1024 * 1024) /* all of what a session's way out is told */
#define LIMIT_EGRESS_CONNECTIONS 256          /* outward ones of one session at once, unless its policy says fewer */
#define LIMIT_EGRESS_GUESTS 64                /* and so many more that ask, or wait for the next request */
#define LIMIT_EGRESS_DIALS_S 100              /* names looked up and connected to in a second, then they wait: those of all sessions share the machine's ports and name servers */
#define LIMIT_EGRESS_FIELDS 128               /* header fields of one message */
#define LIMIT_EGRESS_HEAD_MS 30000            /* a request, from its first byte */
#define LIMIT_EGRESS_KEEP_MS 60000            /* from one request to the next */
#define LIMIT_EGRESS_DIAL_MS 15000            /* looking a name up and connecting */
#define LIMIT_EGRESS_NEXT_MS 250              /* a connection that is not there by then is tried to the next address as well */
#define LIMIT_EGRESS_ADDRESSES 16             /* of one name that are looked at */
#define LIMIT_EGRESS_TRIES 4                  /* of them that are tried */
#define LIMIT_EGRESS_HELLO_MS 30000           /* from a tunnel to 443 to its first message of TLS */
#define LIMIT_EGRESS_HELLO_BYTES (24 * 1024)  /* that message */
#define LIMIT_EGRESS_IDLE_MS 600000           /* a tunnel, or one message, in which nothing moves */
#define LIMIT_EGRESS_HALF_MS 120000           /* the same once one side has ended */
#define LIMIT_EGRESS_PIECE_BYTES 16384        /* read at once, and kept for one that does not read */
#define LIMIT_EGRESS_ASKS 16                  /* such questions at once */
#define LIMIT_EGRESS_GRANTS 256               /* answers that hold for the session */
#define LIMIT_EGRESS_QUEUED_BYTES (256 * 1024) /* told to the stage and not read by it; then connections wait */
#define LIMIT_JOURNAL_BYTES (LIMIT_FILE_BYTES - 16 * 1024 * 1024) /* then no act begins; one that runs, and the end, have room */
#define LIMIT_REPLAY_LINES_BYTES (256 * 1024 * 1024) /* lines of a journal that is read to be replayed */
#define LIMIT_IGNORED 256                     /* regions that a replay leaves out */
#define LIMIT_REPLAY_CALLS 100000             /* calls of it */
#define LIMIT_RUN_BYTES (16 * 1024 * 1024)    /* a file of acts that is played */
#define LIMIT_RUN_STEPS 10000                 /* acts in it */
#define LIMIT_PICTURE_HEADER_BYTES 8192       /* header of one of its pictures */
#define LIMIT_ZIP_ENTRIES 16384               /* of an archive */
#define LIMIT_ZIP_DIRECTORY_BYTES (32 * 1024 * 1024)
#define LIMIT_PICTURES_BYTES (512 * 1024 * 1024) /* pictures of one journal; then it goes on without */
#define LIMIT_PICTURES_APART 64               /* from one whole picture in it to the next, at most */
#define LIMIT_MANIFEST_BYTES (4 * 1024 * 1024) /* manifest of one image */
#define LIMIT_IMAGES 256
#define LIMIT_ENV_ENTRIES 64                  /* environment of a session, and again of one command */
#define LIMIT_ENV_BYTES (32 * 1024)
#define LIMIT_LABELS 32
#define LIMIT_LABEL_BYTES 256                 /* name or value of a label */
#define LIMIT_RULES 256                       /* rules of a spec, and again of the configuration */
#define LIMIT_RULE_PATTERNS 64                /* of one matcher of them */
#define LIMIT_PLACES 64                       /* what looks like a login or a payment, in the configuration */
#define LIMIT_SHELL_COMMANDS 256              /* simple commands of a shell's line that are judged */
#define LIMIT_SHELLS_DEEP 4                   /* shells that run shells in it */
#define LIMIT_APPROVAL_S 86400                /* that a question to a person stays open */
#define LIMIT_APPROVALS 16                    /* such questions of one session that are open or just answered */
#define LIMIT_GRANTS 64                       /* answers of one session that hold for the rest of it */
#define LIMIT_APPROVAL_WAIT_MS 60000          /* a caller that waits for questions */
#define LIMIT_RULE_NAME_BYTES 64              /* what a rule is called */
#define LIMIT_APPROVAL_ID_BYTES 40            /* a question: the session's id and a number */
#define LIMIT_SETUP_COMMANDS 64               /* of the setup phase */
#define LIMIT_SETUP_S 900                     /* all of them */
#define LIMIT_APPS 16                         /* apps that a session starts with */
#define LIMIT_SESSIONS 64                     /* sessions at once, unless the ceilings say another number */
#define LIMIT_SESSIONS_MAX 1024               /* the most that these can say */
#define LIMIT_MEMORY_MIN_MB 256               /* memory of one app jail */
#define LIMIT_DISK_MIN_MB 16                  /* files of one app jail */
#define LIMIT_PIDS_MIN 64                     /* processes and threads of one app jail */
#define LIMIT_INODES_MIN 1024                 /* files and folders of one app jail */
#define LIMIT_OPEN_FILES_MIN 256              /* descriptors of one of its processes */
#define LIMIT_X_MIN_MB 256                    /* address space of an X server: its pictures of 4096x4096 fit */
#define LIMIT_CPU_MIN_MILLI 100               /* thousandths of a CPU of one session */
#define LIMIT_METER_MS 1000                   /* between two looks at what a session uses */
#define LIMIT_METER_LEAST_MS 100              /* the same when somebody asks */
#define LIMIT_METER_TELL_MS 10000             /* between two lines about one limit that is met again and again */
#define LIMIT_METER_USAGE_MS 300000           /* between two lines about what was used at most */
#define LIMIT_METER_FLOOD 200                 /* processes that are refused between two looks are a flood */
#define LIMIT_METER_FLOOD_LOOKS 2             /* so many looks one after the other, and those who can have made it are ended */
#define LIMIT_METER_CPU_MS 10000              /* the processor time of a peak is an average over this */
#define LIMIT_TTL_S (365 * 86400)             /* life of a session, and its time without a call */
#define LIMIT_PICTURE_MIN_BYTES 1024          /* max_bytes of a picture: what every picture can be made to fit */
#define LIMIT_PICTURE_USUAL_BYTES 3750000     /* of one whose format is not named: 5 MB in Base64, the least that models refuse */
#define LIMIT_PICTURE_BYTES (48 * 1024 * 1024) /* the largest: raw, of LIMIT_SIDE_MAX_PX both ways */
#define LIMIT_PICTURE_INLINE_BYTES (12 * 1024 * 1024) /* one in an answer in JSON */
#define LIMIT_KEPT_PICTURES 4                 /* of the last requests of a session, so that the next picture is made from what has changed */
#define LIMIT_KEPT_BYTES (32 * 1024 * 1024)   /* all of them, pixels and encodings */
#define LIMIT_SIDE_MIN_PX 64                  /* side of a display */
#define LIMIT_SIDE_MAX_PX 4096                /* and of a space */
#define LIMIT_MODEL_SIDE_PX 2000              /* what every model takes, also among many pictures: a side */
#define LIMIT_MODEL_PATCH_PX 28               /* and in squares of this side */
#define LIMIT_MODEL_PATCHES 4784              /* so many, those that stick out at an edge included */
#define LIMIT_TURN_CALLS 64                   /* calls that a model makes in one turn */
#define LIMIT_TURN_PICTURES 8                 /* of them where each must be answered with a picture, also those that were not done */
#define LIMIT_NOTCH_PX 100                    /* of a model that scrolls by pixels: a notch of the wheel */
#define LIMIT_SCROLL_PX 100000                /* one such scroll, each way */
#define LIMIT_URL_BYTES 8192                  /* an address that a model goes to */

#endif
