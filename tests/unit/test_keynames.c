/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Key names and chords: what models send, and what must be refused. */
/* links: input */
#include <setjmp.h>
#include <stdarg.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include "input/keynames.h"
#include "session/base/util.h"

static int parse(const char *json, struct chord *chord, struct err *e)
{
	json_t *keys = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	int rc;

	assert_non_null(keys);
	*e = (struct err){0};
	rc = keynames_parse(keys, "/keys", chord, e);
	json_decref(keys);
	return rc;
}

static void expect(const char *json, size_t n, const uint32_t *keysyms)
{
	struct chord chord;
	struct err e;

	if (parse(json, &chord, &e) < 0)
		fail_msg("%s: %s", json, e.msg);
	if (chord.n != n)
		fail_msg("%s: %zu keys, not %zu", json, chord.n, n);
	for (size_t i = 0; i < n; i++)
		if (chord.keys[i].keysym != keysyms[i])
			fail_msg("%s: key %zu is %#x, not %#x", json, i, chord.keys[i].keysym, keysyms[i]);
}

#define EXPECT(json, ...) \
	expect(json, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

static void expect_refused(const char *json, const char *path, const char *in_message)
{
	struct chord chord = {.n = 77};
	struct err e;

	if (parse(json, &chord, &e) == 0)
		fail_msg("%s was taken", json);
	assert_int_equal(e.code, ERR_UNKNOWN_KEY);
	assert_int_equal(chord.n, 77);
	assert_string_equal(e.path, path);
	if (!strstr(e.msg, in_message))
		fail_msg("%s: \"%s\" does not say %s", json, e.msg, in_message);
}

/* Names of one key, with a space between them. */
static const struct {
	const char *spellings;
	uint32_t keysym;
} SPELLINGS[] = {
	{"enter ENTER Return return KEnter", XKB_KEY_Return},
	{"kp_enter KP_Enter numpad_enter", XKB_KEY_KP_Enter},
	{"esc Escape ESC escape", XKB_KEY_Escape},
	{"PageDown page_down Page_Down pgdn PAGEDOWN page-down next Next pgdown", XKB_KEY_Page_Down},
	{"PageUp page_up Page_Up pgup prior Prior", XKB_KEY_Page_Up},
	{"ArrowDown down DOWN Down ARROWDOWN arrow_down", XKB_KEY_Down},
	{"ArrowUp up", XKB_KEY_Up},
	{"ArrowLeft left", XKB_KEY_Left},
	{"ArrowRight right", XKB_KEY_Right},
	{"Backspace BackSpace BACKSPACE back_space", XKB_KEY_BackSpace},
	{"del delete Delete DELETE", XKB_KEY_Delete},
	{"ins insert Insert", XKB_KEY_Insert},
	{"cmd command meta win super os windows Super_L CMD META winleft Meta", XKB_KEY_Super_L},
	{"option alt ALT Alt Alt_L altleft OPTION", XKB_KEY_Alt_L},
	{"alt_right Alt_R alt_r", XKB_KEY_Alt_R},
	{"altgr alt_gr AltGr alt-gr", XKB_KEY_ISO_Level3_Shift},
	{"ctrl control CTRL Control Control_L control_left ctrlleft", XKB_KEY_Control_L},
	{"shift SHIFT Shift Shift_L", XKB_KEY_Shift_L},
	{"space spacebar SPACE", XKB_KEY_space},
	{"tab Tab TAB", XKB_KEY_Tab},
	{"grave backtick `", XKB_KEY_grave},
	{"minus -", XKB_KEY_minus},
	{"plus", XKB_KEY_plus},
	{"comma ,", XKB_KEY_comma},
	{"f5 F5", XKB_KEY_F5},
	{"F24 f24", XKB_KEY_F24},
	{"capslock CAPSLOCK Caps_Lock", XKB_KEY_Caps_Lock},
	{"printscreen prtsc Print print", XKB_KEY_Print},
	{"menu contextmenu apps ContextMenu", XKB_KEY_Menu},
	{"multiply", XKB_KEY_KP_Multiply},
	{"kp_7 KP_7 numpad7 num7 Numpad7", XKB_KEY_KP_7},
	{"equals =", XKB_KEY_equal},
	{"/ slash", XKB_KEY_slash},
	{"\\\\ backslash", XKB_KEY_backslash},
	{"a KeyA keya", XKB_KEY_a},
	{"5 Digit5", XKB_KEY_5},
	{"controll ctrl_l LCtrl left_ctrl", XKB_KEY_Control_L},
	{"A", XKB_KEY_A},
	{"ISO_Left_Tab iso_left_tab", XKB_KEY_ISO_Left_Tab},
	{"XF86AudioPlay mediaplaypause", XKB_KEY_XF86AudioPlay},
	{"é eacute U+00E9 u+00e9 U00E9 0xe9", XKB_KEY_eacute},
	{"日 U+65E5 0x010065e5", 0x010065e5},
	{"🚀 U+1F680", 0x0101f680},
	{"Cyrillic_a а U+0430 0x6c1", 0x01000430},
};

static void test_single_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(SPELLINGS); i++) {
		char *save, *all = util_strdup(SPELLINGS[i].spellings);

		for (char *name = strtok_r(all, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
			auto_free char *json = util_printf("\"%s\"", name);
			auto_free char *list = util_printf("[\"%s\"]", name);

			if (strcmp(name, "KEnter") == 0)
				continue; /* no such spelling: see test_unknown */
			EXPECT(json, SPELLINGS[i].keysym);
			EXPECT(list, SPELLINGS[i].keysym);
		}
		free(all);
	}
}

