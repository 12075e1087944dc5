/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link between the front and a stage: frames on a Unix stream, run/ID/stage.sock, one call at a time on a connection.
 *
 * The stage speaks first: HELLO. Then the front sends a CALL (a JSON envelope) and, if its flag MORE is set, the body of the call in
 * DATA frames, each but the last with MORE. The stage answers with REPLY (an envelope) and its body in DATA frames the same way. The
 * front relays the body without reading it. Connections are kept and reused; closing one cancels the call that runs on it, unless the
 * call has a key: then it runs on, and its caller comes back for the answer (keyed.h). "running" of HELLO are the calls of that kind.
 *
 * HELLO  {"session":ID,"episode":N,"epoch":N,"state":"starting|ready|paused|…","holder":"agent|human|nobody","parked":[],"running":[REQUEST-ID…]}
 * CALL   {"call":NAME,"role":"agent|viewer|controller|operator|owner|server","token":ID,"request_id":TEXT,"key":TEXT,"query":{…},"progress":BOOL}
 * TAKEN  uint64_t, of the front, while a reply without end comes: so many bytes of its body are on their way to the caller
 * PROGRESS {"done":N,"of":N}, of the stage before its REPLY, when the call asked for it: so many of its actions are done
 * REPLY  {"status":N,"type":MEDIA-TYPE,"headers":{NAME:VALUE},"counts":{…},"length":N}
 *        length, of one whose body comes in pieces: all of them together
 *        counts, for the front's metrics: {"refused":CODE}, or of an act that was begun {"ok":BOOL,"actions":{NAME:[OK,FAILED]}},
 *        of questions to people {"approvals":{NAME:N}}, and of files {"file":OPERATION,"bytes":N}
 *
 * Calls, with the JSON body each takes (– none) and what it answers:
 *   open        {"spec":SESSION-SPEC,"image":MANIFEST,"approval":RULES-OF-THE-CONFIGURATION}  waits for X, window manager, painted desktop; only role server; {}
 *   start       –   starts the bus and the spec's apps, waits for their windows; only role server; the state object; later state=ready
 *   state       –   {"state","display","space","at","held":{"keys":[],"buttons":[]},"apps":[…]}
 *   act         the act object (GET /v1/actions has its schema)
 *   computer    query: dialect; an action, or a turn of them, of a model of another vendor (session/dialects), answered in its own form
 *   screenshot  –   query: the fields of the action screenshot; a picture with the Glovebox-* headers and its ETag; if_none_match has it: 304
 *   events      –   query: last_event_id; text/event-stream, which goes on until the session ends or either side closes (events.h)
 *   stream      –   query: as screenshot, max_fps; text/event-stream as above, of what changes on the screen (stream.h)
 *   file_get    –   query: path, format, range, if_none_match, if_range, head; the file, a list, or a tar (files.h); also kind, which it must be (file, folder),
 *                   from and most, of the bytes or entries: then Glovebox-Size has the size of the file
 *   file_put    the bytes, which are taken as they come; query: path, format, parents, mode, length; {"path","bytes",…}
 *   file_drop   –   query: path, recursive; {"path","deleted":N}
 *   cancel      –   stops the running act; {"cancelled":BOOL}
 *   pause       –   freezes the app jail; what runs is cancelled; the state object
 *   resume      –   lets it go on; the state object
 *   lease       –   query: wait_epoch, timeout_ms; who holds the controls, at once or when the epoch is past that (lease.h)
 *   lease       {"action":"take|give|extend|clear|withdraw",…}  the same object afterwards
 *   warn        {"ends_in_s":N}  the session ends then: a person who holds the controls is told; only role server; {}
 *   approvals   –   query: wait (ms, for one that waits); {"approvals":[CARD…],"counts":[{…}]} (approvals.h)
 *   approval    –   query: id; the card
 *   answer      {"answer":"once|session|deny","reason":TEXT}  query: id; the card
 *   crop        –   query: id; what it is about, as PNG
 *   end         {"reason":TEXT} or –   releases what is held, closes the journal with the reason; only role server; as head
 *   watch       –   query: seen; waits for a change of what the front is told; only role server (watch.h)
 *   head        –   where the journal's chain is; only role server; {"seq","hash"}
 *   viewer      {"token":ID,"role":NAME}: a number for one who is to watch by RFB; only role server; {"viewer":N}; expires when the warden brings no view for it
 *   viewers     –   who watch; only role server; {"viewers":[{"viewer":N,"token","role","controls":BOOL,"since_ms"}]}
 *   viewer_silent {"viewer":N}: what it holds is let go; only role server; {}
 *   viewer_end  {"viewer":N}: it watches no more; only role server; {}
 *   revoke      –   query: token, its id; what runs under its keys is cancelled; only role server; {}
 * A refusal is a REPLY with a 4xx or 5xx status and an application/problem+json body.
 */
#ifndef STAGE_LINK_H
#define STAGE_LINK_H

enum link_kind {
	LINK_HELLO = 1,
	LINK_CALL = 2,
	LINK_REPLY = 3,
	LINK_DATA = 4,
	LINK_TAKEN = 5,
	LINK_PROGRESS = 6,
};

enum link_flag {
	LINK_MORE = 1, /* a DATA frame follows that belongs to this one */
};

#endif
