# SPDX-License-Identifier: GPL-2.0-or-later
"""What lies in the memory of a server's processes."""
import pathlib


def memory_of(pid):
    """All that a process can read of its own memory."""
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "r" not in line.split()[1] or "[v" in line:
                continue
            try:
                memory.seek(start)
                yield memory.read(end - start)
            except (OSError, OverflowError):
                continue


def processes(root):
    found, left = {}, [root]
    while left:
        pid = left.pop()
        try:
            found[pid] = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                left += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def holders(server, needle, but=()):
    """Names of those that have it."""
    found = set()
    for pid, name in processes(server.process.pid).items():
        try:
            if name not in but and any(needle in piece for piece in memory_of(pid)):
                found.add(name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def copies(server, program, needle):
    return sum(piece.count(needle) for pid, name in processes(server.process.pid).items() if name == program for piece in memory_of(pid))


def assert_not_in_memory(server, needle, but=()):
    found = holders(server, needle, but)
    assert not found, f"it is in the memory of {found}"
