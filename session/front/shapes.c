/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the front says. A member that code adds to a reply gets its row here: a reply with a member that has none fails the tests. */
#include "session/base/util.h"
#include "session/front/operation.h"

static const struct member problem_members[] = {
	{"type", "string", "urn:glovebox:error: and the code"},
	{"title", "string", "what the code means"},
	{"status", "count", "as the reply's, where it is one"},
	{"detail", "string", "the value and the rule that it breaks"},
	{"code", "ErrorCode", "what programs go by"},
	{"pointer?", "string", "JSON pointer of the field at fault, or / and the name of a query parameter"},
	{"offset?", "count", "byte of a body that is not JSON"},
	{"line?", "count", "of it, from 1"},
	{"column?", "count", "of it, from 1"},
	{"fix", "=caller later human operator nobody", "who can mend it; nobody: this server does not offer it"},
	{"retry_after_ms?", "count", "when fix is later"},
	{"errors?", "Fault[]", "all faults of the body, when there are several"},
	{"request_id?", "string", "as in X-Request-Id and in the journal"},
	{"observation?", "Observation", "of stale_target: how the screen looks now"},
	{"limits?", "MetLimit[]", "limits of the session that were met meanwhile"},
};
static const struct member fault_members[] = {
	{"pointer?", "string", "of the field at fault"},
	{"code", "ErrorCode", "what programs go by"},
	{"detail", "string", "the value and the rule that it breaks"},
};

static const struct member live_members[] = {{"live", "boolean", "true"}};
static const struct member ready_members[] = {{"ready", "boolean", "true"}};
static const struct member about_members[] = {
	{"name", "=glovebox", "this program"},
	{"version", "string", "of it"},
	{"api", "=v1", "of the interface"},
	{"limits", "integer{}", "of calls and sessions; each name ends in its unit, or counts"},
	{"spec", "object", "JSON Schema of the body of a create"},
	{"change", "object", "JSON Schema of the body of a change"},
	{"errors", "ErrorRow[]", "what a refusal can be"},
	{"routes", "RouteRow[]", "what can be asked"},
	{"openapi", "string", "path of the OpenAPI document"},
	{"key", "Key|null", "what the caller's key may; null without a configuration"},
};
static const struct member error_row[] = {
	{"code", "ErrorCode", "what programs go by"},
	{"status", "count", "of HTTP"},
	{"fix", "=caller later human operator nobody", "who can mend it"},
	{"title", "string", "what it means"},
};
static const struct member route_row[] = {
	{"method", "string", "of HTTP"},
	{"path", "string", "with names in braces"},
	{"roles", "Role[]", "whose tokens may; none: it needs no token"},
	{"doc", "string", "what it does"},
	{"query", "string|null", "the parameters that it takes"},
};
static const struct member key_members[] = {
	{"name", "string", "owner of its sessions"},
	{"role?", "=owner operator", "an owner if absent"},
	{"sessions?", "count", "at once"},
	{"images?", "string[]", "that it may use"},
	{"isolation?", "string[]", "tiers that it may use"},
	{"egress?", "=none allowlist open", "the widest way out"},
	{"secrets?", "string[]", "stored secrets that its sessions may name"},
	{"ttl_s?", "count", "the longest life of a session"},
	{"limits?", "number{}", "the highest of a session"},
};
static const struct member actions_members[] = {
	{"actions", "ActionRow[]", "every action"},
	{"act", "object", "JSON Schema of the body of an act"},
};
static const struct member action_row[] = {
	{"name", "string", "of the action"},
	{"doc", "string", "what it does"},
	{"schema", "object", "JSON Schema of it"},
};
static const struct member images_members[] = {{"images", "Image[]", "by name"}};
static const struct member image_members[] = {
	{"name", "string", "as `image` of a spec"},
	{"hash", "string", "SHA-256 of what is in it"},
	{"apps", "object[]", "its catalogue"},
};
static const struct member secrets_members[] = {{"secrets", "Secret[]", "by name"}};
static const struct member secret_members[] = {
	{"name", "string", "as `secrets` of a spec and type_secret have it"},
	{"app", "string|null", "name in the catalogue of the app that it is typed into; null: it is never typed"},
	{"origin", "string|null", "of the page that it is typed into"},
	{"field", "=password text|null", "what it is typed into there"},
	{"inject", "string|null", "origin of the requests that it is put into on their way out; null: into none"},
	{"header", "string|null", "their header that it is the value of"},
	{"prefix", "string|null", "what stands there before it"},
	{"created_at", "time", "when the first of this name was stored"},
	{"changed_at", "time", "when this one was"},
	{"by", "string", "the owner who stored it"},
};
static const struct member traded_members[] = {
	{"token", "string", "opens what the code was for"},
	{"role", "Role", "of the token"},
	{"expires_in_s", "count", "s"},
	{"session", "string|null", "that it is for; null: for all"},
};

