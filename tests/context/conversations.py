"""Conversations for tests, and what the APIs of OpenAI and Anthropic demand of one.

The demands are written down here from the APIs' documentation and messages of errors, apart from
the code under test:

- OpenAI, "Chat completions": a message of the role `tool` follows an assistant's with `tool_calls`,
  with only other such messages between; every id of these calls is answered before any other message.
- Anthropic, "Messages" and "Tool use": the first message is the user's; content is not empty and
  no text in it is blank; a `tool_use` is answered by a `tool_result` in the very next message, where
  results come before other blocks; a result answers a call of the message before; ids are unique.
- Strict templates of open models: user and assistant take turns.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Conversation = list[dict[str, Any]]


def openai_problems(messages: Sequence[Any]) -> list[str]:
    found: list[str] = []
    waiting: set[str] = set()
    turn = ""
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            found.append(f"{at}: role")
        content = message.get("content")
        if role == "assistant" and message.get("tool_calls"):
            if content is not None and not isinstance(content, str | list):
                found.append(f"{at}: content")
        elif not (isinstance(content, str | list) and content):
            found.append(f"{at}: no content")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                found.append(f"{at}: result without a call")
            waiting.discard(message["tool_call_id"])
            turn = "tool"
            continue
        if waiting:
            found.append(f"{at}: call without a result")
            waiting = set()
        if role in ("user", "assistant"):
            if role == turn:
                found.append(f"{at}: {role} twice")
            if role == "user" and turn == "tool":
                found.append(f"{at}: user after results")
            turn = role
        for call in message.get("tool_calls") or ():
            if call["id"] in waiting:
                found.append(f"{at}: id twice")
            waiting.add(call["id"])
    if waiting:
        found.append("end: call without a result")
    return found


def anthropic_problems(messages: Sequence[Any]) -> list[str]:
    found: list[str] = []
    waiting: set[str] = set()
    seen: set[str] = set()
    turn = ""
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role not in ("user", "assistant"):
            found.append(f"{at}: role")
        if at == 0 and role != "user":
            found.append("0: first message is not the user's")
        if role == turn:
            found.append(f"{at}: {role} twice")
        turn = role
        if not content:
            found.append(f"{at}: empty")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        others = False
        called: set[str] = set()
        for block in blocks:
            match block["type"]:
                case "text":
                    others = True
                    if not block["text"].strip():
                        found.append(f"{at}: blank text")
                case "tool_result":
                    if role != "user" or others:
                        found.append(f"{at}: result out of place")
                    if block["tool_use_id"] not in waiting:
                        found.append(f"{at}: result without a call")
                    waiting.discard(block["tool_use_id"])
                case "tool_use":
                    if role != "assistant" or block["id"] in seen:
                        found.append(f"{at}: id twice")
                    seen.add(block["id"])
                    called.add(block["id"])
                case _:
                    others = True
        if waiting:
            found.append(f"{at}: call without a result")
        waiting = called
    if waiting:
        found.append("end: call without a result")
    return found


def size(messages: Sequence[Any]) -> int:
    """Characters of everything that a conversation says."""

    def of(value: Any) -> int:
        if isinstance(value, str):
            return len(value)
        if isinstance(value, dict):
            inner = {**value, "input": json.dumps(value["input"])} if "input" in value else value
            return sum(of(text) for key, text in inner.items() if key not in MARKS)
        return sum(map(of, value)) if isinstance(value, list | tuple) else 0

    return sum(of(message) for message in messages)


MARKS = ("role", "type", "id", "tool_call_id", "tool_use_id")
WORDS = ("tests", "fail", "in", "the", "parser", "数据", "again", "\n", "módulo")


class Writer:
    """Writes conversations in one of the two forms, of texts by a random generator."""

    def __init__(self, seed: int, longest: int = 2000) -> None:
        self.random = random.Random(seed)
        self.longest = longest
        self.calls = 0

    def text(self, longest: int | None = None) -> str:
        most = longest or self.longest
        wanted = int(most ** self.random.random())
        words = self.random.choices(
            ["tests", "fail", "in", "the", "parser", "数据", "again", "\n", "módulo"], k=wanted
        )
        return ("it " + " ".join(words))[: max(wanted, 3)].rstrip()

    def count(self) -> int:
        return self.random.choice([1, 1, 2, 3, 6])

    def ids(self) -> list[str]:
        ids = [f"call_{self.calls + at}" for at in range(self.count())]
        self.calls += len(ids)
        return ids

    def openai(self, length: int, *, chained: float = 0.6) -> Conversation:
        """Of about so many messages; with this chance, results are followed by further calls."""
        out: Conversation = []
        if self.random.random() < 0.7:
            out.append({"role": "system", "content": self.text()})
        while True:
            out.append({"role": "user", "content": self.text()})
            while self.random.random() < chained:
                ids = self.ids()
                out.append(
                    {
                        "role": "assistant",
                        "content": self.random.choice([None, self.text(200)]),
                        "tool_calls": [
                            {
                                "id": call,
                                "type": "function",
                                "function": {"name": f"tool_{call[-1]}", "arguments": '{"query": "parser"}'},
                            }
                            for call in ids
                        ],
                    }
                )
                self.random.shuffle(ids)
                out += [{"role": "tool", "tool_call_id": call, "content": self.text()} for call in ids]
            if len(out) >= length and out[-1]["role"] == "tool" and self.random.random() < 0.5:
                return out
            out.append({"role": "assistant", "content": self.text()})
            if len(out) >= length:
                return out

    def anthropic(self, length: int, *, chained: float = 0.6) -> Conversation:
        out: Conversation = []
        while True:
            text = self.text()
            asked: Any = self.random.choice([text, [{"type": "text", "text": text}]])
            out.append({"role": "user", "content": asked})
            while self.random.random() < chained:
                ids = self.ids()
                said = [{"type": "text", "text": self.text(200)}] if self.random.random() < 0.5 else []
                uses = [
                    {"type": "tool_use", "id": call, "name": f"tool_{call[-1]}", "input": {"query": "parser"}}
                    for call in ids
                ]
                out.append({"role": "assistant", "content": [*said, *uses]})
                self.random.shuffle(ids)
                answers: list[Any] = [
                    {"type": "tool_result", "tool_use_id": call, "content": self.text()} for call in ids
                ]
                if self.random.random() < 0.1:
                    answers.append({"type": "text", "text": self.text(100)})
                out.append({"role": "user", "content": answers})
            if len(out) >= length and self.random.random() < 0.5 and len(out) > 1:
                return out
            out.append({"role": "assistant", "content": self.text()})
            if len(out) >= length:
                return out


FORMS: dict[str, Callable[[Sequence[Any]], list[str]]] = {
    "openai": openai_problems,
    "anthropic": anthropic_problems,
}


@st.composite
def conversations(draw: st.DrawFn, *, longest: int = 2000) -> tuple[str, Conversation]:
    """A form and a conversation in it, of 10 to 2,000 messages."""
    form = draw(st.sampled_from(sorted(FORMS)))
    length = draw(st.one_of(st.integers(10, 60), st.integers(10, 400), st.integers(10, longest)))
    writer = Writer(draw(st.integers(0, 2**32)), draw(st.sampled_from([20, 300, 3000])))
    chained = draw(st.sampled_from([0.0, 0.5, 0.8, 0.95]))
    write = writer.openai if form == "openai" else writer.anthropic
    return form, write(length, chained=chained)
