/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of key names, and chords.
 *
 * The spellings are those that models of all vendors and the usual tools send. "meta" is Super, as browsers mean it (xdotool's meta is
 * the X name Meta_L), and "multiply" the keypad's key, not the character.
 */
#include "input/keynames.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon.h>

#include "session/base/near.h"
#include "session/base/util.h"

#define TOKEN_MAX 64 /* bytes of a name with its NUL; nothing longer is one */
#define NEAR_MAX 3   /* names that an error suggests */
#define KEYSYM_MAX 0x1fffffff /* X keeps three bits of a keysym for itself */

struct row {
	uint32_t keysym, other;
	const char *spellings; /* separated by spaces; the first is the key's label */
};

static const struct row rows[] = {
	{XKB_KEY_Control_L, 0, "ctrl control ctrlleft controlleft controll ctrll leftctrl leftcontrol lctrl lcontrol ctl controlormeta"},
	{XKB_KEY_Control_R, 0, "ctrlright controlright controlr ctrlr rightctrl rightcontrol rctrl rcontrol"},
	{XKB_KEY_Alt_L, 0, "alt option altleft optionleft altl leftalt lalt opt"},
	{XKB_KEY_Alt_R, XKB_KEY_ISO_Level3_Shift, "altright optionright altr rightalt ralt"},
	{XKB_KEY_ISO_Level3_Shift, XKB_KEY_Alt_R, "altgr altgraph"},
	{XKB_KEY_Shift_L, 0, "shift shiftleft shiftl leftshift lshift"},
	{XKB_KEY_Shift_R, 0, "shiftright shiftr rightshift rshift"},
	{XKB_KEY_Super_L, 0,
	 "super meta cmd command win windows winleft metaleft superleft superl cmdl cmdleft commandleft leftmeta leftsuper leftcmd leftwin lwin "
	 "windowskey winkey os osleft"},
	{XKB_KEY_Super_R, 0, "winright metaright superright superr cmdr cmdright commandright rightmeta rightsuper rightcmd rightwin rwin osright"},
	{XKB_KEY_Hyper_L, 0, "hyper"},
	{XKB_KEY_Return, 0, "enter return newline"},
	{XKB_KEY_Escape, 0, "esc escape"},
	{XKB_KEY_Tab, 0, "tab"},
	{XKB_KEY_space, 0, "space spacebar"},
	{XKB_KEY_BackSpace, 0, "backspace"},
	{XKB_KEY_Delete, 0, "delete del forwarddelete"},
	{XKB_KEY_Insert, 0, "insert ins"},
	{XKB_KEY_Home, 0, "home"},
	{XKB_KEY_End, 0, "end"},
	{XKB_KEY_Page_Up, 0, "pageup pgup prior"},
	{XKB_KEY_Page_Down, 0, "pagedown pgdn pgdown next"},
	{XKB_KEY_Up, 0, "up arrowup uparrow"},
	{XKB_KEY_Down, 0, "down arrowdown downarrow"},
	{XKB_KEY_Left, 0, "left arrowleft leftarrow"},
	{XKB_KEY_Right, 0, "right arrowright rightarrow"},
	{XKB_KEY_Caps_Lock, 0, "capslock caps"},
	{XKB_KEY_Num_Lock, 0, "numlock"},
	{XKB_KEY_Scroll_Lock, 0, "scrolllock scrlk"},
	{XKB_KEY_Print, 0, "printscreen print prtsc prtscr prtscn prntscrn printscrn snapshot"},
	{XKB_KEY_Sys_Req, 0, "sysreq sysrq"},
	{XKB_KEY_Pause, 0, "pause break"},
	{XKB_KEY_Menu, 0, "menu contextmenu apps"},
	{XKB_KEY_Help, 0, "help"},
	{XKB_KEY_exclam, 0, "exclam exclamation exclamationmark"},
	{XKB_KEY_at, 0, "at atsign"},
	{XKB_KEY_numbersign, 0, "numbersign hash"},
	{XKB_KEY_dollar, 0, "dollar dollarsign"},
	{XKB_KEY_percent, 0, "percent"},
	{XKB_KEY_asciicircum, 0, "asciicircum caret circumflex"},
	{XKB_KEY_ampersand, 0, "ampersand"},
	{XKB_KEY_asterisk, 0, "asterisk star"},
	{XKB_KEY_parenleft, 0, "parenleft leftparen leftparenthesis openparen"},
	{XKB_KEY_parenright, 0, "parenright rightparen rightparenthesis closeparen"},
	{XKB_KEY_underscore, 0, "underscore"},
	{XKB_KEY_grave, 0, "backtick backquote grave"},
	{XKB_KEY_asciitilde, 0, "tilde asciitilde"},
	{XKB_KEY_minus, 0, "minus dash hyphen"},
	{XKB_KEY_plus, 0, "plus"},
	{XKB_KEY_equal, 0, "equal equals"},
	{XKB_KEY_bracketleft, 0, "bracketleft leftbracket openbracket"},
	{XKB_KEY_bracketright, 0, "bracketright rightbracket closebracket"},
	{XKB_KEY_braceleft, 0, "braceleft leftbrace openbrace"},
	{XKB_KEY_braceright, 0, "braceright rightbrace closebrace"},
	{XKB_KEY_semicolon, 0, "semicolon"},
	{XKB_KEY_colon, 0, "colon"},
	{XKB_KEY_apostrophe, 0, "quote apostrophe singlequote"},
	{XKB_KEY_quotedbl, 0, "doublequote quotedbl"},
	{XKB_KEY_comma, 0, "comma"},
	{XKB_KEY_period, 0, "period dot fullstop"},
	{XKB_KEY_less, 0, "less lessthan"},
	{XKB_KEY_greater, 0, "greater greaterthan"},
	{XKB_KEY_slash, 0, "slash forwardslash"},
	{XKB_KEY_question, 0, "question questionmark"},
	{XKB_KEY_backslash, 0, "backslash"},
	{XKB_KEY_bar, 0, "pipe bar verticalbar"},
	{XKB_KEY_KP_Enter, 0, "kpenter numpadenter"},
	{XKB_KEY_KP_Add, 0, "kpadd add numpadadd numpadplus"},
	{XKB_KEY_KP_Subtract, 0, "kpsubtract subtract numpadsubtract numpadminus"},
	{XKB_KEY_KP_Multiply, 0, "kpmultiply multiply numpadmultiply"},
	{XKB_KEY_KP_Divide, 0, "kpdivide divide numpaddivide"},
	{XKB_KEY_KP_Decimal, 0, "kpdecimal decimal numpaddecimal"},
	{XKB_KEY_KP_Separator, 0, "kpseparator separator numpadcomma"},
	{XKB_KEY_KP_Equal, 0, "kpequal numpadequal"},
	{XKB_KEY_KP_0, 0, "kp0 num0 numpad0"},
	{XKB_KEY_KP_1, 0, "kp1 num1 numpad1"},
	{XKB_KEY_KP_2, 0, "kp2 num2 numpad2"},
	{XKB_KEY_KP_3, 0, "kp3 num3 numpad3"},
	{XKB_KEY_KP_4, 0, "kp4 num4 numpad4"},
	{XKB_KEY_KP_5, 0, "kp5 num5 numpad5"},
	{XKB_KEY_KP_6, 0, "kp6 num6 numpad6"},
	{XKB_KEY_KP_7, 0, "kp7 num7 numpad7"},
	{XKB_KEY_KP_8, 0, "kp8 num8 numpad8"},
	{XKB_KEY_KP_9, 0, "kp9 num9 numpad9"},
	{XKB_KEY_Clear, 0, "clear"},
	{XKB_KEY_Select, 0, "select"},
	{XKB_KEY_Execute, 0, "execute"},
	{XKB_KEY_Henkan, 0, "convert henkan"},
	{XKB_KEY_Muhenkan, 0, "nonconvert muhenkan"},
	{XKB_KEY_Kanji, 0, "kanji"},
	{XKB_KEY_Hiragana_Katakana, 0, "kana kanamode hiraganakatakana"},
	{XKB_KEY_Hangul, 0, "hangul hanguel hangulmode"},
	{XKB_KEY_Hangul_Hanja, 0, "hanja hanjamode"},
	{XKB_KEY_Hangul_Jeonja, 0, "junja junjamode"},
	{XKB_KEY_XF86AudioPlay, 0, "mediaplaypause playpause audioplay mediaplay"},
	{XKB_KEY_XF86AudioPause, 0, "mediapause audiopause"},
	{XKB_KEY_XF86AudioStop, 0, "mediastop audiostop stop"},
	{XKB_KEY_XF86AudioNext, 0, "mediatracknext nexttrack medianext medianexttrack"},
	{XKB_KEY_XF86AudioPrev, 0, "mediatrackprevious prevtrack mediaprevious mediaprevtrack mediaprev"},
	{XKB_KEY_XF86AudioMute, 0, "volumemute audiovolumemute mediavolumemute mute"},
	{XKB_KEY_XF86AudioRaiseVolume, 0, "volumeup audiovolumeup mediavolumeup"},
	{XKB_KEY_XF86AudioLowerVolume, 0, "volumedown audiovolumedown mediavolumedown"},
	{XKB_KEY_XF86AudioMedia, 0, "launchmediaselect launchmediaplayer mediaselect"},
	{XKB_KEY_XF86Back, 0, "browserback"},
	{XKB_KEY_XF86Forward, 0, "browserforward"},
	{XKB_KEY_XF86Refresh, 0, "browserrefresh"},
	{XKB_KEY_XF86Stop, 0, "browserstop"},
	{XKB_KEY_XF86HomePage, 0, "browserhome"},
	{XKB_KEY_XF86Search, 0, "browsersearch"},
	{XKB_KEY_XF86Favorites, 0, "browserfavorites"},
	{XKB_KEY_XF86Mail, 0, "launchmail"},
	{XKB_KEY_XF86MyComputer, 0, "launchapp1 launchapplication1"},
	{XKB_KEY_XF86Calculator, 0, "launchapp2 launchapplication2"},
	{XKB_KEY_XF86Sleep, 0, "sleep"},
};

