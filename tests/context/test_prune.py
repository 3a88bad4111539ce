"""Old results, cleared."""

from streamguard.context import prune_results

from .test_repair import USER, answering, calling, result


def test_only_long_results_are_cleared() -> None:
    messages = [USER, calling("a", "b"), result("a", "x" * 201), result("b", "x" * 200)]
    pruned = prune_results(messages)
    assert pruned[2] == {**messages[2], "content": "[an earlier result of 201 characters was cleared]"}
    assert all(pruned[at] is messages[at] for at in (0, 1, 3))
    assert messages[2]["content"] == "x" * 201
    assert prune_results(pruned) == pruned


def test_blocks_keep_their_other_keys_and_their_order() -> None:
    message = answering("a", "b", text="And?")
    message["content"][1] |= {"content": [{"type": "text", "text": "x" * 500}], "is_error": True}
    (pruned,) = prune_results([message])
    first, second, third = pruned["content"]  # type: ignore[misc]
    assert (first, third) == (message["content"][0], message["content"][2])
    assert second == {
        "type": "tool_result",
        "tool_use_id": "b",
        "content": "[an earlier result of 500 characters was cleared]",
        "is_error": True,
    }
