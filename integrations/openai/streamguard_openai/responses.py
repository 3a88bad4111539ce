"""Streams of the Responses API.

A lane is one text of one output item: `(output index, "refusal", content index)`. The events
that close it (`*.done`) come one behind the other and do not say why the text ended; what comes
next does. So they wait for the next event that closes nothing: `response.incomplete` says that
the text was cut off, a call of a tool that it was an announcement. Then each goes out, with
what its lane held right before it. Snapshots say what the deltas have said.

The answer is one text over all its parts (see `Answer`). Where a part is complete but some of its text
is held, all from its closing events on waits until the next part, or the end, has decided that.

Events come and go, so `sequence_number` is counted anew from the first change on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamguard import End, Transformer
from streamguard.adapting import Path, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_openai.answer import Answer, Shown
from streamguard_openai.going import Going, going
from streamguard_openai.items import Snapshots, answer_part, answer_parts, end_of_response, is_call
from streamguard_openai.kinds import KINDS, TERMINAL, Kind, key_of, parts_closed, place_of
from streamguard_openai.logprobs import spells
from streamguard_openai.sending import NUMBER, Sending
from streamguard_openai.shapes import fields, has_fields, text_of, with_fields
from streamguard_openai.texts import KEPT, Texts

__all__ = ["ResponsesAdapter"]


_FREE = (NUMBER, "obfuscation")  # may differ from delta to delta
_OF_DELTAS = ("delta", "logprobs")
_DONE_TEXTS = ("text", "refusal", "arguments", "input", "code", "command", "diff", "delta", "transcript")


class ResponsesAdapter:
    """Guards the events of one response of the Responses API: objects of the SDK, or dictionaries.

    *Delay*: that of the guard, text by text; events that close a text wait for the next event, and,
    where the end of a part is held, with all behind them until that is decided.
    *Memory*: the sessions, one event for each open lane, a key for each text, the events that wait, and
    the answer as it has been shown. Events are never changed: what differs is a copy. A delta of
    which nothing is left is not sent.
    """

    __slots__ = (
        "_answer",
        "_ended",
        "_going",
        "_out",
        "_owned",
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
        self._answer: Answer = self._snapshots.answer
        self._out = Sending(self._closed, self._answer.holds, owned=owned)
        self._templates: dict[Path, Any] = {}  # the last delta of each lane, and part of the answer
        self._tail: list[Any] = []  # closing events that wait
        self._ended = False
        self._going: Going | None = None

    def event(self, event: Any, /) -> Iterable[Any]:
        """Take the next event and return what may be shown now."""
        going = self._going
        if going is not None and (text := going.like.text(event)) is not None:
            shown = going.feed(text)
            if shown == text:
                return (self._out.numbered(event),)
            if shown:
                return (self._out.numbered(going.like.with_text(event, shown)),)
            self._out.shift -= 1
            return ()
        self._leave()
        return self._event(event)

    def _leave(self) -> None:
        """Forget what the last delta was like: what comes now may be something else."""
        if self._going is not None:
            self._templates[self._going.key] = self._going.template
            self._going = None

    def _event(self, event: Any) -> list[Any]:
        kind = text_of(event, "type")
        shown: list[Any] = []
        if kind.endswith(".done"):
            self._close(event, kind, shown)
            return shown
        end = self._evidence(event, kind)
        self._judge(end)
        if kind in TERMINAL or kind == "error":
            self._ended = True
            self._say(self._answer.end(end), shown)
            self._flush(self._texts.lanes.open, end)
        elif end is End.TOOL_CALL:
            self._say(self._answer.call(place_of(fields(event))), shown)
        if kind.endswith(".delta"):
            self._delta(event, kind.removesuffix(".delta"), shown)
        else:
            self._take(fields(event), kind, shown)
            self._out.put(self._other(event, kind))
        self._out.drain(shown)
        return shown

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held. Without a closing event of the response it has broken off."""
        self._leave()
        if end is End.COMPLETE and not self._ended:
            end = End.TRUNCATED
        shown: list[Any] = []
        self._judge(end)
        self._say(self._answer.end(end), shown)
        self._flush(self._texts.lanes.open, end)
        self._out.drain(shown)
        return shown

    def _evidence(self, event: Any, kind: str) -> End:
        """Tell from the event behind them how the texts that wait have ended."""
        if kind in TERMINAL or kind == "error":
            return self._terminal_end(event, kind)
        if kind.endswith(".delta"):
            role = KINDS[prefix].role if (prefix := kind.removesuffix(".delta")) in KINDS else "text"
            return End.TOOL_CALL if role in ("json", "tool") else End.COMPLETE
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

    def _close(self, event: Any, kind: str, shown: list[Any]) -> None:
        """Let a closing event wait for the next event."""
        own = fields(event)
        item = own.get("item")
        cut = has_fields(item) and text_of(item, "status") == "incomplete"
        self._take(own, kind, shown)
        if is_call(item):
            self._say(self._answer.call(place_of(own)), shown)
        if parts := parts_closed(own, kind):
            self._say(self._answer.close(parts, cut=cut), shown)
        self._tail.append(event)
        if cut:
            self._judge(End.TRUNCATED)
            self._out.drain(shown)

    def _take(self, own: Mapping[str, Any], kind: str, shown: list[Any]) -> None:
        """Feed the answer with parts that come whole in events which open or close them."""
        if kind.startswith("response.output_item."):
            parts = tuple(answer_parts(own.get("item"), place_of(own)))
        elif kind.startswith("response.content_part."):
            index = key_of(own, kind)[2]
            parts = answer_part(own.get("part"), place_of(own), int(index), "")
        elif kind == "response.output_text.done" and isinstance(own.get("text"), str):
            parts = ((key_of(own, "response.output_text"), own["text"]),)
        else:
            return
        for part, text in parts:
            if text and not self._answer.knows(part):
                self._say([one for one in self._answer.feed(part, text) if one[0] != part], shown)

    def _say(self, texts: Shown, shown: list[Any]) -> None:
        """Send what the parts of the answer had held, each before it is closed."""
        for at, (part, text) in enumerate(texts):
            self._out.drain(shown, before=[other for other, _ in texts[at:]])
            if (event := self._held(part, text)) is not None:
                shown.append(self._out.new(event))

    def _judge(self, end: End) -> None:
        """Let the closing events on, with what their lanes held before them."""
        tail, self._tail = self._tail, []
        for event in tail:
            kind = text_of(event, "type")
            own = fields(event)
            if kind == "response.output_item.done":
                place = place_of(own)
                self._flush([key for key in self._texts.lanes.open if _owner(key) == place], end)
            else:
                self._flush([key_of(own, kind.removesuffix(".done"))], end)
            self._out.close(event, end, parts_closed(own, kind))

    def _closed(self, event: Any, end: End) -> Any:
        """Guard a closing event, all of whose text has come out."""
        kind = text_of(event, "type")
        self._templates.pop(parts_closed(fields(event), kind), None)
        return self._other(event, kind, end)

    def _flush(self, keys: Iterable[Any], end: End) -> None:
        for key in keys:
            if key not in self._texts.lanes.open:
                continue
            text = self._texts.lanes.flush(key, end)
            self._snapshots.ends[key] = end
            if (event := self._held(key, text)) is not None:
                self._out.add(event)
            self._templates.pop(key, None)

    def _held(self, key: Any, text: str) -> Any:
        """Make a delta of what a lane has held, like its last one; `None` if there is nothing to say."""
        template = self._templates.get(key)
        if not text or template is None:
            return None
        changes: dict[str, Any] = {"delta": _like(template, key, text)}
        if fields(template).get("logprobs"):
            changes["logprobs"] = []
        return with_fields(template, changes)

    def _delta(self, event: Any, prefix: str, shown: list[Any]) -> None:
        own = fields(event)
        if beside := self._beside(own):
            event = with_fields(event, beside)
        kind = KINDS.get(prefix) or Kind(prefix, "text")
        delta = own.get("delta")
        key = key_of(own, prefix)
        if prefix == "response.audio":
            self._send(event, {})
        elif isinstance(delta, str):
            text = self._fed(event, key, delta, kind, shown)
            if text == delta:
                odd = own.get("logprobs") and not spells(own["logprobs"], {delta})
                self._send(event, {"logprobs": []} if odd else {})
            elif text:
                changes: dict[str, Any] = {"delta": text}
                if own.get("logprobs"):
                    changes["logprobs"] = []
                self._send(event, changes)
            else:
                self._out.skip()
        elif has_fields(delta) and kind.role == "json":
            new = self._texts.shaped(delta, "json")
            self._send(event, {"delta": new} if new is not delta else {})
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
            self._send(event, {"delta": with_fields(delta, changes)} if changes else {})
        else:
            self._out.put(self._other(event, prefix + ".delta"))

    def _beside(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Guard what a delta has besides its text and where that stands; return what changed."""
        return {
            name: safe
            for name, value in own.items()
            if not (value is None or name in KEPT or name in _OF_DELTAS or isinstance(value, int | float))
            and (safe := self._texts.leaves(name, value)) is not value
        }

    def _fed(self, event: Any, key: Path, delta: str, kind: Kind, shown: list[Any]) -> str:
        """Feed a delta and return what it shows, behind what earlier parts of the answer had held."""
        if kind.role == "content":
            texts = self._answer.feed(key, delta)
            self._say([one for one in texts if one[0] != key], shown)
            text = "".join(text for part, text in texts if part == key)
            feed = self._answer.feeder(key)
        else:
            text = self._texts.feed(key, delta, kind.role)
            feed = self._texts.feeder(key, kind.role)
            if feed is None:
                return text
        self._templates[key] = event
        self._out.drain(shown)
        if not self._out and not fields(event).get("logprobs"):
            like = with_fields(event, {})  # what comes out may be changed by whoever gets it
            self._going = going(event, ("delta",), key, feed, like, free=_FREE, owned=self._owned)
        return text

    def _other(self, event: Any, kind: str, end: End = End.TRUNCATED) -> Any:
        """Guard an event that carries no piece of a text: a snapshot, or something unknown."""
        if not has_fields(event):
            return self._texts.leaves("event", event)
        own = fields(event)
        changes: dict[str, Any] = {}
        prefix = kind.removesuffix(".done").removesuffix(".added")
        place = place_of(own)
        self._snapshots.opening = kind.endswith(".added")
        for name, value in own.items():
            if value is None or name in KEPT or isinstance(value, int | float):
                continue
            if name == "response" and has_fields(value):
                ended = end_of_response(value) if kind not in TERMINAL else self._terminal_end(event, kind)
                new = self._snapshots.response(value, ended)
            elif name == "item" and has_fields(value):
                new = self._snapshots.item(value, place, end)
            elif name == "part" and has_fields(value):
                index = key_of(own, prefix)[2]
                lane = "summary" if "summary" in kind else ""
                new = self._snapshots.part(value, place, int(index), lane, end)
            elif name in _DONE_TEXTS and isinstance(value, str) and kind.endswith((".done", ".added")):
                role = KINDS[prefix].role if prefix in KINDS else "text"
                key = key_of(own, prefix)
                if role == "content":
                    new = self._snapshots.answered(key, value, end)
                else:
                    new = self._snapshots.text(key, value, role, end)
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
        return with_fields(event, changes) if changes else event

    def _send(self, event: Any, changes: dict[str, Any]) -> None:
        self._out.put(with_fields(event, changes) if changes else event)


def _owner(key: Any) -> Any:
    return key[0]


def _like(template: Any, key: Any, text: str) -> Any:
    """Make a delta that says a text: a string, or an object with one field."""
    delta = fields(template)["delta"]
    if isinstance(delta, str):
        return text
    name = key[-1]
    texts = [other for other, value in fields(delta).items() if isinstance(value, str) and other not in KEPT]
    return with_fields(delta, {**dict.fromkeys(texts, ""), name: text})
