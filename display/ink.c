/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of columns. */
#include "display/ink.h"

#include <sys/param.h>

#define COLOUR 0x00FFFFFFU
#define LEAST_COLUMNS 3 /* fewer may be a caret */

/* FNV-1a, by pixels; never 0. */
static uint32_t digest(const uint32_t *pixels, struct space screen, struct rect column)
{
	uint32_t first = pixels[(size_t)column.y * (size_t)screen.width_px + (size_t)column.x] & COLOUR, sum = 2166136261U;
	bool is_plain = true;

	for (int y = column.y; y < column.y + column.height; y++)
		for (int x = column.x; x < column.x + column.width; x++) {
			uint32_t colour = pixels[(size_t)y * (size_t)screen.width_px + (size_t)x] & COLOUR;

			is_plain &= colour == first;
			sum = (sum ^ colour) * 16777619U;
		}
	return is_plain ? 0 : sum | 1U;
}

void ink_take(const uint32_t *pixels, struct space screen, struct rect rect, struct ink *out)
{
	int top = MAX(rect.y, 0), bottom = MIN(rect.y + rect.height, screen.height_px);

	*out = (struct ink){.width = rect.width, .height = rect.height};
	for (int i = 0; i < INK_COLUMNS; i++) {
		int left = MAX(rect.x + rect.width * i / INK_COLUMNS, 0), right = MIN(rect.x + rect.width * (i + 1) / INK_COLUMNS, screen.width_px);

		if (right > left && bottom > top)
			out->columns[i] = digest(pixels, screen, (struct rect){left, top, right - left, bottom - top});
	}
}

int ink_left(const struct ink *before, const struct ink *written, const struct ink *now)
{
	bool has_before = before->width == written->width && before->height == written->height;
	int n = 0, n_left = 0;

	if (written->width == 0)
		return -1;
	for (int i = 0; i < INK_COLUMNS; i++) {
		if (written->columns[i] == (has_before ? before->columns[i] : 0))
			continue;
		n++;
		n_left += now->columns[i] == written->columns[i];
	}
	return n < LEAST_COLUMNS ? -1 : n_left * 100 / n;
}
