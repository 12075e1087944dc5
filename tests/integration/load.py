# SPDX-License-Identifier: GPL-2.0-or-later
"""Something beside the test that takes the processor."""
import contextlib
import subprocess


@contextlib.contextmanager
def busy(n=2):
    """Processes that do nothing but run."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
