/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stage says. */
#include "session/stage/shapes.h"

#include "session/base/util.h"

static const struct member at_members[] = {
	{"frame", "count", "of the last change of the screen that is known"},
	{"epoch", "count", "goes up when somebody else gets the controls"},
	{"episode", "count", "goes up when the session begins anew"},
};
static const struct member size_members[] = {
	{"width", "count", "px"},
	{"height", "count", "px"},
};
static const struct member rect_members[] = {
	{"x", "integer", "left column (px)"},
	{"y", "integer", "top row (px)"},
	{"width", "count", "px"},
	{"height", "count", "px"},
};

static const struct member act_members[] = {
	{"ok", "boolean", "did the whole list go well?"},
	{"done", "count", "how many actions went well"},
	{"results", "ActionResult[]", "one for each action that was begun, in order"},
	{"observation?", "Observation", "if the call asked for it"},
	{"at", "At", "when this was true: to be sent as `seen` with the act that is decided on"},
	{"space", "Size", "of the coordinates and pictures of this reply"},
	{"native", "Size", "of the display"},
	{"verdicts?", "Verdict[]", "of check_only: what the rules say of each action as things are now"},
};
static const struct member verdict_members[] = {
	{"verdict", "=allow ask deny", "what would become of it"},
	{"rule", "string", "that says so; empty: none has a word for it"},
	{"why", "string", "as the rule says"},
};
static const struct member passed_members[] = {
	{"rule", "string", "that has a word for it"},
	{"approval?", "string", "the question that was answered with yes"},
	{"for_session", "boolean", "an earlier answer holds for it"},
};
static const struct member said_window_members[] = {
	{"title", "string", "its own words"},
	{"class", "string", "its own words"},
};
static const struct member approval_members[] = {
	{"id", "string", "of the question"},
	{"session", "string", "its session"},
	{"state", "=waiting allowed done denied expired withdrawn", "allowed: and not acted on yet; expired: nobody answered, which is a no"},
	{"rule", "string", "that asks"},
	{"why", "string", "as the rule says"},
	{"unclear", "boolean", "it is asked because the command could not be read to its end, or for what may be in the folder"},
	{"action", "object", "as it will be sent; what is for a password field as its length, long texts cut"},
	{"space", "Size", "of its coordinates"},
	{"caller", "Actor", "whose call it is"},
	{"waits", "boolean", "does a call wait for it now? Else its caller has to send it again"},
	{"app", "string|null", "the catalogue's app that it goes to"},
	{"window", "SaidWindow|null", "that it goes to"},
	{"url", "string|null", "of the page that has the focus, as its app says"},
	{"target", "Rect|null", "where it goes, in pixels of the display"},
	{"native", "Size", "of the display"},
	{"crop", "string|null", "path of a picture of that"},
	{"crop_region", "Rect|null", "what it shows, in pixels of the display"},
	{"at", "At", "when it was asked"},
	{"asked_at", "time", "the same by the clock"},
	{"expires_at", "time", "it is a no then"},
	{"session_words", "string|null", "what a yes for the session would hold for; null: there is none"},
	{"not_session_why", "string|null", "why"},
	{"answer?", "=once session deny", "what was answered"},
	{"by?", "Actor", "who answered"},
	{"reason?", "string", "what was said with it, or why it was withdrawn"},
};
static const struct member approval_counts_members[] = {
	{"session", "string", "of this session"},
	{"waiting", "count", "questions that wait"},
	{"asked", "count", "questions so far"},
	{"answered", "count", "those that a person has answered"},
	{"once", "count", "with yes"},
	{"for_session", "count", "with yes for the session"},
	{"denied", "count", "with no"},
	{"expired", "count", "those that nobody answered"},
	{"withdrawn", "count", "those that nobody needed an answer of any more"},
	{"median_ms", "count|null", "from a question to its answer, of the last 256"},
	{"yes_share", "number|null", "of the answers that were yes: a person who is asked too often stops reading"},
};
static const struct member approvals_members[] = {
	{"approvals", "Approval[]", "those that wait, or whose yes is not used yet; oldest first in each session"},
	{"counts", "ApprovalCounts[]", "of each session"},
};
static const struct member observation_members[] = {
	{"settled", "boolean", "has the screen been quiet for so long?"},
	{"elapsed_ms", "count", "how long that took"},
	{"changed", "Rect[]", "where pixels have changed"},
	{"native", "Size", "of the display"},
	{"space", "Size", "of coordinates and of the picture"},
	{"at", "At", "when this was true"},
	{"picture?", "Picture|null", "null: in the reply to a call that was sent again, when the screen has changed since"},
	{"reason?", "string", "why there is no picture"},
	{"error?", "Problem", "why it could not be looked"},
};
static const struct member met_members[] = {
	{"role", "string", "as AT-SPI names it: push button, entry, link, password text, …"},
	{"name?", "string", "its label, at most 200 bytes; never a value, and none of a password field"},
	{"bounds?", "Rect", "where it was, in the space of the call"},
};
static const struct member cancelled_members[] = {{"cancelled", "boolean", "was there a call to cancel?"}};

