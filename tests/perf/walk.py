# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program of Python's AT-SPI bindings needs for all nodes of all apps on the bus of AT_SPI_BUS_ADDRESS: {"nodes", "ms"}."""
import json
import time

import pyatspi

MOST = 20_000   # nodes; a spreadsheet says that it has thousands of millions
CHILDREN = 1_000


def walk(node, found):
    """What an agent is told of each: role, name, states, place."""
    try:
        found.append((node.getRoleName(), node.name, len(node.getState().getStates())))
        if "Component" in node.get_interfaces():
            node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
        for i in range(min(node.childCount, CHILDREN)):
            if len(found) < MOST and (child := node.getChildAtIndex(i)):
                walk(child, found)
    except Exception:  # a node that has gone: pyatspi has no kind of its own for that
        pass


def main():
    start, found = time.perf_counter(), []
    walk(pyatspi.Registry.getDesktop(0), found)
    print(json.dumps({"nodes": len(found), "ms": 1000 * (time.perf_counter() - start)}))


if __name__ == "__main__":
    main()
