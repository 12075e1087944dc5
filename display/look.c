/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks. */
#include "display/look.h"

#include <string.h>

#include "session/base/util.h"

int look_begin(struct look *look, struct display *display, enum encode_format format, struct err *e)
{
	*look = (struct look){.display = display, .is_slow = encode_of(format)->is_slow, .has_turn = true};
	if (look->is_slow && screen_take_turn(&display->slow, e) < 0)
		return -1;
	if (screen_take_turn(&display->look, e) == 0)
		return 0;
	if (look->is_slow)
		screen_give_turn(&display->slow);
	return -1;
}

void look_known(struct look *look)
{
	struct display *display = look->display;

	look->source = (struct kept_source){.shown = &display->shown, .tiles = &display->tiles, .frame = display->frame};
}

int look_update(struct look *look, bool no_cursor, struct err *e)
{
	struct display *display = look->display;

	if (!no_cursor && cursor_look(display, &look->cursor, e) < 0)
		return -1;
	/* The pointer came after all that the server had to tell. */
	if ((no_cursor || screen_has_news(display)) && screen_update(display, e) < 0)
		return -1;
	look_known(look);
	if (look->cursor)
		look->source.pointer = (struct kept_pointer){look->cursor->cursor_serial, cursor_rect(look->cursor)};
	return 0;
}

/* The copy is another's business no more: the next one looks. */
static void set_aside(struct look *look)
{
	const struct image *shown = &look->display->shown;

	look->copy = image_create(shown->width, shown->height);
	memcpy(look->copy.pixels, shown->pixels, (size_t)shown->width * (size_t)shown->height * sizeof(uint32_t));
	if (look->cursor)
		cursor_draw(look->cursor, &look->copy, 0, 0);
	look->source.shown = &look->copy;
	look->has_turn = false;
	screen_give_turn(&look->display->look);
}

void look_draw(struct look *look)
{
	if (look->is_slow)
		set_aside(look);
	else if (look->cursor)
		cursor_put(look->cursor, &look->display->shown, &look->under);
}

void look_end(struct look *look)
{
	cursor_take_away(&look->display->shown, &look->under);
	free(look->cursor);
	free(look->copy.pixels);
	if (look->has_turn)
		screen_give_turn(&look->display->look);
	if (look->is_slow)
		screen_give_turn(&look->display->slow);
}
