"""Streams of the Responses API.

A lane is one text of one output item: `(output index, "text", content index)`. The events
that close it (`*.done`) come one behind the other and do not say why the text ended; what comes
next does. So they wait for the next event that closes nothing: `response.incomplete` says that
the text was cut off, a call of a tool that it was an announcement. Then each goes out, with
what its lane held right before it. Snapshots say what the deltas have said.

Events come and go, so `sequence_number` is counted anew from the first change on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from streamguard import End, Transformer
from streamguard.adapting import Path, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_openai.going import Going, going
from streamguard_openai.items import Snapshots, end_of_response, is_call
from streamguard_openai.logprobs import spells
from streamguard_openai.shapes import fields, has_fields, is_dict, text_of, with_fields
from streamguard_openai.texts import KEPT, Role, Texts

__all__ = ["ResponsesAdapter"]


class _Kind(NamedTuple):
    lane: str
    role: Role


_KINDS = {
    "response.output_text": _Kind("text", "content"),
    "response.refusal": _Kind("refusal", "text"),
    "response.reasoning_text": _Kind("reasoning", "reasoning"),
    "response.reasoning": _Kind("reasoning", "reasoning"),
    "response.reasoning_summary_text": _Kind("summary", "reasoning"),
    "response.reasoning_summary": _Kind("summary", "reasoning"),
    "response.function_call_arguments": _Kind("arguments", "json"),
    "response.mcp_call_arguments": _Kind("arguments", "json"),
    "response.mcp_call.arguments": _Kind("arguments", "json"),
    "response.custom_tool_call_input": _Kind("input", "tool"),
    "response.code_interpreter_call_code": _Kind("code", "tool"),
    "response.code_interpreter_call.code": _Kind("code", "tool"),
    "response.shell_call_command": _Kind("command", "tool"),
    "response.apply_patch_call_operation_diff": _Kind("diff", "tool"),
    "response.audio.transcript": _Kind("transcript", "text"),
    "response.audio_transcript": _Kind("transcript", "text"),
}
_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_NUMBER = "sequence_number"
_FREE = (_NUMBER, "obfuscation")  # may differ from delta to delta
_INDICES = ("content_index", "summary_index", "command_index")
_DONE_TEXTS = ("text", "refusal", "arguments", "input", "code", "command", "diff", "delta", "transcript")


class ResponsesAdapter:
    """Guards the events of one response of the Responses API: objects of the SDK, or dictionaries.

    *Delay*: that of the guard, lane by lane; events that close a lane wait for the next event.
    *Memory*: the sessions, one event for each open lane, and a key for each text. Events are
    never changed: what differs is a copy. A delta of which nothing is left is not sent.
    """

    __slots__ = (
        "_ended",
        "_going",
        "_last",
        "_owned",
        "_shift",
        "_snapshots",
        "_tail",
        "_templates",
        "_texts",
    )

    def __init__(
        self,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        json_content: bool = False,
        on_finding: FindingHandler | None = None,
        owned: bool = False,
    ) -> None:
        """Begin a response.

        Args:
            guard: what every text goes through.
            tool_args: what happens to arguments, inputs, code and commands of tools.
            reasoning: what happens to reasoning and its summaries.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content is JSON (a structured output); only its strings are guarded.
            on_finding: called with each finding.
            owned: the events are nobody else's: one may be changed instead of copied.
        """
        self._owned = owned
        self._texts = Texts(Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding))
        self._snapshots = Snapshots(self._texts)
        self._templates: dict[Path, Any] = {}  # the last delta of each lane
        self._tail: list[Any] = []  # closing events that wait
        self._shift = 0
        self._last: int | None = None  # the number given last
        self._ended = False
        self._going: Going | None = None

    def event(self, event: Any, /) -> Iterable[Any]:
        """Take the next event and return what may be shown now."""
        going = self._going
        if going is not None and (text := going.like.text(event)) is not None:
            going.last = event
            shown = going.feed(text)
            if shown == text:
                return (self._numbered(event),)
            if shown:
                return (self._numbered(going.like.with_text(event, shown)),)
            self._shift -= 1
            return ()
        self._leave()
        return self._event(event)

    def _leave(self) -> None:
        """Forget what the last delta was like: what comes now may be something else."""
        if self._going is not None:
            self._templates[self._going.key] = self._going.last
            self._going = None

    def _event(self, event: Any) -> list[Any]:
        kind = text_of(event, "type")
        if kind.endswith(".delta"):
            shown: list[Any] = []
            if self._tail:
                self._release(End.COMPLETE, shown)
            self._delta(event, kind.removesuffix(".delta"), shown)
            return shown
        if kind.endswith(".done"):
            return self._close(event, kind)
        shown = []
        self._release(self._evidence(event, kind), shown)
        if kind in _TERMINAL or kind == "error":
            self._ended = True
            end = self._terminal_end(event, kind)
            self._flush(self._texts.lanes.open, end, shown)
        self._other(event, kind, shown)
        return shown

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held. Without a closing event of the response it has broken off."""
        self._leave()
        if end is End.COMPLETE and not self._ended:
            end = End.TRUNCATED
        shown: list[Any] = []
        self._release(end, shown)
        self._flush(self._texts.lanes.open, end, shown)
        return shown

    def _evidence(self, event: Any, kind: str) -> End:
        """Tell from the event behind them how the texts that wait have ended."""
        if kind in _TERMINAL or kind == "error":
            return self._terminal_end(event, kind)
        if kind == "response.output_item.added" and is_call(fields(event).get("item")):
            return End.TOOL_CALL
        return End.COMPLETE

    def _terminal_end(self, event: Any, kind: str) -> End:
        response = fields(event).get("response")
        if kind == "response.completed":
            return End.COMPLETE
        if kind == "response.incomplete":
            end = end_of_response(response)
            return end if end is End.ERROR else End.TRUNCATED
        return End.ERROR

    def _close(self, event: Any, kind: str) -> list[Any]:
        self._tail.append(event)
        shown: list[Any] = []
        if kind == "response.output_item.done":
            item = fields(event).get("item")
            if has_fields(item) and fields(item).get("status") == "incomplete":
                self._release(End.TRUNCATED, shown)
        return shown

    def _release(self, end: End, shown: list[Any]) -> None:
        """Let the closing events out, with what their lanes held before them."""
        tail, self._tail = self._tail, []
        for event in tail:
            kind = text_of(event, "type")
            own = fields(event)
            place = _place(own)
            if kind == "response.output_item.done":
                lanes = [key for key in self._texts.lanes.open if _place_of(key) == place]
                self._flush(lanes, end, shown)
            else:
                key = self._key(own, kind.removesuffix(".done"))
                self._flush([key], end, shown)
            self._other(event, kind, shown, end)

    def _flush(self, keys: Iterable[Any], end: End, shown: list[Any]) -> None:
        for key in keys:
            if key not in self._texts.lanes.open:
                continue
            text = self._texts.lanes.flush(key, end)
            self._snapshots.ends[key] = end
            template = self._templates.pop(key, None)
            if text and template is not None:
                changes: dict[str, Any] = {"delta": _like(template, key, text)}
                if fields(template).get("logprobs"):
                    changes["logprobs"] = []
                self._shift += 1
                number = fields(template).get(_NUMBER)
                if isinstance(number, int) and self._last is not None:
                    self._last += 1
                    changes[_NUMBER] = self._last
                shown.append(with_fields(template, changes))

    def _key(self, own: Mapping[str, Any], prefix: str) -> Path:
        index = next((own[name] for name in _INDICES if isinstance(own.get(name), int)), 0)
        kind = _KINDS.get(prefix)
        return (_place(own), kind.lane if kind else prefix, index)

    def _delta(self, event: Any, prefix: str, shown: list[Any]) -> None:
        own = fields(event)
        kind = _KINDS.get(prefix) or _Kind(prefix, "text")
        delta = own.get("delta")
        key = self._key(own, prefix)
        if prefix == "response.audio":
            self._send(event, {}, shown)
        elif isinstance(delta, str):
            text = self._texts.feed(key, delta, kind.role)
            if self._texts.policy(kind.role) == "guard":
                self._templates[key] = event
                feed = self._texts.feeder(key, kind.role)
                self._going = going(event, ("delta",), key, feed, free=_FREE, owned=self._owned)
            if text == delta:
                odd = own.get("logprobs") and not spells(own["logprobs"], {delta})
                self._send(event, {"logprobs": []} if odd else {}, shown)
            elif text:
                changes: dict[str, Any] = {"delta": text}
                if own.get("logprobs"):
                    changes["logprobs"] = []
                self._send(event, changes, shown)
            else:
                self._shift -= 1
        elif has_fields(delta) and kind.role == "json":
            self._send(
                event,
                {"delta": new} if (new := self._texts.shaped(delta, "json")) is not delta else {},
                shown,
            )
        elif has_fields(delta):
            # Such as the two outputs of a shell: a lane each.
            changes = {}
            for name, value in fields(delta).items():
                if isinstance(value, str) and name not in KEPT:
                    lane = (*key, name)
                    text = self._texts.feed(lane, value, kind.role)
                    self._templates[lane] = event
                    if text != value:
                        changes[name] = text
            self._send(event, {"delta": with_fields(delta, changes)} if changes else {}, shown)
        else:
            self._other(event, prefix + ".delta", shown)

    def _other(self, event: Any, kind: str, shown: list[Any], end: End = End.TRUNCATED) -> None:
        """Guard an event that carries no piece of a text: a snapshot, or something unknown."""
        if not has_fields(event):
            shown.append(self._texts.leaves("event", event))
            return
        own = fields(event)
        changes: dict[str, Any] = {}
        prefix = kind.removesuffix(".done").removesuffix(".added")
        place = _place(own)
        self._snapshots.opening = kind.endswith(".added")
        for name, value in own.items():
            if value is None or name in KEPT or isinstance(value, int | float):
                continue
            if name == "response" and has_fields(value):
                ended = end_of_response(value) if kind not in _TERMINAL else self._terminal_end(event, kind)
                new = self._snapshots.response(value, ended)
            elif name == "item" and has_fields(value):
                new = self._snapshots.item(value, place, end)
            elif name == "part" and has_fields(value):
                index = self._key(own, prefix)[2]
                lane = "summary" if "summary" in kind else ""
                new = self._snapshots.part(value, place, int(index), lane, end)
            elif name in _DONE_TEXTS and isinstance(value, str) and kind.endswith((".done", ".added")):
                role = _KINDS[prefix].role if prefix in _KINDS else "text"
                new = self._snapshots.text(self._key(own, prefix), value, role, end)
                if new != value and own.get("logprobs"):
                    changes["logprobs"] = []
            elif name == "logprobs":
                if value and not spells(value, {text_of(event, "text")}):
                    changes[name] = []
                continue
            else:
                new = self._texts.leaves(name, value)
            if new is not value and new != value:
                changes[name] = new
        self._snapshots.opening = False
        self._send(event, changes, shown)

    def _send(self, event: Any, changes: dict[str, Any], shown: list[Any]) -> None:
        shown.append(self._numbered(with_fields(event, changes) if changes else event))

    def _numbered(self, event: Any) -> Any:
        """Number an event that is about to be sent."""
        number = event.get(_NUMBER) if is_dict(event) else getattr(event, _NUMBER, None)
        if not isinstance(number, int):
            return event
        self._last = number + self._shift
        if not self._shift:
            return event
        if self._owned and not is_dict(event):
            event.__dict__[_NUMBER] = self._last
            return event
        return with_fields(event, {_NUMBER: self._last})


def _place(own: Mapping[str, Any]) -> int | str:
    """Name the output item an event belongs to."""
    place = own.get("output_index")
    if isinstance(place, int):
        return place
    item = own.get("item_id")
    return item if isinstance(item, str) else 0


def _place_of(key: Any) -> Any:
    return key[0]


def _like(template: Any, key: Any, text: str) -> Any:
    """Make a delta that says a text: a string, or an object with one field."""
    delta = fields(template)["delta"]
    if isinstance(delta, str):
        return text
    name = key[-1]
    texts = [other for other, value in fields(delta).items() if isinstance(value, str) and other not in KEPT]
    return with_fields(delta, {**dict.fromkeys(texts, ""), name: text})