/* The events of a stream. */
static const struct member frame_members[] = {
	{"at", "At", "the frame that the picture is of now"},
	{"space", "Size", "of coordinates"},
	{"native", "Size", "of the display"},
	{"width", "count", "of the whole picture (px)"},
	{"height", "count", "of the whole picture (px)"},
	{"whole", "boolean", "do the tiles make all of the picture?"},
	{"tiles", "StreamTile[]", "what has changed in it"},
};
static const struct member tile_members[] = {
	{"x", "count", "in the picture (px)"},
	{"y", "count", "in the picture (px)"},
	{"width", "count", "px"},
	{"height", "count", "px"},
	{"format", "=png jpeg webp raw", "of the data"},
	{"data", "base64", "the encoded tile"},
};
static const struct member end_members[] = {
	{"state", "=ended failed ready", "of the session; ready: only the stream has ended"},
	{"reason", "string", "why it ended"},
};
static const struct member gap_members[] = {
	{"event", "=gap", "this"},
	{"first", "count", "number of the first line that is missing"},
	{"last", "count", "number of the last one"},
	{"reason", "=late private", "they are not kept any more; or they were made while a person held the controls"},
};
static const struct member lease_members[] = {
	{"holder", "=agent human nobody", "who has the controls; nobody: a person is waited for"},
	{"viewer", "string|null", "of the person; null: none is connected"},
	{"epoch", "count", "goes up whenever it changes"},
	{"since", "time|null", "of the last change"},
	{"reason", "string|null", "why the agent asked, in its words"},
	{"kind", "=login approve captcha other|null", "what the person is needed for"},
	{"expires_at", "time|null", "then the controls go to nobody, unless the person does something; or back to the agent (on_lost)"},
	{"requested_by?", "string", "id of the agent's token that asked"},
	{"note?", "string", "what the person said who gave them back last"},
	{"mine?", "boolean", "does your token hold them?"},
	{"keep_running?", "boolean", "for people alone, as what follows: the agent's programs are not ended in a login"},
	{"shared?", "boolean", "others see the screen in a login, too"},
	{"must_observe?", "boolean", "the agent has not looked since it got the controls back"},
	{"programs?", "string[]", "names of the agent's own programs, which a hold makes stand still, and a login ends"},
	{"ended?", "string[]", "names of those that the last hold has ended because they were on the accessibility bus"},
	{"apps?", "string[]", "titles of the apps but the browsers that run: a login ends them, too"},
};

/* The lines of a journal: as its file has them with `hash`, as events without. */
#define LINE                                                                                                                             \
	{"seq", "count", "its number, from 1"}, {"time", "string", "wall clock, to the microsecond"}, {"mono_ms", "count", "monotonic clock of the host"},  \
		{"private?", "boolean", "it was made while a person held the controls: no agent gets it"}, {"hash?", "string", "SHA-256 over the hash before and this line without it; in the journal alone"}