/* Keysyms that act on the X server itself (end it, break grabs, move the pointer, change how keys work) and on no app. */
static const struct {
	uint32_t first, last;
} server_keys[] = {
	{XKB_KEY_AccessX_Enable, XKB_KEY_AudibleBell_Enable},
	{XKB_KEY_Pointer_Left, XKB_KEY_Pointer_Drag5},
	{XKB_KEY_Terminate_Server, XKB_KEY_Terminate_Server},
	{XKB_KEY_XF86Switch_VT_1, XKB_KEY_XF86LogGrabInfo},
};

static const uint32_t modifiers[] = {
	XKB_KEY_Shift_L, XKB_KEY_Shift_R, XKB_KEY_Control_L, XKB_KEY_Control_R, XKB_KEY_Alt_L, XKB_KEY_Alt_R, XKB_KEY_Meta_L,
	XKB_KEY_Meta_R, XKB_KEY_Super_L, XKB_KEY_Super_R, XKB_KEY_Hyper_L, XKB_KEY_Hyper_R, XKB_KEY_ISO_Level3_Shift,
};

/* A name where it stands in the caller's text. */
struct token {
	const char *text;
	size_t len;
};

/* One chord while it is parsed. */
struct parser {
	const char *path;
	struct chord *chord;
	struct err *e;
};

