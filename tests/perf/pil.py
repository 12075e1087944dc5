# SPDX-License-Identifier: GPL-2.0-or-later
"""pil.py N: how long ImageGrab and its PNG take in this process, N times, as JSON."""
import io
import json
import os
import sys
import time

from PIL import ImageGrab


def shot():
    data = io.BytesIO()
    ImageGrab.grab(xdisplay=os.environ["DISPLAY"]).save(data, "PNG")
    return data.tell()


def main():
    times, size = [], shot()
    for _ in range(int(sys.argv[1])):
        start = time.perf_counter()
        size = shot()
        times.append(1000 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "bytes": size}))


if __name__ == "__main__":
    main()
