"""Blocks of thinking in chat completions, signed by their provider.

Thinking is complete when its signature comes, so what its lane holds goes out with that. Of
thinking that did not come out as it went in the signature is invalid, and is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamguard_openai.chat import ChatAdapter
from streamguard_openai.shapes import fields, is_dict, is_list, is_sequence, text_of

from streamguard import End
from streamguard.adapting import Path, Settings, Unchanged
from streamguard_litellm.sealed import unsealed

__all__ = ["ThinkingChatAdapter", "without_signatures"]

_BLOCKS, _OUTER = "thinking_blocks", "provider_specific_fields"  # the second repeats the first


class ThinkingChatAdapter(ChatAdapter):
    """Guards the chunks of a chat completion of LiteLLM's. *Memory*: two hashes a block more."""

    __slots__ = ("_sealed", "_unchanged")

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            settings.guard,
            **settings.options,
        )
        self._sealed = settings
        self._unchanged: dict[Path, Unchanged] = {}

    def _inside(self, chunk: Any, choice: Any, key: Path, value: Any) -> tuple[Any, bool]:
        value = unsealed(value, self._sealed)
        new, wrote = super()._inside(chunk, choice, key, value)
        if key[-1] == _BLOCKS and is_sequence(value):
            new = self._signed(key, value, new)
            wrote = wrote or any(map(_signature, value))
        elif key[-1] == _OUTER and is_dict(value) and is_sequence(value.get(_BLOCKS)):
            blocks = self._signed((*key, _BLOCKS), value[_BLOCKS], new[_BLOCKS])
            if blocks is not new[_BLOCKS]:
                new = {**new, _BLOCKS: blocks}
        return new, wrote

    def _signed(self, key: Path, blocks: Sequence[Any], shown: Sequence[Any]) -> Sequence[Any]:
        news = [self._block(key, old, new) for old, new in zip(blocks, shown, strict=True)]
        return shown if all(new is old for new, old in zip(news, shown, strict=True)) else news

    def _block(self, key: Path, old: Any, new: Any) -> Any:
        """Let the thinking of a block out where it is signed; `new` is what may be shown of `old`."""
        if not (is_dict(old) and is_dict(new) and isinstance(old.get("thinking"), str)):
            return new
        lane = (*key, old["index"] if isinstance(old.get("index"), int) else "*", "thinking")
        signature = _signature(old)
        held = self._texts.lanes.flush(lane, End.COMPLETE) if signature else ""
        unchanged = self._unchanged.setdefault(lane, Unchanged())
        unchanged.passed(old["thinking"], new["thinking"] + held)
        if not signature:
            return new
        del self._unchanged[lane]
        made = {**new, "thinking": new["thinking"] + held} if held else new
        return made if unchanged else {name: part for name, part in made.items() if name != "signature"}


def _signature(block: Any) -> bool:
    return bool(text_of(block, "signature"))


def without_signatures(came: Any, shown: Any) -> None:
    """Take the signatures out of changed thinking in a guarded chat completion, a copy."""
    before, after = fields(came).get("choices"), fields(shown).get("choices")
    if not (is_list(before) and is_list(after)):
        return
    for old, new in zip(before, after, strict=True):
        for old_block, new_block in zip(_blocks(old), _blocks(new), strict=False):
            if new_block is not old_block and new_block.get("thinking") != old_block.get("thinking"):
                new_block.pop("signature", None)  # the block is new


def _blocks(choice: Any) -> Iterator[dict[str, Any]]:
    message = fields(fields(choice).get("message"))
    outer = message.get(_OUTER)
    for blocks in (message.get(_BLOCKS), outer.get(_BLOCKS) if is_dict(outer) else None):
        if is_list(blocks):
            yield from (block for block in blocks if is_dict(block))
