"""What goes into a model's context, within its window: compaction and the system prompt."""

from typing import TYPE_CHECKING

from streamguard._lazy import lazily

if TYPE_CHECKING:
    from streamguard.context.compressor import ContextCompressor
    from streamguard.context.engine import Compaction, ContextEngine, engine_names, load_engine
    from streamguard.context.files import ContextFile, load_context_file
    from streamguard.context.messages import Message
    from streamguard.context.prompt import PLATFORM_HINTS, SystemPrompt, build_system_prompt
    from streamguard.context.prune import prune_results
    from streamguard.context.repair import repair_messages
    from streamguard.context.skills import Skill, SkillsIndex
    from streamguard.context.summary import SUMMARY_PREFIX, PreCompressHook, Summarizer
    from streamguard.context.tokens import Budget, TokenCounter, estimate_tokens

__all__ = [
    "PLATFORM_HINTS",
    "SUMMARY_PREFIX",
    "Budget",
    "Compaction",
    "ContextCompressor",
    "ContextEngine",
    "ContextFile",
    "Message",
    "PreCompressHook",
    "Skill",
    "SkillsIndex",
    "Summarizer",
    "SystemPrompt",
    "TokenCounter",
    "build_system_prompt",
    "engine_names",
    "estimate_tokens",
    "load_context_file",
    "load_engine",
    "prune_results",
    "repair_messages",
]

_MODULES = {
    "compressor": ("ContextCompressor",),
    "engine": ("Compaction", "ContextEngine", "engine_names", "load_engine"),
    "files": ("ContextFile", "load_context_file"),
    "messages": ("Message",),
    "prompt": ("PLATFORM_HINTS", "SystemPrompt", "build_system_prompt"),
    "prune": ("prune_results",),
    "repair": ("repair_messages",),
    "skills": ("Skill", "SkillsIndex"),
    "summary": ("SUMMARY_PREFIX", "PreCompressHook", "Summarizer"),
    "tokens": ("Budget", "TokenCounter", "estimate_tokens"),
}
__getattr__, __dir__ = lazily(__name__, _MODULES)