#define WHO {"actor", "Actor", "who"}, {"request", "string", "id of the request"}
#define WHEN {"epoch", "count", "as in At"}, {"episode", "count", "as in At"}
#define BEFORE {"before?", "count", "number of the picture before it"}
#define AFTER {"after?", "count", "number of the picture after it"}

static const struct member actor_members[] = {
	{"role", "string", "of the token"},
	{"token", "string", "its id"},
};
static const struct member start_line[] = {
	LINE,
	{"event", "=start", "the session has begun"},
	{"session", "string", "its id"},
	WHEN,
	{"version", "string", "of the server"},
	{"image", "string", "name of its image"},
	{"image_hash", "string", "and what names the content of that"},
	{"native", "Size", "of the display"},
	{"space", "Size", "of coordinates and pictures, where a call names no other"},
	{"guard", "=off last", "as in the spec"},
	{"spec?", "object", "as it was completed, without values of the environment; in the journal alone"},
};
static const struct member ready_line[] = {
	LINE,
	{"event", "=ready", "it takes calls from now on"},
	{"after?", "count", "number of the picture that it shows"},
};
static const struct member call_line[] = {
	LINE,
	{"event", "=call", "a list of actions begins"},
	WHO,
	WHEN,
	{"frame", "count", "before it"},
	{"actions", "count", "how many there are in it"},
	{"observe?", "object", "the observation that is asked for"},
	{"space", "Size", "of the call's coordinates"},
	{"timeout_ms", "count", "its time limit"},
	{"dialect?", "string", "that it was sent in"},
	BEFORE,
};
static const struct member observation_line[] = {
	LINE,
	{"event", "=observation", "the list was followed by a look"},
	WHO,
	WHEN,
	{"frame", "count", "that was seen"},
	{"settled", "boolean", "was the screen quiet?"},
	{"elapsed_ms", "count", "how long that took"},
	{"error?", "ErrorCode", "why it could not be looked"},
	AFTER,
};
static const struct member picture_line[] = {
	LINE,
	{"event", "=picture", "a picture was added to the recording; in the journal alone"},
	{"picture", "count", "its number, from 1"},
	{"frame", "count", "that it shows"},
	{"digest", "string", "SHA-256 over its salt, header and parts"},
};
static const struct member pictures_stopped_line[] = {
	LINE,
	{"event", "=pictures_stopped", "no more pictures are added"},
	{"reason", "=full failed", "why: there are as many as may be, or one could not be written"},
};
static const struct member intent_line[] = {
	LINE,
	{"event", "=intent", "an action is about to be done"},
	WHO,
	WHEN,
	{"frame", "count", "before it"},
	{"index", "count", "of the action in its list"},
	{"space", "Size", "of its coordinates"},
	{"action", "object", "the action; without texts, where these are not kept"},
	{"verdict?", "Passed", "how it got through the rules; absent: none has a word for it"},
	BEFORE,
};
static const struct member approval_line[] = {
	LINE,
	{"event", "=approval", "a person is asked, has answered, or need not answer any more; or a rule has refused an action"},
	{"actor?", "Actor", "who asked, or answered"},
	{"request?", "string", "id of that request"},
	WHEN,
	{"approval?", "string", "id of the question"},
	{"state", "=waiting allowed denied expired withdrawn refused", "how it stands; refused: by the rule, and nobody was asked"},
	{"rule", "string", "that asks or refuses"},
	{"action", "string", "name of the action"},
	{"answer?", "=once session deny", "of a person"},
};
static const struct member result_line[] = {
	LINE,
	{"event", "=result", "an action was done, or failed"},
	WHO,
	WHEN,
	{"frame", "count", "after it"},
	{"index", "count", "of the action in its list"},
	{"ok", "boolean", "did it go well?"},
	{"elapsed_ms", "count", "how long it took"},
	{"error?", "ErrorCode", "why not"},
	{"node?", "MetNode|null", "what it met, as the result says"},
	{"node_to?", "MetNode|null", NULL},
	{"node_reason?", "=none late failed", NULL},
	AFTER,
	{"folded?", "boolean", "it was needless"},
	{"delivered?", "count", "what the result says, as far as it is a number or a truth"},
	{"x?", "integer", NULL},
	{"y?", "integer", NULL},
	{"width?", "integer", NULL},
	{"height?", "integer", NULL},
	{"window?", "count", NULL},
	{"pid?", "integer", NULL},
	{"focused?", "boolean", NULL},
	{"closed?", "boolean", NULL},
	{"settled?", "boolean", NULL},
	{"exit_code?", "integer", NULL},
	{"signal?", "integer", NULL},
	{"timed_out?", "boolean", NULL},
	{"truncated?", "boolean", NULL},
	{"more?", "boolean", NULL},
	{"took_ms?", "count", NULL},
	{"came?", "boolean", NULL},
	{"returned?", "boolean", NULL},
};
static const struct member switch_line[] = {LINE, {"event", "=paused resumed", "the session was"}, WHO, WHEN};
static const struct member lease_line[] = {
	LINE,
	{"event", "=lease", "the controls changed hands; from here on lines are private, until the agent has them again"},
	{"holder", "=agent human nobody", "who has them now"},
	{"why", "=start ask demand take give extend clear lose come run_out withdraw revoke", "what happened"},
	WHEN,
	{"kind?", "=login approve captcha other", "what the person is needed for"},
	{"actor?", "Actor", "who did it; absent: the server"},
	{"request?", "string", "id of the request"},
};
static const struct member warning_line[] = {
	LINE,
	{"event", "=warning", "a person who holds the controls will lose them"},
	{"reason", "=idle ttl", "for doing nothing; because the session ends"},
	{"ends_at", "time", "when"},
	{"epoch", "count", "of the lease"},
};
static const struct member silent_line[] = {
	LINE,
	{"event", "=display_silent", "the display gave no answer: a program has grabbed it, or floods it"},
	{"ended?", "=agent apps session", "what is ended for it, one after the other until it answers"},
	{"answers", "boolean", "it does again; what was ended before it did helped"},
	WHEN,
};
static const struct member result_check_line[] = {
	LINE,
	{"event", "=result_check", "something was found in what was about to be told"},
	WHO,
	{"call", "string", "in whose answer"},
	{"rule", "=secret private_key cloud_key card", "what was found"},
	{"secret?", "string", "name of the stored secret"},
	{"hits", "count", "how often"},
	{"done", "=masked noted withheld", "noted: it was told all the same; withheld: with the text that it was in, as it was too often"},
};
static const struct member egress_line[] = {
	LINE,
	{"event", "=egress", "a program of the session wanted to reach a host"},
	{"verdict", "=allow deny ask", "what became of it"},
	{"rule?", "string", "the entry of the list that lets it through, or what refuses it"},
	{"host?", "string", "as it was asked for"},
	{"port?", "count", "the same"},
	{"address?", "string", "that was found and connected to"},
	{"method?", "string", "of a request that could be read"},
	{"reason?", "string", "why it was refused"},
	{"secret?", "string", "name of the stored secret that was added"},
	{"again?", "count", "it came so often since its line"},
};
static const struct member egress_closed_line[] = {
	LINE,
	{"event", "=egress_closed", "what was let through has ended"},
	{"host", "string", "as it was asked for"},
	{"port", "count", "the same"},
	{"up", "count", "bytes that were sent"},
	{"down", "count", "bytes that came"},
	{"ms?", "count", "how long it took"},
	{"again?", "count", "so many ended since such a line; up and down are theirs together"},
};
static const struct member egress_rest_line[] = {
	LINE,
	{"event", "=egress_rest", "there was more than the journal has lines for"},
	{"lines", "count", "so many lines of egress and egress_closed"},
	{"up", "count", "bytes of the latter that were sent"},
	{"down", "count", "bytes of the latter that came"},
};
static const struct member egress_lost_line[] = {LINE, {"event", "=egress_lost", "the process of the way out has ended, and what went through it; another one comes"}};
static const struct member setup_line[] = {
	LINE,
	{"event", "=setup", "a command of the setup phase"},
	{"index", "count", "of it, in the spec"},
	{"state", "=begun done", "begun: before it runs"},
	{"stdout?", "string", "the end of what it said"},
	{"stderr?", "string", "the same, as errors"},
	{"exit_code?", "count|null", "its status"},
	{"signal?", "count|null", "that ended it"},
	{"timed_out?", "boolean", "it was stopped at the time limit"},
	{"elapsed_ms?", "count", "how long it took"},
};
static const struct member setup_result[] = {
	{"index", "count", "of the command, in the spec"},
	{"stdout", "string", "the end of what it said"},
	{"stderr", "string", "the same, as errors"},
	{"exit_code?", "count|null", "its status"},
	{"signal?", "count|null", "that ended it"},
	{"timed_out?", "boolean", "it was stopped at the time limit"},
	{"elapsed_ms", "count", "how long it took"},
};
static const struct member file_line[] = {
	LINE,
	{"event", "=file", "a file or folder was read, written or deleted over the API"},
	WHO,
	{"call", "=file_get file_put file_delete", "what was done"},
	{"path", "string", "of the file or folder, as a whole"},
	{"tar", "boolean", "as an archive"},
	{"state", "=begun done failed", "begun: before anything of it happens"},
	{"epoch", "count", "of the lease"},
	{"episode", "count", "of the session"},
	{"bytes?", "count", "that went either way; of an archive its own"},
	{"sha256?", "string", "of these bytes; none where a secret went in"},
	{"entries?", "count", "of an archive"},
	{"skipped?", "count", "what was left out of it"},
	{"code?", "ErrorCode", "why it has failed"},
};
static const struct member folder_entry[] = {
	{"name", "string", "in the folder"},
	{"type", "=file folder link other", "other: a device, a pipe, a socket"},
	{"size", "count", "of a file, bytes"},
	{"mode", "string", "its rights, three octal digits"},
	{"modified", "time", "when it was last changed"},
};
static const struct member folder_members[] = {
	{"path", "string", "of the folder, as a whole"},
	{"entries", "FolderEntry[]", "by name"},
	{"more", "boolean", "there are more than one answer has room for"},
	{"not_utf8?", "count", "entries that are not listed, for their names are no UTF-8"},
};
static const struct member file_written[] = {
	{"path", "string", "of the file or folder, as a whole"},
	{"bytes", "count", "of the file; of an archive those of its files"},
	{"created?", "boolean", "of a file: it was not there before"},
	{"entries?", "count", "of an archive"},
};
static const struct member file_deleted[] = {
	{"path", "string", "of the file or folder, as a whole"},
	{"deleted", "count", "files, folders and links"},
};
static const struct member met_limit_members[] = {
	{"limit", "string", "its name in the spec"},
	{"value", "number", "the limit, in the unit of its name"},
	{"used", "number", "now; of a limit of time, what was used"},
	{"ended?", "=agent apps", "whose programs were ended, because one of them did not stop meeting it"},
	{"fix", "string", "what to do"},
};
static const struct member limit_line[] = {
	LINE,
	{"event", "=limit", "a limit was met"},
	{"limit", "string", "its name in the spec"},
	{"value", "number", "the limit, in the unit of its name"},
	{"used", "number", "when it was looked"},
	{"hits", "count", "how often, since the line before about this limit"},
	{"ended?", "=agent apps", "whose programs are ended, because one of them does not stop meeting it"},
	{"fix", "string", "what to do"},
};
static const struct member usage_line[] = {
	LINE,
	{"event", "=usage", "what was used so far: every 5 minutes, and at the end"},
	{"elapsed_ms", "count", "since the session was opened"},
	{"cpu_ms", "count", "processor time"},
	{"peaks", "number{}", "the most of each limit, by its name; of cpu an average over 10 s, absent before"},
	{"hits", "count{}", "of those that were met, how often"},
};
static const struct member end_line[] = {LINE, {"event", "=failed end", "the session has failed, or has ended"}, {"reason", "string", "why"}};

