/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages for a browser that are files of their own: three files of this folder (.html, .css, .js), behind what all pages have in common (page.css, page.js), put into
 * the program by the assembler, and data, which the script shows. The page's policy allows this style and this script, by their hashes, and pictures. Owner: session/replay. No threads.
 */
#ifndef REPLAY_PAGE_H
#define REPLAY_PAGE_H

#include <jansson.h>
#include <stdio.h>

struct page {
	const char *html, *html_end, *style, *style_end, *script, *script_end;
	const char *pictures; /* where these may come from: img-src of the policy */
};

#define PAGE_FILE(name) "\t.incbin \"session/replay/" name "\"\n"
#define PAGE_ASSET(name, files) \
	__asm__(".pushsection .rodata\n" #name ":\n" files #name "_end:\n\t.byte 0\n\t.popsection\n"); \
	extern const char name[], name##_end[]

/* The page `name` of the files session/replay/STEM.*; the Makefile says that this object depends on them and on page.css and page.js. */
#define PAGE(name, stem, img_src) \
	PAGE_ASSET(name##_html, PAGE_FILE(stem ".html")); \
	PAGE_ASSET(name##_style, PAGE_FILE("page.css") PAGE_FILE(stem ".css")); \
	PAGE_ASSET(name##_script, PAGE_FILE("page.js") PAGE_FILE(stem ".js")); \
	static const struct page name = {name##_html, name##_html_end, name##_style, name##_style_end, name##_script, name##_script_end, img_src}

/* What comes in place of {{NAME}} in the page. */
struct page_mark {
	const char *mark; /* "{{NAME}}" */
	void (*put)(const void *arg, FILE *to);
};

/* Writes it; beside the marks {{POLICY}}, {{STYLE}} and {{SCRIPT}} are known. */
void page_write(const struct page *page, const struct page_mark *marks, size_t n_marks, const void *arg, FILE *to);

/* JSON that can stand in a script element: with <, >, &, U+2028 and U+2029 escaped. */
void page_put_json(const json_t *value, FILE *to);

#endif
