/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encoding pictures once. */
#include "session/replay/export_pictures.h"

#include "session/base/util.h"

void export_png_finish(struct export_png *png)
{
	free(png->data);
	*png = (struct export_png){.number = 0};
}

int export_png_make(struct export_png *png, struct reader *reader, uint64_t number)
{
	const struct pixels *pixels;
	struct err ignored;

	if (png->number == number && png->data)
		return 1;
	export_png_finish(png);
	if (reader_picture(reader, number, &pixels, &ignored) < 0)
		return 0;
	png->number = number;
	png->data = pixels_encode(pixels, &png->len);
	return 1;
}

int export_add(struct archive_writer *zip, const char *folder, const char *rest, const void *data, size_t len, struct err *e)
{
	auto_free char *name = util_printf("%s/%s", folder, rest);

	return archive_writer_add_bytes(zip, name, data, len, e);
}
