/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted of each request, and its line in the log. Owner: session/front. One thread. */
#ifndef FRONT_ACCESS_H
#define FRONT_ACCESS_H

struct request;

/* Its reply begins. */
void access_answered(const struct request *request);

/* It is over, with or without a reply. */
void access_closed(const struct request *request);

#endif
