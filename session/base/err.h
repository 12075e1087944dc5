/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One error type through every layer.
 *
 * Library code fills a `struct err` and returns -1; only the edges (an HTTP reply, a log line, the command line) show it.
 * Owner: session/base. No threads. The struct is a plain value: nothing to free.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Every refusal that a caller can see: symbol, wire name (stable, append-only), HTTP status, who can mend it (`fix`), title.
 * The table of docs/errors.md and GET /v1 are made from these rows.
 */
#define ERR_ROWS(X)                                                                                                            \
	X(ERR_BAD_JSON, "bad_json", 400, "caller", "The body is not valid JSON")                                               \
	X(ERR_BAD_FIELD, "bad_field", 400, "caller", "A field breaks its rule")                                                \
	X(ERR_UNKNOWN_FIELD, "unknown_field", 400, "caller", "A field that this object does not have")                         \
	X(ERR_MISSING_FIELD, "missing_field", 400, "caller", "A required field is missing")                                    \
	X(ERR_UNKNOWN_ACTION, "unknown_action", 400, "caller", "No action has this name")                                      \
	X(ERR_UNKNOWN_KEY, "unknown_key", 400, "caller", "No key has this name")                                               \
	X(ERR_BAD_REQUEST, "bad_request", 400, "caller", "The request breaks a rule of HTTP or of this API")                   \
	X(ERR_UNAUTHORIZED, "unauthorized", 401, "caller", "A valid token is required")                                        \
	X(ERR_FORBIDDEN, "forbidden", 403, "caller", "This token may not do this")                                             \
	X(ERR_BAD_ORIGIN, "bad_origin", 403, "caller", "The request comes from a foreign origin")                              \
	X(ERR_NOT_FOUND, "not_found", 404, "caller", "No such thing")                                                          \
	X(ERR_METHOD, "method_not_allowed", 405, "caller", "This path does not take this method")                              \
	X(ERR_NOT_ACCEPTABLE, "not_acceptable", 406, "caller", "Accept takes no form that this can be answered in")            \
	X(ERR_REQUEST_TIMEOUT, "request_timeout", 408, "caller", "The request came too slowly")                                 \
	X(ERR_CONFLICT, "conflict", 409, "caller", "The present state does not allow this")                                    \
	X(ERR_NOT_READY, "not_ready", 409, "later", "The session is not ready")                                                \
	X(ERR_CANCELLED, "cancelled", 409, "caller", "The call was cancelled")                                                 \
	X(ERR_PAUSED, "paused", 409, "caller", "The session is paused")                                                        \
	X(ERR_DISPLAY_MAX, "display_max", 409, "caller", "The display of this session cannot be so large")                        \
	X(ERR_STALE_EPISODE, "stale_episode", 409, "caller", "The picture is of an earlier episode")                           \
	X(ERR_STALE_EPOCH, "stale_epoch", 409, "caller", "Somebody else held the controls since the picture")                  \
	X(ERR_STALE_TARGET, "stale_target", 409, "caller", "What is at the target has changed since the picture")              \
	X(ERR_ALREADY_DONE, "already_done", 409, "caller", "A call with this Idempotency-Key ran, and its results are gone")   \
	X(ERR_LEASE_LOST, "lease_lost", 409, "human", "A person got the controls while this was done")                          \
	X(ERR_MUST_OBSERVE, "must_observe", 409, "caller", "A person had the controls: look before you act")                    \
	X(ERR_CONFIRMATION, "confirmation_required", 409, "human", "The model's safety system wants a person to confirm this")      \
	X(ERR_JOURNAL_FULL, "journal_full", 409, "caller", "The journal of this session is full")                              \
	X(ERR_TOO_LARGE, "too_large", 413, "caller", "The body is larger than allowed")                                        \
	X(ERR_MEDIA_TYPE, "unsupported_media_type", 415, "caller", "The body must be application/json")                          \
	X(ERR_MISDIRECTED, "misdirected", 421, "caller", "The Host header names another server")                               \
	X(ERR_UPGRADE, "upgrade_required", 426, "caller", "This path speaks WebSocket")                                      \
	X(ERR_UNSUPPORTED, "unsupported", 422, "nobody", "This server does not offer this")                                    \
	X(ERR_KEY_REUSED, "key_reused", 422, "caller", "This Idempotency-Key was sent with another request")                   \
	X(ERR_TIER_UNAVAILABLE, "tier_unavailable", 422, "operator", "This isolation tier is not available")                   \
	X(ERR_NO_IMAGE, "no_image", 422, "operator", "No such image")                                                          \
	X(ERR_LEASE_HELD, "lease_held", 423, "human", "A person holds the controls, or is waited for")                         \
	X(ERR_BUSY, "busy", 429, "later", "Too many calls are waiting")                                                        \
	X(ERR_LIMIT, "limit_reached", 429, "later", "A limit of the server is reached")                                        \
	X(ERR_VIEWER_LIMIT, "viewer_limit", 429, "later", "As many watch this session as may")                                  \
	X(ERR_QUOTA, "quota_exceeded", 429, "caller", "The quota of this key is used up")                                      \
	X(ERR_INTERNAL, "internal", 500, "operator", "The server failed")                                                      \
	X(ERR_SESSION_FAILED, "session_failed", 502, "later", "The session could not be started or has failed")                \
	X(ERR_GONE, "session_gone", 503, "caller", "The session's process is gone")                                            \
	X(ERR_NO_WINDOW, "no_window", 409, "caller", "No window of this kind is there")                                        \
	X(ERR_X_SILENT, "display_silent", 503, "later", "The display does not answer")                                         \
	X(ERR_TIMEOUT, "timeout", 504, "later", "The time limit was reached")                                                  \
	X(ERR_INPUT_LOST, "input_failed", 500, "operator", "Input could not be delivered")                                     \
	X(ERR_SECRET, "secret_refused", 409, "caller", "The secret is not typed here") \
	X(ERR_DENIED, "denied", 403, "human", "A rule or a person has refused this action")                                      \
	X(ERR_APPROVAL_PENDING, "approval_pending", 409, "human", "A person is asked, and has not answered yet")               \
	X(ERR_WAITING, "waiting_for_approval", 409, "human", "Another call of this session waits for a person's answer")       \
	X(ERR_SENSITIVE, "sensitive_field", 409, "human", "A password field has the focus") \
	X(ERR_RANGE, "bad_range", 416, "caller", "The range lies behind the end of the file")                                  \
	X(ERR_SETUP, "setup_failed", 422, "caller", "A command of the setup phase has failed")                                 \
	X(ERR_DISK_FULL, "disk_full", 507, "caller", "The files of the session have no more room")