static const struct member display_members[] = {
	{"width", "count", "now (px)"},
	{"height", "count", "now (px)"},
	{"max_width", "count", "px"},
	{"max_height", "count", "px"},
	{"layout", "string", "of the keyboard"},
	{"gl", "boolean", "GLX in the X server"},
};
static const struct member held_members[] = {
	{"keys", "string[]", "that key_down holds"},
	{"buttons", "string[]", "that mouse_down holds"},
};
static const struct member focus_members[] = {
	{"known", "boolean", "is it known what gets the keys? Without it there is nothing below"},
	{"role?", "string|null", "of the node that does, as AT-SPI names it; null: the app has none in focus"},
	{"password?", "boolean", "is it a password field, or does a terminal ask for one?"},
	{"editable?", "boolean", "does it take text?"},
	{"terminal?", "boolean", "is it a terminal?"},
	{"app?", "string|null", "name in the catalogue of the app"},
	{"origin?", "string", "of the page that it is in, as the app says: scheme, host and port"},
};
static const struct member app_members[] = {
	{"app", "string", "name in the catalogue"},
	{"pid?", "integer|null", "in the jail"},
	{"window?", "count", "id"},
};
static const struct member isolation_members[] = {
	{"tier", "=jail vm external", "the wall around it"},
	{"in_force", "string[]", "layers and limits that are there"},
	{"missing", "string[]", "those that this host cannot give"},
	{"weaker", "string[]", "what could be stronger: server_user, a server that an ordinary user started can be reached by that user's other programs"},
};
static const struct member limit_use_members[] = {
	{"value", "number", "the limit, in the unit of its name"},
	{"used?", "number", "now"},
	{"peak?", "number", "the most so far; of cpu an average over 10 s, absent before"},
	{"hits", "count", "how often it was met"},
	{"hit_at", "string|null", "when last"},
};
static const struct member usage_members[] = {
	{"memory_bytes?", "count", "bytes"},
	{"pids?", "count", "processes and threads"},
	{"cpu_ms?", "count", "processor time (ms)"},
	{"limits?", "LimitUse{}", "of the app jail (x_mb: of the X server), each limit by its name in the spec; caps of egress as egress_NAME"},
};
static const struct member egress_members[] = {
	{"mode", "=none allowlist open", "that holds now"},
	{"up", "boolean", "does its process answer? While it does not, nothing goes out"},
	{"connections", "count", "open now"},
	{"allowed", "count", "connections and requests so far"},
	{"denied", "count", "the same of those that were refused"},
	{"bytes_up", "count", "that were sent (bytes)"},
	{"bytes_down", "count", "that came (bytes)"},
};
static const struct member session_members[] = {
	{"id", "string", "of the session"},
	{"state", "=starting ready paused ending ended failed", "of its life"},
	{"image", "string", "that it started from"},
	{"display", "SessionDisplay", "its screen"},
	{"space", "Size", "of pictures and coordinates"},
	{"lease", "Lease", "who has the controls"},
	{"apps", "SessionApp[]", "that it started with"},
	{"at?", "At", "while it lives"},
	{"setup?", "SetupResult[]", "what became of the commands of the setup phase, while it lives"},
	{"held?", "Held", "while it lives"},
	{"focus?", "Focus", "while it lives"},
	{"egress?", "SessionEgress", "its way out, if it has one, while it lives"},
	{"owner", "string", "name of the key that made it"},
	{"labels", "string{}", "as set"},
	{"isolation_report", "Isolation", "what holds it"},
	{"not_in_force", "string[]", "what its spec promises and this version does not do"},
	{"links", "string{}", "paths of its routes"},
	{"created_at", "time", NULL},
	{"expires_at", "time", "when ttl_s is over"},
	{"idle_s", "count", "of the spec"},
	{"reason?", "string", "why it ends"},
	{"ended_at?", "time", NULL},
	{"usage?", "Usage", "as far as it is known"},
	{"tokens?", "SessionTokens", "in the answer of the create alone"},
};
static const struct member session_tokens[] = {
	{"agent", "string", "acts, looks, may end it"},
	{"viewer", "string", "sees state and events"},
	{"controller", "string", "sees the journal too, pauses, resumes, ends"},
};
static const struct member made_members[] = {{"sessions", "Session[]", "in the order of making"}};
static const struct member list_members[] = {
	{"sessions", "Session[]", "oldest first"},
	{"total", "count", "how many were chosen, on all pages"},
	{"next", "string|null", "`after` of the next page"},
};

