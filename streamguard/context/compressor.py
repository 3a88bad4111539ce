"""A conversation made shorter in five steps, for models of any provider.

1. Old results of tools are cleared. If that is enough, it is all that is done.
2. The head stays: instructions, and the first messages, which say what it is all about.
3. The tail stays: the newest messages, up to a budget of tokens (see `split`).
4. What is between the two is summarized by a function that is passed in.
5. A summary that is there already is brought up to date, not summarized again.

The invariants: no call is parted from its results; the messages of head and tail are the
same objects; the result never has more tokens than what was given, and if that was within
the limit, no more text; what has been summarized is not summarized again without something
new; the summarizer sees no secret and no fence.

Nothing is remembered of a conversation: the summary to be brought up to date is found in
the messages. What is remembered is that the summarizer failed, and how long to leave it
alone; meanwhile older turns are replaced by what is known of them without a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import anyio.to_thread

from streamguard.context.asking import answer_of
from streamguard.context.engine import Compaction, ContextEngine
from streamguard.context.guard import default_guard
from streamguard.context.messages import Message, Side, side, texts
from streamguard.context.prune import prune_results
from streamguard.context.repair import repair_messages
from streamguard.context.shorten import shorten
from streamguard.context.split import Split, split
from streamguard.context.summary import (
    PreCompressHook,
    Summarizer,
    Summary,
    asks,
    is_inserted,
    latest_request,
    summary_prompt,
    without_model,
)
from streamguard.context.tokens import Budget, Ledger, TokenCounter, estimate_tokens
from streamguard.context.transcript import Turn, read_turns, write_turns
from streamguard.session import Finding, FindingHandler, Transformer

__all__ = ["ContextCompressor"]

_WORTH = 20  # what is less than this part of the budget is not worth a model's time
_LEAST = 300  # tokens of a summary that there is no room for
_SOMETHING = 30  # tokens in which a summary says something
_SHORT_REQUEST = 200  # characters, as those that follow
_LONGEST_NOTES = 4_000
_LONGEST_TOPIC = 500


class ContextCompressor(ContextEngine):
    """Summarizes what is neither the beginning of a conversation nor its newest part.

    One may serve any number of conversations at once.

    *Delay*: that of the hook and of the summarizer, each at most `timeout`. *Memory*: nothing
    between calls.
    """

    __slots__ = (
        "_budget",
        "_clock",
        "_cooldown",
        "_counter",
        "_first",
        "_guard",
        "_hook",
        "_last",
        "_on_finding",
        "_resting_until",
        "_summarizer",
        "_timeout",
    )

    def __init__(
        self,
        summarizer: Summarizer,
        *,
        budget: Budget | int,
        counter: TokenCounter = estimate_tokens,
        guard: Transformer | None = None,
        protect_first: int = 3,
        protect_last: int = 4,
        cooldown: float = 600.0,
        timeout: float | None = 120.0,
        clock: Callable[[], float] = time.monotonic,
        on_pre_compress: PreCompressHook | None = None,
        on_finding: FindingHandler | None = None,
    ) -> None:
        """Set up an engine.

        Args:
            summarizer: asks a model.
            budget: what goes to what, or the model's window in tokens.
            counter: counts the tokens of one message.
            guard: what texts pass on their way to the summarizer, and its answer on the way
                back; by default fences of memory and reasoning, and secrets, are taken out.
            protect_first: messages kept at the beginning, besides instructions, as far as
                whole units of them have no more than a quarter of the budget.
            protect_last: messages kept at the end whatever their size.
            cooldown: seconds in which a summarizer that has failed is not asked.
            timeout: seconds after which a summarizer or a hook counts as failed; `None` is never.
            clock: seconds that only go forward.
            on_pre_compress: asked for notes before messages go. If it fails, takes too long or
                returns no text, there are none.
            on_finding: is told what was taken out.

        Raises:
            ValueError: a number is out of range.
        """
        if protect_first < 0 or protect_last < 1 or cooldown < 0:
            raise ValueError("protect_first and cooldown are 0 or more, protect_last is 1 or more")
        self._summarizer = summarizer
        self._budget = budget if isinstance(budget, Budget) else Budget(budget)
        self._counter = counter
        self._guard = guard or default_guard()
        self._first = protect_first
        self._last = protect_last
        self._cooldown = cooldown
        self._timeout = timeout
        self._clock = clock
        self._resting_until = float("-inf")
        self._hook = on_pre_compress
        self._on_finding = on_finding

    async def count(self, messages: Sequence[Message], /) -> int:
        """Count the tokens of a conversation."""
        return await Ledger(self._counter).total(messages)

    def due(self, tokens: int, /) -> bool:
        """Tell whether so many tokens are above the budget's limit."""
        return tokens > self._budget.limit

    async def compact(
        self, messages: Sequence[Message], /, *, focus: str = "", overhead: int = 0
    ) -> Compaction:
        """Make a conversation shorter.

        Args:
            messages: the conversation, in either form. It is not changed.
            focus: a topic of which more is to be kept than of the rest.
            overhead: tokens of the request besides the messages.

        Returns:
            The conversation to go on with. Where nothing can be gained it is the one that was
            given, repaired.

        Raises:
            ValueError: a message has no role that is known.
            Exception: whatever the counter or the guard raises. A summarizer or a hook that
                fails raises nothing.
        """
        ledger = Ledger(self._counter)
        limit = self._budget.limit - overhead
        given = repair_messages(messages)
        before = await ledger.total(messages)
        parts = split(
            given,
            await ledger.sizes(given),
            budget=self._budget,
            limit=limit,
            first=self._first,
            last=self._last,
        )
        tokens = await ledger.total(given)
        unchanged = Compaction(given, "none", before, tokens, tokens <= limit)

        pruned = [*parts.head, *prune_results(parts.middle), *parts.tail]
        after = await ledger.total(pruned)
        if after <= limit // 2 and after < tokens and not focus:
            return Compaction(pruned, "pruned", before, after, fits=True)

        fresh = [message for message in parts.middle if not is_inserted(message)]
        room = limit - await ledger.total(parts.head) - await ledger.total(parts.tail)
        worth = await ledger.total(fresh) >= self._budget.limit // _WORTH
        if not fresh or not (worth or 0 < room < tokens - (limit - room)):
            return unchanged
        budget = min(self._budget.summary(await ledger.total(parts.middle)), room)
        inserted, failure = await self._replacement(parts, fresh, focus, budget, room)
        after = limit - room + await ledger.total(inserted)
        if after >= tokens or (tokens <= limit and _length(inserted) > _length(parts.middle)):
            return unchanged
        return Compaction(
            [*parts.head, *inserted, *parts.tail],
            "fallback" if failure else "summarized",
            before,
            after,
            after <= limit,
            len(fresh),
            failure,
        )

    async def _replacement(
        self, parts: Split, fresh: list[Message], focus: str, budget: int, room: int
    ) -> tuple[list[Message], str]:
        """What stands for the middle, and the name of what kept it from being summarized."""
        found: list[Finding] = []

        def safe(text: str) -> str:
            return self._guard.scrub(text, on_finding=found.append)

        past = [summary for message in parts.middle if (summary := Summary.read(message))]
        turns = await anyio.to_thread.run_sync(read_turns, fresh, self._guard, found.append)
        previous = safe("\n\n".join(summary.body for summary in past))
        body, failure = "", "Cooldown"
        if self._clock() >= self._resting_until:
            notes = shorten(safe(await self._notes(fresh)), _LONGEST_NOTES)
            topic = shorten(safe(focus), _LONGEST_TOPIC)
            prompt = await self._prompt(turns, previous, notes, topic, budget)
            ask = partial(self._summarizer, max_tokens=max(budget, _LEAST))
            answer, failure = await answer_of(ask, prompt, seconds=self._timeout)
            body = safe(answer).strip()
            if not body:
                failure = failure or "EmptySummary"
                self._resting_until = self._clock() + self._cooldown
        request, at_work = "", not any(map(asks, parts.tail))
        if at_work:
            request = latest_request(turns) or safe(next((summary.request for summary in past[::-1]), ""))
        if self._on_finding is not None:
            for finding in found:
                self._on_finding(finding)
        summary = Summary(body or without_model(turns, previous), request, at_work)
        before, after = _side(parts.head[::-1]), _side(parts.tail)
        return await self._fitting(summary, before, after, budget, room), failure

    async def _notes(self, messages: list[Message]) -> str:
        if self._hook is None:
            return ""
        notes, _ = await answer_of(self._hook, messages, seconds=self._timeout)
        return notes  # those of others are not worth a turn

    async def _prompt(self, turns: list[Turn], previous: str, notes: str, focus: str, budget: int) -> str:
        """What the summarizer is asked, in half a window."""
        limit = self._budget.window // 2
        characters = limit * 3
        wanted = max(budget - 700, budget // 2, _LEAST)  # the rest is for the frame
        while True:
            transcript = await anyio.to_thread.run_sync(write_turns, turns, characters)
            prompt = summary_prompt(transcript, previous=previous, notes=notes, focus=focus, tokens=wanted)
            if characters < 1000 or await self.count([{"role": "user", "content": prompt}]) <= limit:
                return prompt
            characters = characters * 3 // 4

    async def _fitting(
        self, summary: Summary, before: Side | None, after: Side | None, budget: int, room: int
    ) -> list[Message]:
        """Write a summary as messages, shortened until they have no more than so many tokens.

        What is said around it is made shorter where it has no room. Where there still is none,
        the summary is short and says something all the same.
        """

        async def framed(changed: Summary) -> tuple[Summary, int]:
            return changed, await self.count(replace(changed, body="").messages(before, after))

        summary, frame = await framed(summary)
        if frame >= budget and summary.request:
            request = shorten(summary.request, _SHORT_REQUEST)
            summary, frame = await framed(replace(summary, request=request))
        if frame + _SOMETHING > room:
            summary, frame = await framed(replace(summary, brief=True))
        if frame >= budget:
            budget = min(frame + _LEAST, room) if room > frame else frame + _LEAST
        while True:
            inserted = summary.messages(before, after)
            size = await self.count(inserted)
            if size <= budget or not summary.body:
                return inserted
            share = min((budget - frame) / (size - frame), 0.95)
            summary = replace(summary, body=shorten(summary.body, int(len(summary.body) * share)))


def _length(messages: Sequence[Message]) -> int:
    """Characters of all that is said."""
    return sum(len(text) for message in messages for text in texts(message))


def _side(messages: Sequence[Message]) -> Side | None:
    """Who speaks first, instructions aside."""
    return next((side(message) for message in messages if side(message) != "system"), None)
