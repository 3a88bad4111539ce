"""The decoder: the same events for every cut, and every byte of them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamguard_asgi import EventTooLargeError, ServerSentEvent, SSEDecoder, encode_event

SOUP = st.lists(
    st.sampled_from(
        [
            *(b"\n", b"\r", b"\r\n", b"data: x", b"data:y", b"data", b"data: ", b":c", b"event:  e"),
            *(b"id: 1", b"event", b"datax: z", b"retry: 9", b"\xef\xbb\xbf", b"\xc3\xa9", b"\xc3", b" "),
            *(b"data: [DONE]\n\n", b"event: a\ndata: {}\n\n"),
        ]
    ),
    max_size=14,
).map(b"".join)


def decoded(body: bytes, cuts: list[int]) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    events = [event for start, end in pairwise(places) for event in decoder.feed(body[start:end])]
    return events + decoder.flush()


def read(body: bytes) -> list[tuple[str, str, str | None]]:
    """What a browser makes of a whole body: the standard, word by word."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split(r"\r\n|\n|\r", text)
    del lines[-1]  # not ended
    events, data, name, last = [], [], "", None
    for line in lines:
        if not line:
            if data:
                events.append(("\n".join(data), name, last))
            data, name = [], ""
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id":
            last = value
    return events


@given(SOUP, st.lists(st.integers(0, 200), max_size=6))
def test_every_cut_gives_the_same_events_and_every_byte(body: bytes, cuts: list[int]) -> None:
    whole = decoded(body, [])
    assert decoded(body, cuts) == whole
    assert decoded(body, list(range(len(body)))) == whole
    assert b"".join(event.raw for event in whole) == body


@given(SOUP)
def test_events_are_those_of_the_standard(body: bytes) -> None:
    last = None
    events = []
    for event in decoded(body + b"\n\n", []):
        last = event.id if event.id is not None else last
        if event.data is not None:
            events.append((event.data, event.event, last))
    assert events == read(body + b"\n\n")


@given(st.text(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_is_encoded_is_decoded(data: str, newline: str) -> None:
    raw = encode_event(data, ["event: e", "id: 7"], newline=newline)
    (event,) = [event for event in decoded(raw, []) if event.data is not None]
    want = re.sub(r"\r\n|\r", "\n", data)
    assert (event.data, event.event, event.id) == (want, "e", "7")


def test_an_event_comes_with_its_empty_line() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\ndata: b\n") == []
    (event,) = decoder.feed(b"\n")
    assert event.data == "a\nb"
    assert event.raw == b"data: a\ndata: b\n\n"
    assert decoder.pending == 0


def test_a_line_feed_that_may_follow_is_waited_for_once() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r\n\r") == []
    assert [event.data for event in decoder.feed(b"\n")] == ["a"]
    decoder = SSEDecoder()
    assert [event.data for event in decoder.feed(b"data: a\r\r")] == ["a"]
    assert [event.data for event in decoder.feed(b"data: b\r\r")] == ["b"]


def test_a_comment_comes_with_the_end_of_its_line() -> None:
    decoder = SSEDecoder()
    (event,) = decoder.feed(b": alive\n")
    assert (event.comments, event.data, event.raw) == ((" alive",), None, b": alive\n")
    (rest,) = decoder.feed(b"\n")
    assert rest.raw == b"\n"


def test_fields() -> None:
    (event,) = SSEDecoder().feed(b"event: e\nid: 3\nretry: 100\n:c\nother: o\nid: 4\ndata\n\n")
    assert (event.data, event.event, event.id, event.retry) == ("", "e", "4", 100)
    assert event.comments == ("c",)
    assert event.others[-2:] == ("other: o", "id: 4")
    (event,) = SSEDecoder().feed(b"retry: soon\n\n")
    assert (event.data, event.id, event.retry) == (None, None, None)


def test_the_name_of_an_event_is_not_that_of_the_next() -> None:
    events = SSEDecoder().feed(b"event: e\ndata: 1\n\ndata: 2\n\n")
    assert [event.event for event in events] == ["e", ""]


def test_the_last_event_may_lack_its_empty_line() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\ndata: b")[0].data == "a"
    assert decoder.flush() == [ServerSentEvent(b"data: b", "b")]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_large_event_is_an_error_that_does_not_quote_it(step: int) -> None:
    body = b"data: ok\n\ndata: " + b"secret" * 20 + b"\n\n"
    decoder = SSEDecoder(max_event=100)
    pieces = [body[start : start + step] for start in range(0, len(body), step)]
    with pytest.raises(EventTooLargeError) as caught:
        list(map(decoder.feed, pieces))
    assert caught.value.limit == 100
    assert "secret" not in repr(caught.value) + str(vars(caught.value))


def test_an_event_of_just_the_limit_is_none_too_large() -> None:
    body = b"data: " + b"x" * 92 + b"\n\n"
    assert len(body) == 100
    assert len(SSEDecoder(max_event=100).feed(body)) == 1