bool keynames_is_modifier(uint32_t keysym)
{
	for (size_t i = 0; i < ARRAY_LEN(modifiers); i++)
		if (modifiers[i] == keysym)
			return true;
	return false;
}

bool keynames_has_key(uint32_t code_point)
{
	bool control = code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
	bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
	bool no_character = (code_point & 0xfffe) == 0xfffe || (code_point >= 0xfdd0 && code_point < 0xfdf0) || code_point > 0x10ffff;

	return !control && !surrogate && !no_character;
}

uint32_t keynames_of_char(uint32_t code_point)
{
	return code_point < 0x100 ? code_point : 0x01000000 | code_point;
}

uint32_t keynames_canonical(uint32_t keysym)
{
	bool keypad = keysym >= XKB_KEY_KP_Space && keysym <= XKB_KEY_KP_Equal;
	uint32_t code_point = keypad ? 0 : xkb_keysym_to_utf32(keysym);

	return code_point < 0x20 || code_point == 0x7f ? keysym : keynames_of_char(code_point);
}

const char *keynames_row(size_t i, struct keyname *key)
{
	if (i >= ARRAY_LEN(rows))
		return NULL;
	*key = (struct keyname){rows[i].keysym, rows[i].other};
	return rows[i].spellings;
}

static const struct row *find_row(uint32_t keysym)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].keysym == keysym)
			return &rows[i];
	return NULL;
}

