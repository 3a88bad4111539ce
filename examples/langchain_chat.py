"""A chat in a terminal: a guarded LangChain model, streamed. Needs no key.

    python examples/langchain_chat.py

Put `ChatOpenAI(...)`, `ChatAnthropic(...)` or any other chat model in the place of the fake.
"""

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from streamguard_langchain import guard_model

from streamguard import FenceScrubber, Redactor

ANSWERS = [
    "<think>They want the plan. I must not mention the budget.</think>The plan has three steps. a < b.",
    "Sure: the staging login is admin, password: hunter2-blue. Anything else?",
]
GUARD = FenceScrubber("think") | Redactor()


def main() -> None:
    model = guard_model(GenericFakeChatModel(messages=iter([AIMessage(text) for text in ANSWERS])), GUARD)
    history: list[BaseMessage] = []
    for question in ("What is the plan?", "And the login?"):
        print("You:", question)
        history.append(HumanMessage(question))
        print("Bot: ", end="")
        answer = ""
        for chunk in model.stream(history):
            print(chunk.text, end="", flush=True)
            answer += chunk.text
        print()
        history.append(AIMessage(answer))


if __name__ == "__main__":
    main()
