/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stage counts and the front adds up for /metrics (the call `watch`), a row each. Owner: session/base; session/stage/alarms.h and meters.h make their
 * enums of it, session/front/metrics.c its labels. No code.
 */
#ifndef BASE_COUNTED_H
#define BASE_COUNTED_H

/* Alarms, ROW(id, name): what a guard stopped or noted. */
#define COUNTED_ALARMS(ROW)                                                                                                     \
	ROW(MASKED, "masked")     /* something secret, in what it said */                                                       \
	ROW(WITHHELD, "withheld") /* so often that the text was kept back */                                                    \
	ROW(NOTED, "noted")       /* found and told all the same */                                                             \
	ROW(SIGSYS, "sigsys")     /* a command was killed for a system call of another kind of machine, or by a filter of its own */ \
	ROW(RETURNED, "returned") /* an answer held a secret that was put into its request, and was cut */                      \
	ROW(ENDED, "ended")       /* programs were ended: one of them kept the display or the kernel busy for itself */

/* Limits, ROW(id, name, what to do once it was met). */
#define COUNTED_LIMITS(ROW)                                                                                                     \
	ROW(CPU, "cpu", "programs wait for the processor: run less at once, or ask for more limits.cpu")                        \
	ROW(MEMORY, "memory_mb", "the kernel has killed a program: run less at once, or ask for more limits.memory_mb")         \
	ROW(PIDS, "pids", "a process or thread could not be started: end some, or ask for more limits.pids")                    \
	ROW(DISK, "disk_mb", "nothing more can be written: delete files, or ask for more limits.disk_mb")                       \
	ROW(INODES, "inodes", "no more files can be made: delete some, or ask for more limits.inodes")                          \
	ROW(X, "x_mb", "programs keep too much in the X server: close windows, or ask for more limits.x_mb")                    \
	ROW(EXEC, "exec_ms", "the command was killed: run it in parts or in the background, or ask for more limits.exec_ms")    \
	ROW(EGRESS_CONNECTIONS, "egress_connections", "close connections, or ask for more egress.caps.connections")             \
	ROW(EGRESS_RATE, "egress_bytes_s", "what is sent and fetched waits: ask for more egress.caps.bytes_s")                  \
	ROW(EGRESS_BYTES, "egress_bytes", "nothing more is sent or fetched: ask for more egress.caps.bytes")

#endif
