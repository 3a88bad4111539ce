"""Which guard the flags ask for."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import click

from streamguard.session import Pipeline, Transformer

__all__ = ["GuardFlags", "guard_options"]


@dataclass(frozen=True, slots=True)
class GuardFlags:
    """The flags that choose the stages, named as their options are."""

    policy: str | None = None
    fence: tuple[str, ...] = ()
    no_default_fences: bool = False
    preamble: bool = False
    roleplay: bool = False
    no_redact: bool = False
    pii: bool = False

    def guard(self) -> Transformer:
        """Make the guard: what removes text first, what replaces it last.

        Raises:
            click.UsageError: the flags contradict each other or leave nothing to do.
            PolicyError: the policy file is none.
        """
        if self.policy is not None:
            given = [field.name for field in fields(self)[1:] if getattr(self, field.name) != field.default]
            if given:
                others = [f"--{name.replace('_', '-')}" for name in given]
                raise click.UsageError(f"--policy names all stages; leave out {', '.join(others)}")
            from streamguard.policy import load_policy

            return load_policy(self.policy)
        return Pipeline(*self._stages())

    def _stages(self) -> Sequence[Transformer]:
        from streamguard import MEMORY, REASONING, FenceScrubber, PreambleTrimmer, Redactor

        stages: list[Transformer] = []
        fences = () if self.no_default_fences else (*MEMORY, *REASONING)
        if fences or self.fence:
            stages.append(FenceScrubber(*fences, *self.fence))
        if self.roleplay:
            from streamguard.presets import roleplay

            stages.append(roleplay())
        if self.preamble:
            stages.append(PreambleTrimmer())
        if self.pii and self.no_redact:
            raise click.UsageError("--pii redacts, --no-redact does not; leave out one of them")
        if not self.no_redact:
            from streamguard.policy import KEY_VARIABLE

            secret = os.environ.get(KEY_VARIABLE)
            if secret == "":
                raise click.UsageError(
                    f"the environment variable {KEY_VARIABLE} is empty; unset it or give it a key"
                )
            key = secret.encode("utf-8", "surrogateescape") if secret else None
            try:
                stages.append(Redactor(only=("secrets", "pii") if self.pii else (), key=key))
            except ModuleNotFoundError as missing:
                raise click.UsageError(str(missing)) from None
        if not stages:
            raise click.UsageError("these flags leave no stage to guard with")
        return stages


_OPTIONS = (
    click.option("--policy", type=click.Path(), metavar="FILE", help="Take the stages from a policy file."),
    click.option(
        "--fence", multiple=True, metavar="NAME", help="Also hide <NAME>...</NAME> blocks. Repeatable."
    ),
    click.option("--no-default-fences", is_flag=True, help="Do not hide memory and reasoning blocks."),
    click.option("--preamble", is_flag=True, help='Also trim tool talk such as "Let me check the file."'),
    click.option(
        "--roleplay", is_flag=True, help="Also remove state operations, tool talk and scaffold blocks."
    ),
    click.option("--no-redact", is_flag=True, help="Do not redact secrets."),
    click.option("--pii", is_flag=True, help="Redact personal data as well (needs the extra pii)."),
)


def guard_options(command: Callable[..., Any], /) -> Callable[..., Any]:
    """Add the options of `GuardFlags` to a command, which receives them as `flags`."""

    @functools.wraps(command)
    def with_flags(**values: Any) -> object:
        flags = GuardFlags(**{f.name: values.pop(f.name) for f in fields(GuardFlags)})
        return command(flags=flags, **values)

    decorated: Callable[..., Any] = with_flags
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
