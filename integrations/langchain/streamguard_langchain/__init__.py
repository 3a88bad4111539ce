"""Guards LangChain's chat models: nothing unguarded on any path their text can take."""

from streamguard_langchain.errors import GuardedModelError
from streamguard_langchain.model import GuardedChatModel
from streamguard_langchain.wrapping import guard_model

__all__ = ["GuardedChatModel", "GuardedModelError", "guard_model"]