/* Each spelling of the table names its row alone, as it stands there, in capitals and with separators. */
static void test_table(void **state)
{
	struct keyname key;
	const char *spellings;
	size_t n = 0;

	(void)state;
	for (size_t row = 0; (spellings = keynames_row(row, &key)); row++) {
		char *save, *all = util_strdup(spellings);

		for (char *name = strtok_r(all, " ", &save); name; name = strtok_r(NULL, " ", &save), n++) {
			auto_free char *json = util_printf("\"%s\"", name);
			auto_free char *capitals = util_strdup(json);
			auto_free char *split = util_printf("[\"%c_%s\"]", name[0], name + 1);

			for (char *c = capitals; *c; c++)
				*c = (char)toupper((unsigned char)*c);
			EXPECT(json, key.keysym);
			EXPECT(capitals, key.keysym);
			EXPECT(split, key.keysym);
		}
		free(all);
	}
	assert_true(n > 200);
}

static void test_control_characters(void **state)
{
	(void)state;
	EXPECT("\"\\n\"", XKB_KEY_Return);
	EXPECT("\"\\t\"", XKB_KEY_Tab);
	EXPECT("\"\\b\"", XKB_KEY_BackSpace);
	EXPECT("\" \"", XKB_KEY_space);
	EXPECT("[\"ctrl\",\" \"]", XKB_KEY_Control_L, XKB_KEY_space);
}

