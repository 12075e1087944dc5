# SPDX-License-Identifier: GPL-2.0-or-later
"""What the recorded turns answer to Anthropic's toolset is what the vendor's SDK answers where it drives a computer itself."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests"))
import npm  # noqa: E402

TURNS = TREE / "tests" / "dialects" / "computer_toolset_20260801"


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    folder = npm.workshop(tmp_path_factory.mktemp("sdk") / "work", TREE / "tests" / "adapters" / "own_words.mjs")

    def ask(calls):
        done = subprocess.run([npm.NODE, "own_words.mjs"], input=json.dumps(calls), capture_output=True, text=True, cwd=folder, env=npm.ENV, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def turns(name):
    return [turn for turn in json.loads((TURNS / f"{name}.json").read_text()) if "answer" in turn]


def does(turn):
    """What a driver of the SDK returns for what our act has done."""
    picture = turn["reply"].get("observation", {}).get("picture")
    place = turn["reply"]["results"][-1] if turn["reply"]["results"] else {}
    if picture:
        return {"data": picture["data"], "mediaType": f"image/{picture['format']}"}
    return {"x": place["x"], "y": place["y"]} if "x" in place else None


def test_every_member(sdk):
    # Keys that came as "key" are none of the SDK's.
    recorded = [turn for turn in turns("members") if "key" not in turn["body"]["input"] or turn["body"]["name"] != "key"]
    names = {turn["body"]["name"] for turn in recorded}
    assert len(names) == 17
    said = sdk([{"call": turn["body"], "does": does(turn)} for turn in recorded])
    for turn, answer in zip(recorded, said):
        assert turn["answer"] == answer, turn["body"]


def test_members_that_are_none(sdk):
    recorded = [turn for turn in turns("faults") if turn["reply"]["results"][0]["error"]["code"] == "unknown_action"]
    assert len(recorded) > 5
    for turn, answer in zip(recorded, sdk([{"call": turn["body"]} for turn in recorded])):
        assert plain(turn["answer"]) == plain(answer), turn["body"]


def test_errors_have_the_form_of_the_sdks(sdk):
    recorded = [*turns("faults"), *(turn for turn in turns("errors") if isinstance(turn["body"], dict) and "reply" in turn and "is_error" in turn["answer"])]
    calls = [{"call": turn["body"], "fails": turn["answer"]["content"][0]["text"]} for turn in recorded]
    for turn, answer in zip(recorded, sdk(calls)):
        ours = turn["answer"]
        assert {**ours, "content": None} == {**answer, "content": None}
        assert [block.keys() for block in ours["content"]] == [block.keys() for block in answer["content"]]


def plain(answer):
    """Its content as one text: the SDK gives a string where it has no block."""
    content = answer["content"]
    text = content if isinstance(content, str) else "".join(block["text"] for block in content)
    return {**answer, "content": text}


def test_what_is_not_executed():
    """The text is not exported: it is read in the SDK's source."""
    npm.need()
    source = (npm.MODULES / "@anthropic-ai" / "sdk" / "lib" / "internal" / "toolsets" / "run.js").read_text()
    text = re.search(r"computer: '(Not executed: [^']*)'", source)[1]
    answers = {block["text"] for turn in turns("turns") if isinstance(turn["answer"], list) for result in turn["answer"] for block in result["content"]
               if block.get("text", "").startswith("Not ")}
    assert answers == {text}
