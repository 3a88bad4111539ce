"""Which blocks of content are one text, and how that text ends.

A message's text is what its blocks of text say, one behind the other (`message.text`), whatever the
provider has cut them for: each citation makes a new block. So the blocks of text of an answer are
one text, those of reasoning another, and those of a refusal, whatever comes between, until a call of
a tool: what stands right before a call ends there, or no preamble could be told. A signature ends
reasoning too, for it is valid for that alone. Blocks of other kinds are texts of their own. What is held
of a block comes out in it when the next has decided; but where something is taken out, in the next.

A block with an `index` comes in pieces, and providers may take turns between blocks: no text is
closed before the response ends, or the next of its kind begins. So two blocks of text cannot take
turns: what the first held has come out, and more of the first could make a secret of it.
"""

from __future__ import annotations

from typing import Any

from streamguard import End, StreamGuardError
from streamguard_langchain.places import Key
from streamguard_langchain.settings import block_role, is_tool_block, role_of
from streamguard_langchain.shapes import is_dict

__all__ = ["Blocks", "is_main", "is_named", "kind_of"]

Name = str | int

_JOINED = ("text", "reasoning", "refusal")
_UNNAMED = "*"  # begins the names of blocks that have none: each piece of them is a block to LangChain
_PLAIN = "*text"


def kind_of(block: Any) -> str:
    """Tell the kind of a block of content; a bare string is text."""
    if not is_dict(block):
        return "text"
    kind = block.get("type")
    return "reasoning" if block_role(kind) == "reasoning" else str(kind)


def is_named(block: object) -> bool:
    """Tell whether the pieces of a block can be told from those of others."""
    return not str(block).startswith(_UNNAMED)


class Blocks:
    """The blocks of one message, in the order they come. *Memory*: two names for each."""

    __slots__ = ("_after", "_apart", "_last", "_latest", "_left", "_over", "_running", "_stands", "_texts")

    def __init__(self, *, apart: bool = False) -> None:
        """Begin a message.

        Args:
            apart: each block is a text of its own: those of a tool's result, or of what people send.
        """
        self._apart = apart
        self._texts: dict[Name, Name] = {}  # the text a block belongs to, named after its first block
        self._running: dict[str, Name] = {}  # the text that the next block of a kind goes on with
        self._latest: dict[str, Name] = {}  # that text, or what it was before it ended
        self._after: dict[Name, bool | None] = {}  # behind a text came nothing, a call of a tool, or another
        self._last: Name | None = None
        self._stands: dict[Key, Name] = {}  # the block in which a lane stands
        self._left: set[tuple[Key, Name]] = set()  # those in which it has stood
        self._over: list[Key] = []

    def begin(self, name: Name | None, kind: str) -> Name:
        """Note the next block, or the next piece of one; return its name, or one made for it."""
        joins = kind in _JOINED and not self._apart
        text = None if name is None else self._texts.get(name)
        if text is None and (joins or name is None):
            text = self._running.get(kind)
        if text is None:
            text = self._made(kind) if name is None else name
        calls = is_tool_block(kind)
        if calls:
            self._running.clear()
        if joins or name is None:
            self._running[kind] = text
        if joins and text not in self._after:
            self._leave(self._latest.get(kind))
            self._latest[kind] = text
        if text != self._last:
            if self._last is not None:
                self._after[self._last] = calls
            self._after[text] = None
            self._last = text
        name = text if name is None else name
        self._texts[name] = text
        return name

    def over(self) -> list[Key]:
        """Return the lanes that have been left for good since this was asked last."""
        over, self._over = self._over, []
        return over

    def sign(self) -> None:
        """End the reasoning that goes on."""
        self._running.pop("reasoning", None)

    def lane(self, key: Key, text: str) -> Key:
        """Name the lane of a text.

        Args:
            key: `"content"`, the name of the block, and the way in it to the text.
            text: what the lane is to be fed.

        Raises:
            StreamGuardError: the lane has left this block for another.
        """
        block, path = key[1], key[2:]
        if not is_main(path):
            return key
        whole = self._texts.get(block, block)
        lane: Key = ("content",) if whole == _PLAIN else ("content", whole, *(path or ("text",)))
        before = self._stands.get(lane)
        if text and before != block:
            if (lane, block) in self._left:
                raise StreamGuardError("two blocks of one text take turns; guard the models they are from")
            if before is not None and is_named(before):
                self._left.add((lane, before))
            self._stands[lane] = block
        return lane

    def end(self, lane: Key, end: End) -> End:
        """Tell how a lane ends, in a response that ends like this."""
        after = self._after.get(self._text(lane))
        return end if after is None else End.TOOL_CALL if after else End.COMPLETE

    def ended(self, lane: Key) -> bool:
        """Tell whether a lane has ended whose block is finished, and in what way is known."""
        text = self._text(lane)
        return self._after.get(text) is not None and text not in self._running.values()

    def _leave(self, text: Name | None) -> None:
        over = [lane for lane in self._stands if self._text(lane) == text]
        for lane in over:
            self._left.add((lane, self._stands.pop(lane)))
        self._over += over

    def _text(self, lane: Key) -> Name:
        block = lane[1] if len(lane) > 1 else _PLAIN
        return self._texts.get(block, block)

    def _made(self, kind: str) -> Name:
        name = _UNNAMED + kind
        return name if name not in self._after else f"{name}{len(self._after)}"


def is_main(path: Key) -> bool:
    """Tell whether the way in a block leads to what the block says, not to what is said about it."""
    if path in ((), ("text",), ("refusal",)):
        return True
    return role_of(str(path[0]), "text") == "reasoning" and all(isinstance(part, str) for part in path)
