"""The parts of a Responses object that came whole: items, their parts, the response itself.

They repeat what the deltas have said, and have to say the same. So each text goes through what
its lane went through, and ends as its lane ended (`Snapshots.ends`). The answer is one text over parts and
items: where it has been streamed, each part says what it has been shown to say; where not, all
there is of it goes through one guard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from streamguard import End
from streamguard.adapting import Path
from streamguard_openai.answer import Answer
from streamguard_openai.logprobs import spells
from streamguard_openai.shapes import DROPPED, fields, has_fields, is_list, text_of, with_fields
from streamguard_openai.texts import KEPT, Role, Texts, walk

__all__ = ["Snapshots", "answer_part", "answer_parts", "end_of_response", "is_call"]

_ECHOED = frozenset(
    {
        "incomplete_details",
        "moderation",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "text",
        "tool_choice",
        "tools",
        "truncation",
        "user",
    }
)  # what a response repeats of the request's settings
_PARTS: dict[str, tuple[str, Role]] = {
    "output_text": ("text", "content"),
    "text": ("text", "content"),
    "refusal": ("refusal", "text"),
    "reasoning_text": ("text", "reasoning"),
    "summary_text": ("text", "reasoning"),
}
_ITEM_TEXTS: dict[str, Role] = {"arguments": "json", "input": "tool", "code": "tool", "diff": "tool"}


def end_of_response(response: Any) -> End:
    """Tell why a response ended from its `status`; one in progress has not ended well yet."""
    status = fields(response).get("status") if has_fields(response) else None
    if status == "completed":
        return End.COMPLETE
    if status == "incomplete":
        details = fields(response).get("incomplete_details")
        reason = text_of(details, "reason") if has_fields(details) else ""
        return End.ERROR if reason == "content_filter" else End.TRUNCATED
    return End.ERROR if status in ("failed", "cancelled") else End.TRUNCATED


class Snapshots:
    """Guards what comes whole. *Memory*: a key for each text of the response, and its answer."""

    __slots__ = ("_seen", "_shown", "_texts", "answer", "ends", "opening")

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._seen: set[Path] = set()
        self._shown: dict[Path, str] = {}  # of the answer, in the object that is being guarded
        self.answer = Answer(texts)
        """What has been streamed of the answer."""
        self.ends: dict[Path, End] = {}
        """How the lanes that were streamed have ended."""
        self.opening = False
        """The texts are beginnings that deltas will go on with."""

    def text(self, key: Path, text: str, role: Role, end: End) -> str:
        """Guard a text that came whole.

        Args:
            key: its lane.
            text: the text.
            role: its role.
            end: how it ended, if its lane does not say so.
        """
        if self.opening and text and key not in self._texts.lanes.open:
            return self._texts.feed(key, text, role)
        report = key not in self.ends and key not in self._seen
        self._seen.add(key)
        return self._texts.scrub(key, text, role, self.ends.get(key, end), report=report)

    def answered(self, part: Path, text: str, end: End) -> str:
        """Guard the text of a part of the answer that came without the others.

        Args:
            part: the part.
            text: its text.
            end: how it ended, if it is not what was streamed.
        """
        shown = self._shown.get(part)
        if shown is None:
            shown = self.answer.said(part, text)
        if shown is not None:
            return shown
        alone = self._alone({part})
        alone.feed(part, text)
        alone.end(end)
        return alone.said(part, text) or ""

    def _read(self, items: Sequence[tuple[int | str, Any]], end: End) -> dict[Path, str]:
        """Tell what is shown of each part of the answer in some items of the output."""
        parts = dict(part for place, item in items for part in answer_parts(item, place))
        said = {part: self.answer.said(part, text) for part, text in parts.items()}
        if None not in said.values():
            return {part: text for part, text in said.items() if text is not None}
        alone = self._alone(parts)
        for place, item in items:
            if is_call(item):
                alone.call(place)
            for part, text in answer_parts(item, place):
                alone.feed(part, text)
            alone.close((place, "text"), cut=text_of(item, "status") == "incomplete")
        alone.end(end)
        return {part: alone.said(part, text) or "" for part, text in parts.items()}

    def _alone(self, parts: Collection[Path]) -> Answer:
        """Begin an answer of which not all was streamed; it is reported if nothing of it was."""
        report = not any(part in self._seen or self.answer.knows(part) for part in parts)
        self._seen.update(parts)
        return Answer(self._texts, report=report)

    def _shaped(self, key: Path, value: Any, role: Role) -> Any:
        """Guard an object with names of its own, such as arguments that are no JSON text."""
        report = key not in self._seen
        self._seen.add(key)
        return self._texts.shaped(value, role, report=report)

    def response(self, response: Any, end: End) -> Any:
        """Guard a whole response; all but its settings."""
        output = fields(response).get("output")
        items: list[tuple[int | str, Any]] = list(enumerate(output)) if is_list(output) else []
        self._shown = self._read(items, end)
        changes: dict[str, Any] = {}
        for name, value in fields(response).items():
            if value is None or name in KEPT or name in _ECHOED:
                continue
            if name == "output" and is_list(value):
                new: Any = self._output(value, end)
            elif name == "output_text" and isinstance(value, str):
                if value == "".join(text for place, item in items for _, text in answer_parts(item, place)):
                    new = "".join(self._shown.values())
                else:
                    new = self.text((-1, "output_text"), value, "content", end)
            elif name == "output_parsed":
                new = self._texts.parsed(value, "content")
            else:
                new = self._texts.leaves(name, value)
            if new is not value and new != value:
                changes[name] = new
        self._shown = {}
        return with_fields(response, changes) if changes else response

    def _output(self, output: list[Any], end: End) -> list[Any]:
        news: list[Any] = []
        for place, item in enumerate(output):
            following = output[place + 1] if place + 1 < len(output) else None
            ended = end if following is None else End.TOOL_CALL if is_call(following) else End.COMPLETE
            news.append(self._item(item, place, ended))
        return output if all(new is item for new, item in zip(news, output, strict=True)) else news

    def item(self, item: Any, place: int | str, end: End) -> Any:
        """Guard an item of the output.

        Args:
            item: the item.
            place: its `output_index`.
            end: how its texts ended, where they do not know.
        """
        self._shown = self._read([(place, item)], end)
        new = self._item(item, place, end)
        self._shown = {}
        return new

    def _item(self, item: Any, place: int | str, end: End) -> Any:
        if not has_fields(item):
            return self._texts.leaves("item", item)
        own = fields(item)
        kind = text_of(item, "type")
        if own.get("status") == "incomplete" and end in (End.COMPLETE, End.TOOL_CALL):
            end = End.TRUNCATED
        changes: dict[str, Any] = {}
        for name, value in own.items():
            if value is None or name in KEPT:
                continue
            if name in ("content", "summary") and is_list(value):
                new: Any = self._parts(value, place, "summary" if name == "summary" else kind, end)
            elif name in _ITEM_TEXTS and isinstance(value, str):
                new = self.text((place, name, 0), value, _ITEM_TEXTS[name], end)
            elif name in _ITEM_TEXTS and not isinstance(value, int | float):
                new = self._shaped((place, name), value, _ITEM_TEXTS[name])
            elif name == "parsed_arguments":
                new = self._texts.parsed(value, "json")
            elif name in ("action", "operation") and kind.endswith("_call") and has_fields(value):
                new = self._action(value, place, end)
            elif name == "result" and kind == "image_generation_call":
                continue
            else:
                new = self._texts.leaves(name, value)
            if new is not value and new != value:
                changes[name] = new
        return with_fields(item, changes) if changes else item

    def _parts(self, parts: list[Any], place: int | str, kind: str, end: End) -> list[Any]:
        last = len(parts) - 1
        news = [
            self.part(part, place, index, kind, end if index == last else End.COMPLETE)
            for index, part in enumerate(parts)
        ]
        return parts if all(new is part for new, part in zip(news, parts, strict=True)) else news

    def part(self, part: Any, place: int | str, index: int, kind: str, end: End) -> Any:
        """Guard a part of an item.

        Args:
            part: the part.
            place: the `output_index` of its item.
            index: its `content_index` or `summary_index`.
            kind: `"summary"`, or the type of its item if that is known.
            end: how its text ended, where it does not know.
        """
        if not has_fields(part):
            return self._texts.leaves("part", part)
        own = fields(part)
        kinds = _PARTS.get(text_of(part, "type"))
        role: Role = "reasoning" if kind in ("summary", "reasoning") else kinds[1] if kinds else "text"
        changes: dict[str, Any] = {}
        for name, value in own.items():
            if value is None or name in KEPT or name == "logprobs":
                continue
            if name in ("text", "refusal", "transcript") and isinstance(value, str):
                key = (place, lane_of(name, role, kind), index)
                if answer_part(part, place, index, kind):
                    new: Any = self.answered(key, value, end)
                else:
                    new = self.text(key, value, role, end)
                if new != value and own.get("logprobs"):
                    changes["logprobs"] = []
            elif name == "parsed":
                new = self._texts.parsed(value, "content")
            elif name == "data":
                continue
            else:
                new = self._texts.leaves(name, value)
            if new is not value and new != value:
                changes[name] = new
        if own.get("logprobs") and not spells(own["logprobs"], {text_of(part, "text")}):
            changes["logprobs"] = []
        return with_fields(part, changes) if changes else part

    def _action(self, action: Any, place: int | str, end: End) -> Any:
        """Guard what a call of a built-in tool does: commands, queries, patches."""

        def leaf(key: Path, path: Path, text: str, role: Role) -> str:
            if key[1:2] == ("commands",):
                key = (place, "command", path[-1])
            elif key[-1:] == ("diff",):
                key = (place, "diff", 0)
            return self.text(key, text, "tool", end)

        def shape(value: Any, role: Role) -> Any:
            return self._shaped((place, "action"), value, role)

        new = walk(action, (place,), (), "tool", leaf, shape=shape)
        return action if new is action or new is DROPPED else new


def is_call(item: Any) -> bool:
    """Tell whether an item calls a tool."""
    return has_fields(item) and text_of(item, "type").endswith(("_call", "mcp_approval_request"))


def answer_parts(item: Any, place: int | str) -> Iterator[tuple[Path, str]]:
    """Return the parts of the answer in an item of the output, with their texts."""
    if not has_fields(item):
        return
    content = fields(item).get("content")
    for index, part in enumerate(content if is_list(content) else []):
        yield from answer_part(part, place, index, text_of(item, "type"))


def answer_part(part: Any, place: int | str, index: int, kind: str) -> tuple[tuple[Path, str], ...]:
    """Return a part with its text if it is one of the answer, else nothing; see `Snapshots.part`."""
    if kind in ("summary", "reasoning") or not has_fields(part):
        return ()
    text = fields(part).get("text")
    if not isinstance(text, str) or text_of(part, "type") not in ("output_text", "text"):
        return ()
    return (((place, "text", index), text),)


def lane_of(name: str, role: Role, kind: str) -> str:
    """Name the lane of a part's text as its deltas do."""
    if kind == "summary":
        return "summary"
    if name == "text":
        return "reasoning" if role == "reasoning" else "text"
    return name