const char *keynames_label(uint32_t keysym, char out[KEYNAMES_LABEL_MAX])
{
	const struct row *row = find_row(keysym);

	if (row)
		(void)snprintf(out, KEYNAMES_LABEL_MAX, "%.*s", (int)strcspn(row->spellings, " "), row->spellings);
	else if (keynames_canonical(keysym) == keysym && xkb_keysym_to_utf32(keysym) > 0x20 && xkb_keysym_to_utf32(keysym) != 0x7f)
		(void)xkb_keysym_to_utf8(keysym, out, KEYNAMES_LABEL_MAX);
	else
		(void)xkb_keysym_get_name(keysym, out, KEYNAMES_LABEL_MAX);
	return out;
}

/* Lower case without "_", "-" and spaces; "" when it is too long to be a name. */
static void normalise(struct token token, char out[TOKEN_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < token.len && n + 1 < TOKEN_MAX; i++)
		if (!strchr("_- ", token.text[i]))
			out[n++] = (char)tolower((unsigned char)token.text[i]);
	out[token.len < TOKEN_MAX ? n : 0] = '\0';
}

/* The next spelling of a row at *at, as a token; false at the end. */
static bool next_spelling(const char **at, struct token *spelling)
{
	*at += strspn(*at, " ");
	*spelling = (struct token){*at, strcspn(*at, " ")};
	*at += spelling->len;
	return spelling->len > 0;
}

static const struct row *find_spelling(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *at = rows[i].spellings;
		struct token spelling;

		while (next_spelling(&at, &spelling))
			if (strlen(name) == spelling.len && memcmp(name, spelling.text, spelling.len) == 0)
				return &rows[i];
	}
	return NULL;
}

/* The names that browsers have for the places of keys: "keya" to "keyz", "digit0" to "digit9". */
static uint32_t of_place(const char *name)
{
	size_t len = strlen(name);
	char c = len > 0 ? name[len - 1] : '\0';

	if (len == 4 && memcmp(name, "key", 3) == 0 && c >= 'a' && c <= 'z')
		return (uint32_t)c;
	if (len == 6 && memcmp(name, "digit", 5) == 0 && c >= '0' && c <= '9')
		return (uint32_t)c;
	return XKB_KEY_NoSymbol;
}

/* A single character: itself; of the control characters those that have a key. */
static uint32_t of_single(struct token token)
{
	static const char controls[] = "\n\r\t\b\033\177";
	static const uint32_t keys[] = {XKB_KEY_Return, XKB_KEY_Return, XKB_KEY_Tab, XKB_KEY_BackSpace, XKB_KEY_Escape, XKB_KEY_Delete};
	uint32_t code_point;
	const char *control;

	if (token.len == 0 || util_utf8_decode(token.text, token.len, &code_point) != token.len)
		return XKB_KEY_NoSymbol;
	control = code_point > 0 && code_point < 0x80 ? strchr(controls, (int)code_point) : NULL;
	if (control)
		return keys[control - controls];
	return keynames_has_key(code_point) ? keynames_of_char(code_point) : XKB_KEY_NoSymbol;
}

/* X's own names, "U20AC" and "0xff0d"; "U+20AC" is asked for without its plus. */
static uint32_t of_x_name(struct token token)
{
	char name[TOKEN_MAX];
	uint32_t keysym;

	if (token.len >= sizeof(name))
		return XKB_KEY_NoSymbol;
	memcpy(name, token.text, token.len);
	name[token.len] = '\0';
	if (token.len > 2 && toupper((unsigned char)name[0]) == 'U' && name[1] == '+')
		memmove(name + 1, name + 2, token.len - 1);
	keysym = xkb_keysym_from_name(name, XKB_KEYSYM_NO_FLAGS);
	if (keysym == XKB_KEY_NoSymbol)
		keysym = xkb_keysym_from_name(name, XKB_KEYSYM_CASE_INSENSITIVE);
	if (keysym >> 24 == 1 && !keynames_has_key(keysym & 0xffffff))
		return XKB_KEY_NoSymbol;
	return keysym <= KEYSYM_MAX ? keysym : XKB_KEY_NoSymbol;
}

