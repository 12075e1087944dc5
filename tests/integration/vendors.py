# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns of models as their vendors' servers send them, for a stand-in to play."""
import itertools

DONE = "All done."  # the last turn of each
ids = itertools.count(1)


class Anthropic:
    vendor, program = "anthropic", "anthropic.mjs"

    @staticmethod
    def turn(*calls):
        """A turn of the model; a call is a member's name and its input."""
        return [{"type": "tool_use", "id": f"toolu_{n}", "name": name, "toolset_name": "computer", "input": given}
                for n, (name, given) in zip(ids, calls)]

    @staticmethod
    def last():
        return [{"type": "text", "text": DONE}]

    @classmethod
    def click_and_type(cls, place, text):
        return cls.turn(("left_click", {"coordinate": [place["x"], place["y"]]}), ("type", {"text": text}), ("key", {"text": "Return"}), ("screenshot", {}))


class OpenAi:
    vendor, program = "openai", "openai.mjs"

    @staticmethod
    def turn(*actions, checks=()):
        """A turn of the model: a call with these actions."""
        n = next(ids)
        return [{"type": "computer_call", "id": f"cu_{n}", "call_id": f"call_{n}", "status": "completed", "actions": list(actions),
                 "pending_safety_checks": list(checks)}]

    @staticmethod
    def last():
        content = [{"type": "output_text", "text": DONE, "annotations": [], "logprobs": []}]
        return [{"type": "message", "id": f"msg_{next(ids)}", "role": "assistant", "status": "completed", "content": content}]

    @classmethod
    def click_and_type(cls, place, text):
        return cls.turn({"type": "click", "button": "left", **place}, {"type": "type", "text": text}, {"type": "keypress", "keys": ["ENTER"]})


class OpenAiAgents(OpenAi):
    program = "openai-agents.mjs"


class Google:
    vendor, program = "google", "google.mjs"

    @staticmethod
    def turn(*calls):
        """A turn of the model; a call is a function's name and its arguments."""
        return [{"functionCall": {"id": f"fc_{n}", "name": name, "args": {"intent": "to go on", **given}}} for n, (name, given) in zip(ids, calls)]

    @staticmethod
    def last():
        return [{"text": DONE}]

    @classmethod
    def click_and_type(cls, place, text):
        return cls.turn(("click", place), ("type", {"text": text, "press_enter": True}))
