/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON from outside, read strictly, and objects checked by rows.
 *
 * A form is a table of fields. It gives validation with exact errors (pointer, value, rule), JSON Schema, and the tables of the
 * docs: a new field is a new row. Nothing is clamped and nothing is guessed: unknown fields, wrong types, values out of range
 * and missing fields are refused. Owner: session/base. No threads.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "session/base/err.h"
#include "session/base/faults.h"

/*
 * Parses one JSON value of `len` bytes. Refused as ERR_BAD_JSON with offset, line and column: syntax, encoding (also a byte order
 * mark and lone surrogates), duplicate keys, numbers that overflow, nesting over LIMIT_JSON_DEPTH, anything after the value. NUL
 * characters inside strings are kept: fields refuse them. *out is the caller's.
 */
int json_parse(const char *text, size_t len, json_t **out, struct err *e);

/* The same of one that has at most max_values values, for a large body: each takes many times the memory of its text. */
int json_parse_few(const char *text, size_t len, size_t max_values, json_t **out, struct err *e);

enum field_type {
	FIELD_INT,     /* a number without a fraction within min..max */
	FIELD_NUMBER,  /* a finite number within min..max */
	FIELD_BOOL,
	FIELD_STRING,  /* valid UTF-8 without NUL, min..max bytes */
	FIELD_ENUM,    /* one of `choices` (space separated) */
	FIELD_KEYS,    /* "ctrl+shift+t" or a list of names; the input folder checks the names */
	FIELD_X,       /* a column of the caller's space: integer 0..width-1 */
	FIELD_Y,       /* a row of the caller's space: integer 0..height-1 */
	FIELD_PATH,    /* min..max points [x, y] of the caller's space */
	FIELD_STRINGS, /* a list of min..max strings */
	FIELD_MAP,     /* an object of at most max strings (environment, labels) */
	FIELD_OBJECT,  /* an object checked by `form`, or any object when form is NULL */
	FIELD_LIST,    /* a list of min..max objects checked by `form`; form_rect: as FIELD_RECT */
	FIELD_RECT,    /* {"x","y","width","height"} inside the caller's space, at least 1x1 */
	FIELD_ANY      /* any value; the code that uses it checks it. For the schema: one of `choices`, or what `form` says */
};

struct field {
	const char *name;
	enum field_type type;
	bool required;
	double min, max;          /* meaning depends on the type */
	const char *choices;      /* FIELD_ENUM: space separated */
	const struct form *form;  /* FIELD_OBJECT, FIELD_LIST, FIELD_ANY */
	const char *unit;         /* "ms", "px", … or NULL */
	const char *fallback;     /* the default as JSON text for the schema, or NULL */
	const char *doc;          /* one line */
};

struct form {
	const struct field *fields;
	size_t n_fields;
	const char *any_of_doc; /* a rule that the rows cannot say (checked by code), or NULL */
};

/* What a FIELD_RECT holds. */
extern const struct form form_rect;

/* {"width","height"}: a space, or the size of a picture. */
extern const struct form form_space;

/* The pixel space that coordinates of a call are given in. */
struct space {
	int width_px, height_px;
};

/* What coordinates are checked against: the caller's space, and for the texts of errors the display that it shows. */
struct bounds {
	struct space space, native;
};

/*
 * Checks `value` against the form and adds all faults to *faults, as far as there is room: 0, or -1 when there are some. `path` is the
 * pointer of the value itself ("" for the whole body). Nothing is changed. `bounds` may be NULL when the form has no coordinates.
 */
int form_check_all(const struct form *form, const json_t *value, const char *path, const struct bounds *bounds, struct faults *faults);

/* The same for who wants the first fault only. */
int form_check(const struct form *form, const json_t *value, const char *path, const struct bounds *bounds, struct err *e);

/* Appends "/key" (escaped as RFC 6901 says; cut where the path is full) to a pointer; returns the old length, to cut back to. */
size_t form_pointer_add(char path[ERR_PATH_MAX], const char *key);

/* The form as a JSON Schema (2020-12) object with additionalProperties false; the caller's reference. */
json_t *form_schema(const struct form *form);

/* Values of an object that was checked: the field, or the fallback when it is absent. Strings are borrowed. */
long form_int(const json_t *object, const char *name, long fallback);
double form_number(const json_t *object, const char *name, double fallback);
bool form_bool(const json_t *object, const char *name, bool fallback);
const char *form_string(const json_t *object, const char *name, const char *fallback);

/* Values of what was not checked. A member that is there and not null, or NULL: vendors' packages write null for what is absent. Borrowed. */
const json_t *form_given(const json_t *object, const char *name);

/* True for a string that is this text, all of it: one that goes on behind a NUL is not. */
bool form_is(const json_t *value, const char *text);

#endif