const struct shape shapes_stage[] = {
	{"At", "When something was true. Goes back as `seen` with the act that was decided on.", MEMBERS(at_members)},
	{"Size", "Width and height.", MEMBERS(size_members)},
	{"Rect", "A rectangle in the caller's space.", MEMBERS(rect_members)},
	{"ActReply", "What came of a list of actions that was begun.", MEMBERS(act_members)},
	{"Observation", "How the screen looks now.", MEMBERS(observation_members)},
	{"Verdict", "What the rules say of an action.", MEMBERS(verdict_members)},
	{"Passed", "How an action got through the rules.", MEMBERS(passed_members)},
	{"SaidWindow", "A window, as it calls itself.", MEMBERS(said_window_members)},
	{"Approval", "A question to a person.", MEMBERS(approval_members)},
	{"ApprovalCounts", "Questions of a session so far.", MEMBERS(approval_counts_members)},
	{"Approvals", "Questions to people.", MEMBERS(approvals_members)},
	{"MetNode", "What an action met, as its app calls it.", MEMBERS(met_members)},
	{"Cancelled", "What a cancel found.", MEMBERS(cancelled_members)},
	{"StreamFrame", "A change of the picture.", MEMBERS(frame_members)},
	{"StreamTile", "A part of it.", MEMBERS(tile_members)},
	{"StreamEnd", "The last one of a stream.", MEMBERS(end_members)},
	{"EventGap", "Events that are not kept any more.", MEMBERS(gap_members)},
	{"Lease", "Who holds the controls.", MEMBERS(lease_members)},
	{"Actor", "Who did it.", MEMBERS(actor_members)},
	{"StartLine", "The first line of a journal.", MEMBERS(start_line)},
	{"ReadyLine", "A line of a journal.", MEMBERS(ready_line)},
	{"CallLine", "A line of a journal, written before those of its actions.", MEMBERS(call_line)},
	{"ObservationLine", "A line of a journal, written after an observation.", MEMBERS(observation_line)},
	{"PictureLine", "A line of a journal, written before those that name the picture.", MEMBERS(picture_line)},
	{"PicturesStoppedLine", "A line of a journal.", MEMBERS(pictures_stopped_line)},
	{"IntentLine", "A line of a journal, written before the first event of an action.", MEMBERS(intent_line)},
	{"ResultLine", "A line of a journal, written after an action.", MEMBERS(result_line)},
	{"ApprovalLine", "A line of a journal.", MEMBERS(approval_line)},
	{"SwitchLine", "A line of a journal.", MEMBERS(switch_line)},
	{"LeaseLine", "A line of a journal.", MEMBERS(lease_line)},
	{"WarningLine", "A line of a journal.", MEMBERS(warning_line)},
	{"SilentLine", "A line of a journal.", MEMBERS(silent_line)},
	{"ResultCheckLine", "A line of a journal, of the result check.", MEMBERS(result_check_line)},
	{"EgressLine", "A line of a journal, of the way out.", MEMBERS(egress_line)},
	{"EgressClosedLine", "A line of a journal, of the way out.", MEMBERS(egress_closed_line)},
	{"EgressRestLine", "A line of a journal, of the way out.", MEMBERS(egress_rest_line)},
	{"EgressLostLine", "A line of a journal, of the way out.", MEMBERS(egress_lost_line)},
	{"MetLimit", "A limit of the session that was met.", MEMBERS(met_limit_members)},
	{"LimitLine", "A line of a journal.", MEMBERS(limit_line)},
	{"UsageLine", "A line of a journal.", MEMBERS(usage_line)},
	{"EndLine", "A line of a journal.", MEMBERS(end_line)},
	{"SetupLine", "A line of a journal.", MEMBERS(setup_line)},
	{"SetupResult", "What became of a command of the setup phase.", MEMBERS(setup_result)},
	{"FileLine", "A line of a journal.", MEMBERS(file_line)},
	{"Folder", "What is in a folder.", MEMBERS(folder_members)},
	{"FolderEntry", "One entry of it.", MEMBERS(folder_entry)},
	{"FileWritten", "What was written.", MEMBERS(file_written)},
	{"FileDeleted", "What was deleted.", MEMBERS(file_deleted)},
};
const size_t shapes_n_stage = ARRAY_LEN(shapes_stage);