static bool find_name(struct token token, struct keyname *out)
{
	char name[TOKEN_MAX];
	const struct row *row;
	uint32_t keysym = of_single(token);

	if (token.len > 0 && memchr(token.text, '\0', token.len))
		return false;
	normalise(token, name);
	row = keysym == XKB_KEY_NoSymbol && *name ? find_spelling(name) : NULL;
	if (row) {
		*out = (struct keyname){row->keysym, row->other};
		return true;
	}
	if (keysym == XKB_KEY_NoSymbol)
		keysym = of_place(name);
	if (keysym == XKB_KEY_NoSymbol)
		keysym = of_x_name(token);
	*out = (struct keyname){keynames_canonical(keysym), 0};
	return keysym != XKB_KEY_NoSymbol;
}

static bool is_near(const char *name, struct token spelling)
{
	size_t len = strlen(name);
	char text[TOKEN_MAX];

	(void)snprintf(text, sizeof(text), "%.*s", (int)spelling.len, spelling.text);
	if (len < 2 || spelling.len < 3)
		return false;
	return near_distance(name, text) <= (len > 4 ? 2 : 1) || (spelling.len > 3 && strstr(name, text)) ||
	       (len > 3 && strstr(text, name));
}

/* "; near: enter, return", or "" when nothing is near. */
static void suggest(struct token token, char *out, size_t size)
{
	char name[TOKEN_MAX];
	size_t n = 0, used = 0;

	*out = '\0';
	normalise(token, name);
	for (size_t i = 0; i < ARRAY_LEN(rows) && n < NEAR_MAX; i++) {
		const char *at = rows[i].spellings;
		struct token spelling;

		while (next_spelling(&at, &spelling))
			if (is_near(name, spelling)) {
				used += (size_t)snprintf(out + used, size - used, "%s%.*s", n++ ? ", " : "; near: ", (int)spelling.len, spelling.text);
				break;
			}
	}
}

static int unknown(const struct parser *p, struct token token)
{
	char quoted[TOKEN_MAX], near[128];

	if (token.len == 0)
		return err_set(p->e, ERR_UNKNOWN_KEY, p->path, "a key name is missing beside \"+\"; the plus key is called plus");
	suggest(token, near, sizeof(near));
	return err_set(p->e, ERR_UNKNOWN_KEY, p->path, "%s is not a key name%s; keys are joined by \"+\"",
	               err_quote(quoted, sizeof(quoted), token.text, token.len), near);
}

static int add_key(const struct parser *p, struct token token, struct keyname key)
{
	struct chord *chord = p->chord;
	char quoted[TOKEN_MAX];

	(void)err_quote(quoted, sizeof(quoted), token.text, token.len);
	for (size_t i = 0; i < ARRAY_LEN(server_keys); i++)
		if (key.keysym >= server_keys[i].first && key.keysym <= server_keys[i].last)
			return err_set(p->e, ERR_UNKNOWN_KEY, p->path, "%s acts on the display itself and is not offered", quoted);
	if (chord->n == LIMIT_CHORD_KEYS)
		return err_set(p->e, ERR_UNKNOWN_KEY, p->path, "%s is one key too many; at most %d are pressed together", quoted, LIMIT_CHORD_KEYS);
	chord->keys[chord->n++] = key;
	return 0;
}

static struct token trimmed(struct token token)
{
	while (token.len > 0 && isspace((unsigned char)token.text[0])) {
		token.text++;
		token.len--;
	}
	while (token.len > 0 && isspace((unsigned char)token.text[token.len - 1]))
		token.len--;
	return token;
}

/* Cuts the text before the first "-" or space (never before its first byte) off *rest; false when there is none. */
static bool cut(struct token *rest, struct token *first)
{
	for (size_t i = 1; i < rest->len; i++)
		if (rest->text[i] == '-' || rest->text[i] == ' ') {
			*first = (struct token){rest->text, i};
			*rest = (struct token){rest->text + i + 1, rest->len - i - 1};
			return true;
		}
	return false;
}

/* "ctrl-shift-t", "ctrl shift t", "ctrl page down": modifiers and a last key. False when the token is not of this form. */
static bool find_joined(struct token token, struct token names[LIMIT_CHORD_KEYS], struct keyname keys[LIMIT_CHORD_KEYS], size_t *n)
{
	*n = 0;
	while (*n + 1 < LIMIT_CHORD_KEYS && cut(&token, &names[*n])) {
		if (!find_name(names[*n], &keys[*n]) || !keynames_is_modifier(keys[*n].keysym))
			return false;
		++*n;
		if (token.len > 1)
			token = trimmed(token);
		if (find_name(token, &keys[*n]) && !(token.len > 1 && keynames_is_modifier(keys[*n].keysym))) {
			names[(*n)++] = token;
			return true;
		}
	}
	names[*n] = token;
	return *n > 0 && find_name(token, &keys[(*n)++]);
}

