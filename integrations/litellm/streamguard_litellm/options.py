"""What a user of the proxy has written down, read once when the proxy starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, cast

from streamguard import Transformer
from streamguard.adapting import Settings
from streamguard.policy import load_policy, parse_policy
from streamguard.session import StreamGuardError

__all__ = ["Answers", "GuardrailConfigError", "Options", "read_options"]

_NAMES = ("policy", "tool_args", "reasoning", "logs", "inputs")


class GuardrailConfigError(StreamGuardError):
    """A guardrail's configuration is wrong, and the proxy must not start.

    It is no `ValueError`: a guardrail that raises one LiteLLM leaves out, and starts without it.
    """


class Answers(Enum):
    """How the answer of a call came that loggers get whole."""

    WHOLE = "whole"
    JOINED = "joined"
    """LiteLLM has put it together from a stream."""
    MIXED = "mixed"
    """So it has, and of several choices: nothing in it can be guarded."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a callback guards.

    Attributes:
        settings: what every text goes through.
        logs: what loggers receive is guarded too.
        inputs: of what loggers receive also the request is guarded.
        answers: how the answers came, where it is known of which call they are.
    """

    settings: Settings
    logs: bool = True
    inputs: bool = True
    answers: Answers = Answers.WHOLE

    def answering(self, answers: Answers) -> Options:
        """The same for answers that came like this."""
        return replace(self, answers=answers)

    @property
    def silent(self) -> Settings:
        """The settings for logs: what is found there was reported by the stream."""
        return replace(self.settings, on_finding=None)


def read_options(given: object, /) -> Options:
    """Read the options of a guardrail, the table `streamguard` of its `litellm_params`.

    Args:
        given: a mapping with `policy`, and where wanted `tool_args`, `reasoning`, `logs`, `inputs`. A
            policy is a mapping, or the path of a policy file; one that is relative is looked
            for from the working directory, then beside the proxy's configuration.

    Raises:
        ValueError: an option is missing, unknown or has no such value.
        PolicyError: the policy is none.
    """
    if not isinstance(given, Mapping):
        raise ValueError("a guardrail of streamguard needs the options streamguard: {policy: ...}")  # noqa: TRY004 - of a file's content
    own = dict(cast("Mapping[str, Any]", given))
    unknown = [name for name in own if name not in _NAMES]
    if unknown:
        raise ValueError(f"streamguard.{unknown[0]}: unknown option; allowed: {', '.join(_NAMES)}")
    for name in ("logs", "inputs"):
        if not isinstance(own.get(name, True), bool):
            raise ValueError(f"streamguard.{name} is true or false")  # noqa: TRY004 - of a file's content
    settings = Settings(
        _policy(own.get("policy")),
        own.get("tool_args", "guard"),
        own.get("reasoning", "guard"),
    )
    return Options(settings, own.get("logs", True), own.get("inputs", True))


def _policy(given: object) -> Transformer:
    if isinstance(given, Mapping):
        return parse_policy(cast("Mapping[str, object]", given), source="streamguard.policy")
    if isinstance(given, str | os.PathLike):
        return load_policy(_found(Path(cast("str", given))))
    raise ValueError("streamguard.policy is a table of stages or the path of a policy file")


def _found(path: Path) -> Path:
    if path.is_absolute() or path.exists():
        return path
    from litellm.proxy import proxy_server

    config = getattr(proxy_server, "user_config_file_path", None)
    beside = Path(config).parent / path if isinstance(config, str) else path
    return beside if beside.exists() else path