#define TOKEN                                                                                                                            \
	{"id", "string", "of the token, as journal and log call it"}, {"role", "Role", "what it may do"},                              \
		{"name", "string|null", "what its maker calls it"}, {"created_at", "time", NULL},                                        \
		{"expires_at", "time|null", "null: with the session"}
static const struct member token_members[] = {TOKEN};
static const struct member new_token_members[] = {TOKEN, {"token", "string", "its text, said here alone"}};
static const struct member tokens_members[] = {{"tokens", "Token[]", "oldest first"}};
static const struct member ticket_members[] = {
	{"ticket", "string", "good once"},
	{"for", "=console", "where"},
	{"role", "Role", "of the token that it is traded for"},
	{"link", "string", "to be put behind the server's address"},
	{"expires_at", "time", "of the ticket"},
};

static const struct member view_members[] = {
	{"viewer", "string", "what lists and the lease call who opens it"},
	{"ticket", "string", "good once, within 30 s: \"ticket.\" and this stand in Sec-WebSocket-Protocol"},
	{"protocol", "=binary", "what stands there as well, and is answered"},
	{"controls", "boolean", "has the view keys and pointer?"},
	{"expires_at", "time", "of the ticket"},
};
static const struct member viewers_members[] = {{"viewers", "Viewer[]", "oldest first"}};
static const struct member viewer_members[] = {
	{"viewer", "string", "as when it was made"},
	{"role", "Role", "of the token"},
	{"token", "string", "by its id"},
	{"controls", "boolean", "has the view keys and pointer?"},
	{"since", "time", NULL},
	{"share", "string|null", "the share link that the token came by"},
};

#define SHARE                                                                                                                            \
	{"id", "string", "of the link; it begins with its session's"}, {"role", "=viewer controller", "of the token that its code gives"}, \
		{"label", "string|null", "what its maker calls it"}, {"link", "string", "to be put behind the server's address"},          \
		{"created_at", "time", NULL}, {"expires_at", "time", "of link, code and token"},                                           \
		{"used_at", "time|null", "when the code was"}, {"tries", "count", "of the code that are left"}
static const struct member share_members[] = {SHARE};
static const struct member new_share_members[] = {SHARE, {"code", "string", "good once, said here alone"}};
static const struct member shares_members[] = {{"shares", "Share[]", "oldest first"}};

