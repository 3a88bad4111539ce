"""What goes into a model's context, within its window: compaction and the system prompt."""

from streamguard.context.compressor import ContextCompressor, PreCompressHook, Summarizer
from streamguard.context.engine import Compaction, ContextEngine, engine_names, load_engine
from streamguard.context.messages import Message
from streamguard.context.prune import prune_results
from streamguard.context.repair import repair
from streamguard.context.summary import SUMMARY_PREFIX
from streamguard.context.tokens import Budget, TokenCounter, estimate_tokens

__all__ = [
    "SUMMARY_PREFIX",
    "Budget",
    "Compaction",
    "ContextCompressor",
    "ContextEngine",
    "Message",
    "PreCompressHook",
    "Summarizer",
    "TokenCounter",
    "engine_names",
    "estimate_tokens",
    "load_engine",
    "prune_results",
    "repair",
]
