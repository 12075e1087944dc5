/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the front share. Owner: session/front. One thread. */
#ifndef FRONT_FRONT_H
#define FRONT_FRONT_H

#include "session/base/loop.h"
#include "session/front/config.h"
#include "session/front/hooks.h"
#include "session/front/hosts.h"
#include "session/front/listeners.h"
#include "session/front/openapi.h"
#include "session/front/sessions.h"
#include "session/front/shares.h"
#include "session/front/store.h"
#include "session/front/tickets.h"
#include "session/front/tokens.h"
#include "session/front/usage.h"
#include "session/front/viewers.h"
#include "session/front/warden.h"

/* The front's root, as the warden makes it. */
#define FRONT_STORE "/front/front.db"
#define FRONT_AUDIT "/front/audit.jsonl"
#define FRONT_IMAGES "/images"
#define FRONT_RUN "/run"
#define FRONT_JOURNALS "/journals"

struct audit;
struct conns;
struct create_job;
struct mcp;
struct metrics;
struct request;

struct front {
	struct loop *loop;
	struct config config;
	struct store *store;
	struct tokens *tokens;
	struct tickets *tickets;
	struct shares *shares;
	struct audit *audit;
	struct warden *warden;
	struct sessions sessions;
	struct usage usage;
	struct metrics *metrics;
	struct mcp *mcp;
	struct conns *conns;
	struct viewers viewers;
	struct create_job *creates; /* under a key, that run */
	uint32_t restarts;  /* of the front, before this one */
	int64_t started_ms; /* wall clock */
	struct hosts hosts;
	struct listeners listeners;
	struct hooks hooks;
	int64_t request_ms; /* how long a request may take to arrive */
	struct openapi openapi;
	const char *images; /* the folder of the manifests */
	const char *journals;
	struct request *requests; /* those that came with a token, until their replies are out */
	bool stopping;
};

#endif
