"""Calls without results and results without calls, put right before a conversation is sent.

Sessions that were cut off, histories that were trimmed and tools that failed leave them
behind, and the APIs refuse the whole conversation for one of them.

- A result that answers no call of the message before it is taken out, and so is a second one.
- A call without a result gets one that says so. Not at the end of a conversation: those
  calls may still be running.
- Results of Anthropic's form are all in the one message behind the call, before other blocks.
- A message that loses all it had goes. Where two messages of the assistant would then
  follow one another, a short one of the user stands between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamguard.context.messages import Message, blocks, calls, field, kind, results, role

__all__ = ["LOST_RESULT", "repair_messages"]

LOST_RESULT = "[no result: the call was interrupted]"
"""What stands for the result of a call that has none."""
_GAP = "[the result of an earlier call was taken out]"


def repair_messages(messages: Sequence[Message], /) -> list[Message]:
    """Make a conversation one that the APIs accept, changing as little as that takes.

    Args:
        messages: the conversation, in either form.

    Returns:
        The messages; those that were right are the same objects.

    Raises:
        ValueError: a message has no role that is known.
    """
    out: list[Message] = []
    lost = False
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        speaks = role(message)
        if results(message):  # it answers no call: those behind a call are read with it
            lost = True
            rest = [block for block in blocks(message) if kind(block) != "tool_result"]
            if speaks == "tool" or not rest:
                continue
            message = {**message, "content": rest}
        if lost and speaks == "assistant" and out and role(out[-1]) == "assistant":
            out.append({"role": "user", "content": _GAP})
        lost = False
        out.append(message)
        wanted = [call.id for call in calls(message)]
        if wanted and field(message, "tool_calls"):
            at = _tool_messages(messages, at, wanted, out)
        elif wanted:
            at = _result_blocks(messages, at, wanted, out)
    return out


def _tool_messages(messages: Sequence[Message], at: int, wanted: list[str], out: list[Message]) -> int:
    waiting = dict.fromkeys(wanted)
    while at < len(messages) and role(messages[at]) == "tool":
        (result,) = results(messages[at])
        if result.id in waiting:
            del waiting[result.id]
            out.append(messages[at])
        at += 1
    if at < len(messages):
        out.extend({"role": "tool", "tool_call_id": call, "content": LOST_RESULT} for call in waiting)
    return at


def _result_blocks(messages: Sequence[Message], at: int, wanted: list[str], out: list[Message]) -> int:
    if at == len(messages):
        return at
    waiting = dict.fromkeys(wanted)
    answers: list[object] = []
    others: list[object] = []
    begin = at
    while at < len(messages) and role(messages[at]) == "user" and (results(messages[at]) or at == begin):
        content = field(messages[at], "content")
        if isinstance(content, str) and content:
            others.append({"type": "text", "text": content})
        for block in blocks(messages[at]):
            call = field(block, "tool_use_id")
            if kind(block) != "tool_result":
                others.append(block)
            elif isinstance(call, str) and call in waiting:
                del waiting[call]
                answers.append(block)
        at += 1
    answers += [
        {"type": "tool_result", "tool_use_id": call, "content": LOST_RESULT, "is_error": True}
        for call in waiting
    ]
    whole = [*answers, *others]
    if at == begin + 1 and list(blocks(messages[begin])) == whole:
        out.append(messages[begin])
    else:
        out.append({"role": "user", "content": whole})
    return at