static const struct member rpc_members[] = {
	{"jsonrpc", "=2.0", "the version"},
	{"id?", "string|integer|null", "of a request, and of its response; a notification has none"},
	{"method?", "string", "of a request or notification"},
	{"params?", "object", "of it"},
	{"result?", "object", "of a response"},
	{"error?", "JsonRpcError", "in its place"},
};
static const struct member rpc_error_members[] = {
	{"code", "integer", "of JSON-RPC or MCP"},
	{"message", "string", "what is wrong"},
	{"data?", "any", "more of it"},
};

static const struct member approval_rules_members[] = {
	{"modes", "any{}", "the rules of each mode, in their order"},
	{"places", "object[]", "what looks like a login, a payment, …"},
	{"operator", "object[]", "the configuration's rules, which come first"},
};

const struct shape shapes_front[] = {
	{"Problem", "Why something was refused, or failed (RFC 9457).", MEMBERS(problem_members)},
	{"Fault", "One of several faults of a body.", MEMBERS(fault_members)},
	{"Live", "The server answers.", MEMBERS(live_members)},
	{"Ready", "The whole server is there.", MEMBERS(ready_members)},
	{"About", "What the server is.", MEMBERS(about_members)},
	{"ErrorRow", "What a code means.", MEMBERS(error_row)},
	{"RouteRow", "A route.", MEMBERS(route_row)},
	{"Key", "What a key of the configuration may.", MEMBERS(key_members)},
	{"Actions", "The actions.", MEMBERS(actions_members)},
	{"ActionRow", "An action.", MEMBERS(action_row)},
	{"Images", "The images.", MEMBERS(images_members)},
	{"Image", "An image.", MEMBERS(image_members)},
	{"Traded", "A token for a code.", MEMBERS(traded_members)},
	{"SessionDisplay", "The display of a session.", MEMBERS(display_members)},
	{"Held", "What is held down.", MEMBERS(held_members)},
	{"SessionEgress", "The way out of a session.", MEMBERS(egress_members)},
	{"Focus", "What gets the keys, without any text of it.", MEMBERS(focus_members)},
	{"SessionApp", "An app that a session started with.", MEMBERS(app_members)},
	{"Isolation", "What holds a session.", MEMBERS(isolation_members)},
	{"Usage", "What a session uses.", MEMBERS(usage_members)},
	{"LimitUse", "What a session uses of one limit.", MEMBERS(limit_use_members)},
	{"Session", "A session.", MEMBERS(session_members)},
	{"SessionTokens", "The tokens that a session is made with.", MEMBERS(session_tokens)},
	{"Made", "Sessions that were made by one create.", MEMBERS(made_members)},
	{"SessionList", "A page of sessions.", MEMBERS(list_members)},
	{"Secret", "A stored secret: what it is for, never what it is.", MEMBERS(secret_members)},
	{"Secrets", "All that are stored.", MEMBERS(secrets_members)},
	{"Token", "A token, but not its text.", MEMBERS(token_members)},
	{"NewToken", "A token that was made.", MEMBERS(new_token_members)},
	{"Tokens", "The tokens of a session.", MEMBERS(tokens_members)},
	{"JsonRpc", "A message of the Model Context Protocol.", MEMBERS(rpc_members)},
	{"JsonRpcError", "Why there is no result.", MEMBERS(rpc_error_members)},
	{"Ticket", "A link for a person.", MEMBERS(ticket_members)},
	{"View", "A ticket for a view.", MEMBERS(view_members)},
	{"Viewers", "Who watches.", MEMBERS(viewers_members)},
	{"Viewer", "Somebody who watches.", MEMBERS(viewer_members)},
	{"Share", "A share link, but not its code.", MEMBERS(share_members)},
	{"NewShare", "A share link that was made.", MEMBERS(new_share_members)},
	{"Shares", "The share links of a session.", MEMBERS(shares_members)},
	{"ApprovalRules", "What a person is asked about.", MEMBERS(approval_rules_members)},
};
const size_t shapes_n_front = ARRAY_LEN(shapes_front);