static void test_chords(void **state)
{
	(void)state;
	EXPECT("\"ctrl+c\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"CTRL+C\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"Control_L+c\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"ctrl-c\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"ctrl-left\"", XKB_KEY_Control_L, XKB_KEY_Left);
	EXPECT("\"Ctrl-Shift-T\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"ctrl+shift+t\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"ctrl + shift + t\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"shift+tab\"", XKB_KEY_Shift_L, XKB_KEY_Tab);
	EXPECT("\"cmd+a\"", XKB_KEY_Super_L, XKB_KEY_a);
	EXPECT("\"alt+F4\"", XKB_KEY_Alt_L, XKB_KEY_F4);
	EXPECT("\"ctrl++\"", XKB_KEY_Control_L, XKB_KEY_plus);
	EXPECT("\"ctrl+plus\"", XKB_KEY_Control_L, XKB_KEY_plus);
	EXPECT("\"ctrl+-\"", XKB_KEY_Control_L, XKB_KEY_minus);
	EXPECT("\"ctrl--\"", XKB_KEY_Control_L, XKB_KEY_minus);
	EXPECT("\"ctrl c\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"ctrl  c\"", XKB_KEY_Control_L, XKB_KEY_c);
	EXPECT("\"CTRL SHIFT T\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"ctrl page down\"", XKB_KEY_Control_L, XKB_KEY_Page_Down);
	EXPECT("\"ctrl page-down\"", XKB_KEY_Control_L, XKB_KEY_Page_Down);
	EXPECT("\"alt left\"", XKB_KEY_Alt_L, XKB_KEY_Left);
	EXPECT("\"ctrl shift left\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_Left);
	EXPECT("\"shift_left\"", XKB_KEY_Shift_L);
	EXPECT("\"page down\"", XKB_KEY_Page_Down);
	EXPECT("\"alt gr\"", XKB_KEY_ISO_Level3_Shift);
	EXPECT("\"ctrl+shift t\"", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("[\"ctrl shift\",\"t\"]", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"ctrl -\"", XKB_KEY_Control_L, XKB_KEY_minus);
	EXPECT("\"ctrl+U+20AC\"", XKB_KEY_Control_L, 0x010020ac);
	EXPECT("\"U+20AC+ctrl\"", 0x010020ac, XKB_KEY_Control_L);
	EXPECT("\"u+a\"", XKB_KEY_u, XKB_KEY_a);
	EXPECT("[\"ctrl\",\"a\"]", XKB_KEY_Control_L, XKB_KEY_a);
	EXPECT("[\"CTRL\",\"A\"]", XKB_KEY_Control_L, XKB_KEY_a);
	EXPECT("[\"ctrl\",\"+\"]", XKB_KEY_Control_L, XKB_KEY_plus);
	EXPECT("[\"ctrl+shift\",\"t\"]", XKB_KEY_Control_L, XKB_KEY_Shift_L, XKB_KEY_t);
	EXPECT("\"shift+A\"", XKB_KEY_Shift_L, XKB_KEY_A);
	EXPECT("\"alt+É\"", XKB_KEY_Alt_L, XKB_KEY_eacute);
}

static void test_unknown(void **state)
{
	(void)state;
	expect_refused("\"hyperspace\"", "/keys", "\"hyperspace\"");
	expect_refused("\"hyperspace\"", "/keys", "near: hyper, space");
	expect_refused("\"KEnter\"", "/keys", "near: enter");
	expect_refused("\"ctrl+entr\"", "/keys", "\"entr\" is not a key name; near: enter");
	expect_refused("[\"ctrl\",\"entr\"]", "/keys/1", "\"entr\"");
	expect_refused("\"\"", "/keys", "missing");
	expect_refused("[\"ctrl\",\"\"]", "/keys/1", "missing");
	expect_refused("\"+\"", "/keys", "plus");
	expect_refused("\"++\"", "/keys", "missing");
	expect_refused("\"+a\"", "/keys", "missing");
	expect_refused("\"ctrl+\"", "/keys", "missing");
	expect_refused("\"ctrl+ \"", "/keys", "missing");
	expect_refused("\"ctrl+++\"", "/keys", "missing");
	expect_refused("\"ctrl+ctrl\"", "/keys", "\"ctrl\" is named twice");
	expect_refused("\"ctrl+control\"", "/keys", "\"ctrl\" is named twice");
	expect_refused("[\"a\",\"a\"]", "/keys", "\"a\" is named twice");
	expect_refused("\"CTRL+A+a\"", "/keys", "\"a\" is named twice");
	expect_refused("\"a c\"", "/keys", "\"a c\"");
	expect_refused("\"ctrl entr\"", "/keys", "\"ctrl entr\"");
	expect_refused("\"a-b\"", "/keys", "\"a-b\"");
	expect_refused("\"ab\"", "/keys", "\"ab\"");
	expect_refused("\"left \\u0000\"", "/keys", "\\x00");
}

static void test_too_many(void **state)
{
	(void)state;
	EXPECT("\"a+b+c+d+e+f+g+h\"", 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
	expect_refused("\"a+b+c+d+e+f+g+h+i\"", "/keys", "\"i\" is one key too many");
	expect_refused("\"ctrl-alt-shift-super-altgr-hyper-Meta_L-Control_R-Shift_R-Alt_R-a\"", "/keys", "not a key name");
}

/* Nothing that ends the X server, breaks grabs or turns on accessibility keys of the server. */
static void test_server_keys(void **state)
{
	(void)state;
	expect_refused("\"Terminate_Server\"", "/keys", "display itself");
	expect_refused("\"0xfed5\"", "/keys", "display itself");
	expect_refused("\"XF86ClearGrab\"", "/keys", "display itself");
	expect_refused("\"xf86switch_vt_1\"", "/keys", "display itself");
	expect_refused("\"ctrl+Pointer_Button1\"", "/keys", "display itself");
	expect_refused("\"StickyKeys_Enable\"", "/keys", "display itself");
}

static void test_hostile(void **state)
{
	static const char *const numbers[] = {"0x", "0x0", "0xffffffff", "0x100000000", "U+110000", "U+D800", "U+0000", "U+001B", "U+0085", "U+FFFF", "U+FDD0", "0xZZ",
	                                      "0x20000000"};
	char name[400];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		auto_free char *json = util_printf("\"%s\"", numbers[i]);

		expect_refused(json, "/keys", "not a key name");
	}
	memset(name, 'a', sizeof(name));
	name[0] = name[398] = '"';
	name[399] = '\0';
	expect_refused(name, "/keys", "…");
	memset(name + 1, '-', 397);
	expect_refused(name, "/keys", "not a key name");
	memset(name + 1, '+', 397);
	expect_refused(name, "/keys", "missing");
	memset(name + 1, '_', 397);
	expect_refused(name, "/keys", "not a key name");
}

static void test_labels(void **state)
{
	static const uint32_t keysyms[] = {XKB_KEY_Shift_L, XKB_KEY_Control_R, XKB_KEY_Return, XKB_KEY_a,   XKB_KEY_A,        XKB_KEY_space,
	                                   XKB_KEY_F5,      XKB_KEY_plus,      0x0100042f,     0x0101f680, XKB_KEY_KP_Enter, XKB_KEY_Meta_L};
	char label[KEYNAMES_LABEL_MAX];

	(void)state;
	assert_string_equal(keynames_label(XKB_KEY_Shift_L, label), "shift");
	assert_string_equal(keynames_label(XKB_KEY_Super_L, label), "super");
	assert_string_equal(keynames_label(XKB_KEY_A, label), "A");
	assert_string_equal(keynames_label(XKB_KEY_F5, label), "F5");
	assert_string_equal(keynames_label(0x01000430, label), "а");
	for (size_t i = 0; i < ARRAY_LEN(keysyms); i++) {
		auto_free char *json = util_printf("\"%s\"", keynames_label(keysyms[i], label));

		EXPECT(json, keysyms[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_names), cmocka_unit_test(test_table), cmocka_unit_test(test_control_characters), cmocka_unit_test(test_chords),
		cmocka_unit_test(test_unknown),      cmocka_unit_test(test_too_many),           cmocka_unit_test(test_server_keys),
		cmocka_unit_test(test_hostile),      cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests_name("keynames", tests, NULL, NULL);
}
