# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding things in pictures by their colour."""
from PIL import Image, ImageChops


def box(picture, colour):
    """The rectangle (left, top, right, bottom; the last two are outside) around all pixels of a colour; None without any."""
    other = ImageChops.difference(picture, Image.new("RGB", picture.size, colour)).convert("RGB")
    red, green, blue = other.split()
    unlike = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return unlike.point(lambda value: 0 if value else 255).getbbox()


def centre(rectangle):
    left, top, right, bottom = rectangle
    return {"x": (left + right) // 2, "y": (top + bottom) // 2}
