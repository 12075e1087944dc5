/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of a replay, and the forms it is written in.
 *
 * `head` is one object: {"journal","verdict","image","steps","passed","differing","failed","not_played","compared","elapsed_ms","recorded","session",…}. `steps` is a list of objects,
 * one for each recorded call: {"step","seq","time","title","verdict","reason","where","results_differ","results":[{"action","expected","actual","same"}],"points",
 * "node":{"state","recorded","now"} (of what was to be clicked on another screen: find.h), "before","expected","actual","difference" (names of pictures),"differing","share","box","hidden":[{"x","y","width","height","why"}],"waited_ms",
 * "elapsed_ms","note"}. A verdict is "passed", "differs", "failed" (the server did not do it) or "not_played".
 * Owner: session/replay. No threads.
 */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "session/replay/pixels.h"

struct report_picture {
	char name[32];
	void *png;
	size_t len;
};

struct report {
	json_t *head, *steps;
	struct report_picture *pictures;
	size_t n_pictures;
};

void report_init(struct report *report);
void report_finish(struct report *report);

/* Keeps a picture under this name, which is encoded; nothing if it has one of that name. */
void report_add_picture(struct report *report, const char *name, const struct pixels *pixels);

/* Counts the verdicts into the head, and says there what all came to: "passed" only if every step did. */
void report_close(struct report *report);

/* JUnit XML, as its readers agree on it: one testsuite, a testcase for each step. */
void report_junit(const struct report *report, FILE *to);

/* One HTML page with everything in it: style, script and pictures, under a Content-Security-Policy that allows nothing else. */
void report_html(const struct report *report, FILE *to);

/* Text for XML 1.0: escaped, and with a mark in place of what it cannot hold (controls, surrogates, U+FFFE, U+FFFF, bytes that are no UTF-8). */
void report_xml_text(FILE *to, const char *text, size_t len);

#endif