enum err_code {
	ERR_NONE = 0,
#define ERR_ENUM(symbol, wire, status, fix, title) symbol,
	ERR_ROWS(ERR_ENUM)
#undef ERR_ENUM
	ERR_N_CODES
};

#define ERR_PATH_MAX 128
#define ERR_MSG_MAX 320

struct err {
	enum err_code code;
	int sys_errno;            /* errno of the failing call; logged, never sent to a caller */
	bool begun;               /* the call had begun: what was done of it is not known */
	long offset;              /* byte offset of a fault of form in a body, else -1 */
	int line, column;         /* of the same fault, from 1; 0 when there is none */
	char path[ERR_PATH_MAX];  /* JSON pointer of the field at fault, or "" */
	char msg[ERR_MSG_MAX];    /* the value, bounded and escaped, then the rule; valid UTF-8 */
};

/* One row of ERR_ROWS. */
struct err_info {
	const char *wire;
	int status; /* HTTP status */
	const char *fix;
	const char *title;
};

/*
 * Fills *e and returns -1, so that `return err_set(…)` reads well. `path` is a JSON pointer or NULL. errno is kept and not recorded:
 * use err_sys for that. e may be NULL; path and arguments may be texts of *e itself. Texts that are too long are cut at a character,
 * texts that are not UTF-8 before the first bad byte.
 */
int err_set(struct err *e, enum err_code code, const char *path, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* As err_set with the code ERR_INTERNAL, no path, and errno of the failing call recorded in sys_errno. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts `prefix` (a JSON pointer such as "/actions/3") before the error's own path. */
void err_prefix(struct err *e, const char *prefix);

/* The row of a code; code must be a member of the enum other than ERR_NONE. */
const struct err_info *err_info(enum err_code code);

/* The code that has this wire name, or ERR_NONE. */
enum err_code err_from_wire(const char *wire);

/*
 * Writes a bounded, quoted, escaped copy of `len` bytes of text into out: at most out_size bytes (at least 6) with the NUL. Bytes
 * that are not UTF-8 and characters that nobody sees (controls, bidi overrides, zero width) become \xNN, text that does not fit
 * ends in "…". Returns out, to be used as an argument of err_set.
 */
const char *err_quote(char *out, size_t out_size, const char *text, size_t len);

/*
 * Adds a name to the list of names in out, which begins as an empty text, with `separator` between two. A list that has no room for another
 * name ends in "…", behind a whole name.
 */
void err_list(char *out, size_t out_size, const char *separator, const char *name);

#endif