static int parse_name(const struct parser *p, struct token token)
{
	struct token names[LIMIT_CHORD_KEYS];
	struct keyname keys[LIMIT_CHORD_KEYS];
	size_t n;

	if (find_joined(token, names, keys, &n)) {
		for (size_t i = 0; i < n; i++)
			if (add_key(p, names[i], keys[i]) < 0)
				return -1;
		return 0;
	}
	if (!find_name(token, &keys[0]))
		return unknown(p, token);
	return add_key(p, token, keys[0]);
}

/* The length of "U+20AC" at the front of text, or 0: its plus joins nothing. */
static size_t code_point_len(struct token text)
{
	size_t n = 0;

	if (text.len < 6 || toupper((unsigned char)text.text[0]) != 'U' || text.text[1] != '+')
		return 0;
	while (n + 2 < text.len && isxdigit((unsigned char)text.text[n + 2]))
		n++;
	return n >= 4 && n <= 6 && (n + 2 == text.len || text.text[n + 2] == '+') ? n + 2 : 0;
}

/* "ctrl+shift+t". A plus that follows the joining plus is the plus key. */
static int parse_joined(const struct parser *p, struct token text)
{
	size_t before = p->chord->n;

	for (;;) {
		size_t len = code_point_len(text);
		struct token name;

		if (len == 0) {
			const char *plus = text.len ? memchr(text.text, '+', text.len) : NULL;

			len = plus ? (size_t)(plus - text.text) : text.len;
		}
		if (len == 0 && text.len == 1 && p->chord->n > before)
			len = 1;
		name = trimmed((struct token){text.text, len});
		if (parse_name(p, name) < 0)
			return -1;
		if (len == text.len)
			return 0;
		text = (struct token){text.text + len + 1, text.len - len - 1};
	}
}

/* One string of the caller: a single character is taken as it is, even a space or, in a list, a plus. */
static int parse_text(const struct parser *p, struct token text, bool in_list)
{
	bool plus = text.len == 1 && text.text[0] == '+';

	if (of_single(text) != XKB_KEY_NoSymbol && (in_list || !plus))
		return parse_name(p, text);
	return parse_joined(p, text);
}

/* Beside a modifier other than shift a capital is the name of its key. */
static void lower_capitals(struct chord *chord)
{
	bool shortcut = false;

	for (size_t i = 0; i < chord->n; i++) {
		uint32_t keysym = chord->keys[i].keysym;

		shortcut |= keynames_is_modifier(keysym) && keysym != XKB_KEY_Shift_L && keysym != XKB_KEY_Shift_R;
	}
	for (size_t i = 0; shortcut && i < chord->n; i++)
		chord->keys[i].keysym = xkb_keysym_to_lower(chord->keys[i].keysym);
}

static int refuse_twins(const struct chord *chord, const char *path, struct err *e)
{
	char label[KEYNAMES_LABEL_MAX];

	for (size_t i = 1; i < chord->n; i++)
		for (size_t j = 0; j < i; j++)
			if (chord->keys[i].keysym == chord->keys[j].keysym)
				return err_set(e, ERR_UNKNOWN_KEY, path, "\"%s\" is named twice", keynames_label(chord->keys[i].keysym, label));
	return 0;
}

int keynames_parse(const json_t *keys, const char *path, struct chord *chord, struct err *e)
{
	struct chord parsed = {0};
	struct parser p = {.path = path, .chord = &parsed, .e = e};
	char item_path[ERR_PATH_MAX];
	const json_t *item;
	size_t i;

	if (json_is_string(keys) && parse_text(&p, (struct token){json_string_value(keys), json_string_length(keys)}, false) < 0)
		return -1;
	json_array_foreach(keys, i, item) {
		(void)snprintf(item_path, sizeof(item_path), "%s/%zu", path, i);
		p.path = item_path;
		if (parse_text(&p, (struct token){json_string_value(item), json_string_length(item)}, true) < 0)
			return -1;
	}
	lower_capitals(&parsed);
	if (refuse_twins(&parsed, path, e) < 0)
		return -1;
	*chord = parsed;
	return 0;
}
