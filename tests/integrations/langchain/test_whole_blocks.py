"""Blocks that come in one piece, with the ends of their texts: calls and results of servers' tools."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from streamguard_langchain import guard_model

from streamguard import FenceScrubber, Redactor, StreamGuardError

from .sources import Fake, anthropic_model, openai_model, sse

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
GUARD = FenceScrubber("think") | Redactor()
USAGE = {
    "input_tokens": 3,
    "output_tokens": 4,
    "total_tokens": 7,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def responses(item: dict[str, Any], version: str | None) -> Any:
    """A model whose server has done something, by OpenAI's API for responses."""
    head: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "tools": [],
        "tool_choice": "auto",
    }
    done = {**head, "status": "completed", "output": [item], "usage": USAGE, "parallel_tool_calls": True}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    body = sse([(event["type"], {**event, "sequence_number": at}) for at, event in enumerate(events)])
    return openai_model(lambda _: body, use_responses_api=True, output_version=version)


def messages(block: dict[str, Any], version: str | None) -> Any:
    """A model whose server has done something, by Anthropic's API; it says something behind it."""
    usage = {"input_tokens": 3, "output_tokens": 4}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    said = {"type": "text_delta", "text": "ok <"}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": said},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": stop, "usage": usage},
        {"type": "message_stop"},
    ]
    body = sse([(event["type"], event) for event in events])
    blocks: Any = {"thinking": {"type": "enabled", "budget_tokens": 1024}}  # else what it says is a string
    return anthropic_model(lambda _: body, **blocks, output_version=version)


def ran(kind: str, held: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "type": f"{kind}_result",
        "stdout": held,
        "stderr": "",
        "return_code": 0,
        "content": [],
    }
    return {"type": f"{kind}_tool_result", "tool_use_id": "s", "content": said}


def models(held: str, version: str | None) -> list[Any]:
    """Models whose servers have done something; each text of it is this one."""
    done = {"id": "i", "status": "completed"}
    items: list[dict[str, Any]] = [
        {**done, "type": "web_search_call", "action": {"type": "search", "query": held}},
        {**done, "type": "code_interpreter_call", "container_id": "c", "code": held, "outputs": []},
        {**done, "type": "file_search_call", "queries": [held], "results": [{"file_id": "f", "text": held}]},
        {**done, "type": "image_generation_call", "result": "aGVsbG8=", "revised_prompt": held},
        {"id": "i", "type": "mcp_call", "server_label": "s", "name": "n", "arguments": "{}", "output": held},
        {
            "id": "i",
            "type": "mcp_list_tools",
            "server_label": "s",
            "tools": [{"name": "n", "description": held, "input_schema": {}}],
        },
        {"id": "i", "type": "mcp_approval_request", "server_label": "s", "name": "n", "arguments": "{}"},
        {"id": "i", "type": "custom_tool_call", "call_id": "c", "name": "n", "input": held},
    ]
    page = {"type": "web_search_result", "title": held, "url": "http://a", "encrypted_content": "ZW5j"}
    blocks: list[dict[str, Any]] = [
        ran("code_execution", held),
        ran("bash_code_execution", held),
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [page]},
    ]
    return [*(responses(item, version) for item in items), *(messages(block, version) for block in blocks)]


def contents(model: Any) -> list[Any]:
    """What a model says, merged from its chunks and as the third version of events has it."""
    merged = reduce(add, model.stream("x"))
    stream: Any = model.stream_events("x", version="v3")
    list(stream)
    return [merged.content, merged.content_blocks, stream.output.content_blocks]


@pytest.mark.parametrize("version", ["v1", None])
@pytest.mark.parametrize("tool_args", ["keep", "guard"])
@pytest.mark.parametrize("held", ["a < b, 1 <", "user: root\nkey", "a@b"])
def test_what_a_server_has_done_comes_through_as_without_a_guard(
    held: str, tool_args: Any, version: str | None
) -> None:
    for raw in models(held, version):
        assert contents(guard_model(raw, GUARD, tool_args=tool_args)) == contents(raw)


@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_a_block_that_comes_whole_is_guarded_whole(index: dict[str, int]) -> None:
    block = {"type": "web_search_result", "title": "<think>canaryhidden</think>1 <", **index}
    model = guard_model(
        Fake(chunks=[AIMessageChunk(content=[block]) for _ in range(1 if index else 2)]), GUARD
    )
    chunks = [chunk.content for chunk in model.stream("x") if chunk.content]
    assert chunks == [[{**block, "title": "1 <"}]] * len(chunks)
    assert len(chunks) == (1 if index else 2)


def test_an_annotation_comes_whole_also_where_its_index_is_that_of_a_file() -> None:
    cited = {"type": "file_citation", "file_id": "f", "filename": "a <", "index": 0}
    chunks = [
        AIMessageChunk(content=[{"type": "text", "annotations": [cited], "index": 0}]),
        AIMessageChunk(content=[{"type": "text", "text": "b. ", "index": 0}]),
    ]
    shown = list(guard_model(Fake(chunks=chunks), FenceScrubber("think")).stream("x"))
    assert [chunk.content for chunk in shown if chunk.content] == [chunk.content for chunk in chunks]


def test_a_block_that_comes_whole_and_goes_on_is_refused_and_nothing_leaks() -> None:
    chunks = [
        AIMessageChunk(content=[{"type": "web_search_result", "title": piece, "index": 0}])
        for piece in ("<thi", "nk>canaryhidden</think>")
    ]
    out: list[Any] = []
    with pytest.raises(StreamGuardError, match="comes whole"):
        out.extend(guard_model(Fake(chunks=chunks), GUARD).stream("x"))
    assert "canary" not in repr(out)
