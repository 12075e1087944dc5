/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way from who makes an answer to the connection that sends it, when the answer begins before it is whole. It has two
 * ends, each given back by its own function; the last one frees it. Owner: session/front. One thread.
 */
#ifndef FRONT_FLOW_H
#define FRONT_FLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "session/front/stage.h"

struct flow;

/* So many bytes of memory are taken by what waits for the reader. */
typedef void flow_count_fn(void *arg, size_t n_bytes);

/* Both ends are the caller's. `left` is called, once, when the reader goes before flow_end; `taken`, unless NULL, each time it has read. */
struct flow *flow_create(loop_timer_fn *left, loop_timer_fn *taken, void *arg);

/* The writer's end. */
void flow_write(struct flow *flow, const void *data, size_t len); /* copied; dropped when the reader has gone */
size_t flow_waiting(const struct flow *flow);                   /* bytes that are not read yet */
void flow_behind(struct flow *flow, size_t n_bytes);            /* so many more wait at the writer, and are counted as well */
void flow_end(struct flow *flow);                               /* nothing more comes; the end is given back. NULL is fine */
void flow_break(struct flow *flow);                             /* the same, and what came is not whole: the reader must break off, too */

/* The reader's end; as stage_reply_read and stage_reply_watch. */
enum stage_read flow_read(struct flow *flow, char *out, size_t max, size_t *n);
void flow_watch(struct flow *flow, loop_timer_fn *fn, void *arg);
void flow_count(struct flow *flow, flow_count_fn *fn, void *arg); /* now, and whenever there are more or fewer, until flow_leave */
void flow_leave(struct flow *flow); /* NULL is fine */

#endif
