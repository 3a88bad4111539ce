"""Streams of chat completions, and of the older completions.

A lane is the text of one field of one choice: `(0, "content")`,
`(0, "tool_calls", 1, "function", "arguments")`. Unknown strings of a delta are lanes too, and so
are all strings of a chunk or a choice that is none of the protocol's.

Nothing closes a lane but the end of the response: some servers put a finish reason on every
chunk, and text that goes on behind a call of a tool may still stand in a fence that was opened
before it. So a chunk with a finish reason waits until it is known whether its choice goes on. If
it does, the chunk leaves as it came, and the lanes stay where they are. At the end of the response,
which a chunk tells that has the usage and no text, or one with another `id`, what is held comes out
right before the finish reason, in a chunk that has the lane's field and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from streamguard import End, Transformer
from streamguard.adapting import Path, ReasoningPolicy, Settings, ToolArgsPolicy
from streamguard.session import FindingHandler
from streamguard_openai.chunks import (
    IDENTITY,
    NESTED,
    Template,
    alone,
    around,
    emptied,
    held,
    index_of,
    is_choice,
    is_text,
    names_tool,
    speaks,
    text_alone,
)
from streamguard_openai.going import Going, going
from streamguard_openai.logprobs import says
from streamguard_openai.messages import guard_message
from streamguard_openai.shapes import (
    DROPPED,
    fields,
    fields_or_none,
    has_fields,
    is_sequence,
    text_of,
    with_fields,
)
from streamguard_openai.signed import SIGNED, Signatures
from streamguard_openai.texts import KEPT, Role, Texts, role_of, walk

__all__ = ["ChatAdapter", "CompletionAdapter", "end_of"]

_SILENT = frozenset({*IDENTITY, "choices", "obfuscation"})
_FREE = ("obfuscation",)  # may differ from chunk to chunk
_WHOLE = -1  # in place of a choice: lanes of what is no chunk
_MOST = 16  # chunks of a choice that wait
_ENDS = {
    **dict.fromkeys(("stop", "stop_sequence", "end_turn", "eos", "eos_token", "completed"), End.COMPLETE),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), End.TOOL_CALL),
    **dict.fromkeys(("content_filter", "error", "safety"), End.ERROR),
}


def end_of(reason: object) -> End:
    """Tell why a text ended. Of an unknown reason nothing good is assumed."""
    return _ENDS.get(str(reason).lower(), End.TRUNCATED)


class ChatAdapter:
    """Guards the chunks of one chat completion: objects of the SDK, or dictionaries.

    *Delay*: that of the guard, lane by lane; and a finish reason, or the usage, waits for what
    follows. *Memory*: the sessions, one chunk for each lane, and those that wait, at most 16 a
    choice. Chunks are never changed, unless they are `owned`: what differs is a copy. A chunk of
    which nothing is left is not sent.
    """

    __slots__ = (
        "_call",
        "_ends",
        "_going",
        "_id",
        "_owned",
        "_shifting",
        "_signatures",
        "_tail",
        "_templates",
        "_texts",
        "_usage",
        "_waiting",
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
            tool_args: what happens to the arguments of tools and functions.
            reasoning: what happens to reasoning.
            tool_guard: what arguments go through, if not `guard`.
            json_content: the content is JSON (a structured output); only its strings are guarded.
            on_finding: called with each finding.
            owned: the chunks are nobody else's: one may be changed instead of copied.
        """
        self._owned = owned
        self._texts = Texts(Settings(guard, tool_args, reasoning, tool_guard, json_content, on_finding))
        self._signatures = Signatures(self._texts)
        self._templates: dict[Path, Template] = {}
        self._ends: dict[int, End] = {}  # of choices that have not gone on since
        self._waiting: dict[int, list[Any]] = {}  # chunks that finish a choice, and those behind them
        self._tail: Any = None  # the usage, of a response that has no finish reason
        self._usage: Any = None  # of the last chunk
        self._call: dict[int, str] = {}  # the call of a choice, where calls are not numbered
        self._id = ""
        self._shifting = False  # every chunk has an id of its own
        self._going: Going | None = None

    def event(self, chunk: Any, /) -> Iterable[Any]:
        """Take the next chunk and return what may be shown now."""
        going = self._going
        if going is not None and (text := going.like.text(chunk)) is not None:
            shown = going.feed(text)
            if shown == text:
                return (chunk,)
            return (going.like.with_text(chunk, shown),) if shown or going.speaks else ()
        self._leave()
        came = self._event(chunk)
        self._going = self._learnt(chunk)
        return came

    def _learnt(self, chunk: Any) -> Going | None:
        """Note what this chunk is like, if it says a text and nothing else, and nothing waits."""
        path = None if self._ends or self._tail is not None else text_alone(chunk)
        if path is None:
            return None
        (choice,) = fields(chunk)["choices"]
        own = fields(choice)
        key: Path = (index_of(own), path[-1])
        feed = self._texts.feeder(key, "content" if path[2:] == ("text",) else role_of(str(path[-1])))
        others = fields(own.get("delta")).items()
        speaks = any(value is not None and name != path[-1] for name, value in others)
        like = held(chunk, choice, path[2:], "")  # what comes out may be changed by whoever gets it
        return going(chunk, path, key, feed, like, free=_FREE, owned=self._owned, speaks=speaks)

    def _leave(self) -> None:
        """Forget what the last chunk was like: what comes now may be something else."""
        if self._going is not None:
            chunk, path = self._going.template, self._going.path[2:]
            self._templates[self._going.key] = (chunk, fields(chunk)["choices"][0], path)
            self._going = None

    def _event(self, chunk: Any) -> list[Any]:
        data = fields_or_none(chunk)
        if data is None:
            return [self._texts.leaves("event", chunk)]
        choices: Any = data.get("choices")
        listed = is_sequence(choices)
        usage = data.get("usage")
        before: list[Any] = []
        if (ident := data.get("id")) != self._id and listed and choices:
            before += self._identified(ident)
        silent = usage is not None and not (listed and any(map(speaks, choices)))
        if self._ends or self._tail is not None:
            before += self._gone_on(choices if listed else (), silent=silent)
        self._usage = usage
        changes: dict[str, Any] = {}
        says_more = False
        failed = data.get("error") is not None and not choices
        for name, value in data.items():
            if value is None or (name in _SILENT and (listed or name != "choices")):
                continue
            says_more = True
            if name not in KEPT:
                known = (listed or failed) and not is_text(name, value)
                new = self._texts.leaves(name, value) if known else self._unknown(chunk, (name,), value)
                if new is not value:
                    changes[name] = new
        if failed:
            before += self.end(End.ERROR)
        if listed and choices:
            news: list[Any] = []
            for place, choice in enumerate(choices):
                new, spoke = self._choice(chunk, choice, before, place, single=len(choices) == 1)
                news.append(new)
                says_more = says_more or spoke
                if new is not choice:
                    changes["choices"] = news
        if changes and not says_more:
            return before
        shown = with_fields(chunk, changes) if changes else chunk
        if self._ends and listed and len(choices) == 1 and (waiting := self._waits(choices[0])) is not None:
            waiting.append(shown)
        elif silent and self._texts.lanes.open:
            self._tail = shown
        else:
            before.append(shown)
        return before

    def end(self, end: End, /) -> Iterable[Any]:
        """Return what was held. A choice without a finish reason has broken off."""
        self._leave()
        missed = End.TRUNCATED if end is End.COMPLETE else end
        shown: list[Any] = []
        for index in dict.fromkeys((*map(_choice_of, self._texts.lanes.open), *self._waiting)):
            shown += self._settle(index, self._ends.get(index, missed) if end is End.COMPLETE else end)
        tail, self._tail = self._tail, None
        if tail is not None:
            shown.append(tail)
        elif shown and self._usage is not None and fields(shown[-1]).get("usage") is None:
            shown[-1] = with_fields(shown[-1], {"usage": self._usage})  # the last to say it is believed
        self._ends.clear()
        return shown

    def _identified(self, ident: Any) -> list[Any]:
        """Note the id of a chunk. Behind the finish reasons another one is that of a new response."""
        if not isinstance(ident, str) or not ident:
            return []
        last, self._id = self._id, ident
        if not last or self._shifting:
            return []
        if self._ends and all(_choice_of(key) in self._ends for key in self._texts.lanes.open):
            return list(self.end(End.COMPLETE))
        self._shifting = True
        return []

    def _gone_on(self, choices: Iterable[Any], *, silent: bool) -> list[Any]:
        """Let out what has waited for a chunk with these choices, or for its usage."""
        shown: list[Any] = []
        if self._tail is not None and (choices or silent):
            shown.append(self._tail)
            self._tail = None
        for choice in choices:
            if speaks(choice):
                index = index_of(fields(choice))
                self._ends.pop(index, None)
                shown += self._waiting.pop(index, ())
        if silent:
            for index in tuple(self._waiting):
                shown += self._settle(index, self._ends[index])
        return shown

    def _waits(self, choice: Any) -> list[Any] | None:
        """Return the chunks a chunk with this choice alone has to wait with, if it has to."""
        own = fields(choice)
        index = index_of(own)
        waiting = self._waiting.get(index)
        if waiting is None and own.get("finish_reason") and self._is_open(index):
            waiting = self._waiting[index] = []
        return waiting

    def _is_open(self, index: int) -> bool:
        return any(_choice_of(key) == index for key in self._texts.lanes.open)

    def _settle(self, index: int, end: End) -> list[Any]:
        """Close a choice: what it holds comes before the finish reason that has waited."""
        shown = self._release(index, end)
        waiting = self._waiting.pop(index, [])
        return [*around(waiting[0], shown), *waiting[1:]] if waiting else shown

    def _unknown(self, chunk: Any, path: Path, value: Any, index: int = _WHOLE, choice: Any = None) -> Any:
        """Guard what the protocol does not have: each of its strings goes on in the next such chunk."""

        def leaf(key: Path, path: Path, text: str, role: Role) -> str:
            shown = self._texts.feed(key, text, role)
            self._templates[key] = (chunk, choice, path)
            return shown

        name = str(path[0])
        shown = walk(value, (index, name), path, role_of(name), leaf, shape=self._texts.shaped, every=True)
        return self._texts.leaves(name, shown)

    def _choice(
        self, chunk: Any, choice: Any, before: list[Any], place: int, *, single: bool
    ) -> tuple[Any, bool]:
        """Guard a choice; tell whether it says anything."""
        own = fields_or_none(choice)
        if own is None:
            return self._unknown(chunk, ("choices", place), choice), True
        index = index_of(own)
        reason = own.get("finish_reason") or None
        changes: dict[str, Any] = {}
        spoke = reason is not None
        wrote = False
        for name, value in own.items():
            if value is None or name in ("index", "finish_reason", "logprobs"):
                continue
            if name == "delta" and has_fields(value):
                new, wrote = self._delta(chunk, choice, index, value, name)
            elif name == "text" and isinstance(value, str):
                new, wrote = self._text(chunk, choice, index, value)
            elif name == "message" and has_fields(value) and self._is_piece(own, index):
                new, wrote = self._delta(chunk, choice, index, value, name)
            elif name == "message" and has_fields(value):
                end = End.TRUNCATED if reason is None else end_of(reason)
                new = guard_message(self._texts, index, value, end)
                spoke = True
            elif name in KEPT:
                spoke = True
                continue
            else:
                spoke = True
                if is_choice(own) and not is_text(name, value):
                    new = self._texts.leaves(name, value)
                else:
                    new = self._unknown(chunk, (name,), value, index, choice)
            if new is not value:
                changes[name] = new
        logprobs = own.get("logprobs")
        if logprobs is not None and (changes or not says(logprobs, own)):
            changes["logprobs"] = None
        if reason is not None:
            self._ends[index] = end_of(reason)
            if not single and self._is_open(index):
                last = with_fields(choice, {**changes, **emptied(own)})
                self._waiting.setdefault(index, []).append(alone(chunk, last))
                changes["finish_reason"] = None
        if self._waiting and len(self._waiting.get(index, ())) >= _MOST:
            before += self._settle(index, self._ends[index])
        return (with_fields(choice, changes) if changes else choice), spoke or wrote

    def _is_piece(self, choice: Mapping[str, Any], index: int) -> bool:
        """Tell whether the message of a choice is used as a delta, and is neither whole nor a snapshot."""
        if has_fields(choice.get("delta")):
            return False
        return not choice.get("finish_reason") or self._is_open(index)

    def _delta(self, chunk: Any, choice: Any, index: int, delta: Any, field: str) -> tuple[Any, bool]:
        """Guard a delta, by the name of its field; tell whether it says anything."""
        changes: dict[str, Any] = {}
        spoke = False
        for name, value in fields(delta).items():
            if value is None:
                continue
            if name in KEPT:
                spoke = True
                continue
            role = role_of(name)
            if role == "reasoning" and self._texts.policy(role) == "drop":
                changes[name] = DROPPED
            elif isinstance(value, str):
                key: Path = (index, name)
                shown = self._texts.feed(key, value, role)
                self._templates[key] = (chunk, choice, (field, name))
                spoke = spoke or shown != ""
                if shown != value:
                    changes[name] = shown
            elif name in NESTED:
                new, wrote = self._inside(chunk, choice, (index, name), value)
                spoke = spoke or wrote
                if new is not value:
                    changes[name] = new
            else:
                spoke = True
                new = self._texts.leaves(name, value)
                if new is not value:
                    changes[name] = new
        return (with_fields(delta, changes) if changes else delta), spoke

    def _inside(self, chunk: Any, choice: Any, key: Path, value: Any) -> tuple[Any, bool]:
        """Guard what has pieces of texts further inside; tell whether it says anything."""
        name = str(key[-1])
        spoke = name in ("tool_calls", "function_call") and names_tool(value)

        def leaf(key: Path, path: Path, text: str, role: Role) -> str:
            nonlocal spoke
            key = self._lane(key, path, value)
            shown = self._texts.feed(key, text, role)
            self._templates[key] = (chunk, choice, path)
            spoke = spoke or shown != ""
            return shown

        def shape(value: Any, role: Role) -> Any:
            nonlocal spoke
            spoke = True
            return self._texts.shaped(value, role)

        new = walk(value, key, ("delta", name), role_of(name), leaf, shape=shape)
        if name in SIGNED and self._texts.policy("reasoning") == "guard":
            new = self._signatures.checked(key, value, new)
            spoke = spoke or new is not value
        return new, spoke

    def _lane(self, key: Path, path: Path, value: Any) -> Path:
        """Name the lane of a text whose list does not number its items."""
        if key[2:3] != ("*",):
            return key
        if key[1] == "content" and key[3:] == ("text",):
            return key[:2]  # goes on as a string, or the other way round
        if key[1] != "tool_calls":
            return key
        index, place = cast("int", key[0]), cast("int", path[2])
        if ident := text_of(value[place], "id"):
            self._call[index] = ident
        elif len(value) > 1:
            return (*key[:2], f"*{place}", *key[3:])
        return (*key[:2], self._call.get(index, "*"), *key[3:])

    def _text(self, chunk: Any, choice: Any, index: int, text: str) -> tuple[str, bool]:
        key: Path = (index, "text")
        shown = self._texts.feed(key, text, "content")
        self._templates[key] = (chunk, choice, ("text",))
        return (text if shown == text else shown), bool(shown)

    def _release(self, index: int, end: End) -> list[Any]:
        """Close the lanes of a choice; each that held text gives a chunk."""
        shown: list[Any] = []
        for key in self._texts.lanes.open:
            if _choice_of(key) != index:
                continue
            text = self._texts.lanes.flush(key, end)
            template = self._templates.pop(cast("Path", key), None)
            if text and template is not None:
                shown.append(held(*template, text))
        return shown


class CompletionAdapter(ChatAdapter):
    """Guards the chunks of one completion of the older kind, whose choices have a `text`."""

    __slots__ = ()


def _choice_of(key: Any) -> int:
    index: int = key[0]
    return index
