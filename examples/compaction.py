"""Keep an agent's conversation within its model's window. The model that summarizes is a fake."""

import asyncio

from streamguard.context import Budget, ContextCompressor, Message

KEY = "sk-proj-" + "Fake0Key1" * 6


async def summarize(prompt: str, /, *, max_tokens: int) -> str:
    """Stand in for a call of a model; see docs/context.md for real ones."""
    print(f"\nThe summarizer is asked in {len(prompt):,} characters for at most {max_tokens:,} tokens.")
    print(f"It sees the key: {KEY in prompt}; it sees a placeholder: {'[REDACTED:' in prompt}.\n")
    return "## Goal\nThe tests pass.\n## Done\nRead 40 modules; the parser is at fault.\n## Next\nFix it."


def conversation() -> list[Message]:
    """An agent that has read forty files for one request."""
    messages: list[Message] = [
        {"role": "system", "content": "You are a coding agent."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello! What shall I do?"},
        {"role": "user", "content": "Find out why the tests fail, and fix it."},
    ]
    for number in range(40):
        function = {"name": "read_file", "arguments": f'{{"path": "module_{number}.py"}}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "I read on. " * 20, "tool_calls": [call]})
        text = f'API_KEY = "{KEY}"\n' + f"def function_{number}(): ...\n" * 10
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return messages


async def main() -> None:
    engine = ContextCompressor(summarize, budget=Budget(window=8_000, threshold=0.5))
    messages = conversation()
    result = await engine.prepare(messages)
    print(f"{result.action}: {len(messages)} messages, {result.tokens_before:,} tokens")
    print(f"  -> {len(result.messages)} messages, {result.tokens_after:,} tokens, fits: {result.fits}\n")
    for message in result.messages:
        content = str(message["content"])
        print(f"{message['role']:>9}: {content[:90]!r}{' ...' if len(content) > 90 else ''}")
    (summary,) = [str(message["content"]) for message in result.messages if "## Goal" in str(message)]
    print(f"\nThe summary, whole:\n\n{summary}")


asyncio.run(main())
