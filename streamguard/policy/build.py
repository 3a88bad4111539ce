"""From the tables of a policy to its pipeline.

Tables are checked first (`tables`, with pydantic, loaded when a policy is read); what only
a stage can know it says itself, and its refusal becomes a problem of the policy.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from streamguard.policy.problems import PolicyError, PolicyProblem, given, meant
from streamguard.redact.selection import groups
from streamguard.session import Pipeline, Transformer

if TYPE_CHECKING:
    from streamguard import Rule
    from streamguard.policy.tables import FenceStage, Policy, RedactorStage, RuleTable, StageTable

__all__ = ["KEY_VARIABLE", "load_policy", "parse_policy"]

KEY_VARIABLE = "STREAMGUARD_KEY"
"""The environment variable that keys the placeholders unless a stage names another."""


def load_policy(path: str | os.PathLike[str], /, *, environ: Mapping[str, str] | None = None) -> Pipeline:
    """Read a policy file.

    Args:
        path: a TOML file, `streamguard.toml` by custom.
        environ: where the redactor's key is looked up; the process's environment by default.

    Raises:
        PolicyError: the file cannot be read, is not TOML, or is not a policy.
    """
    source = os.fspath(path)
    try:
        mapping = tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
    except UnicodeDecodeError:
        reason = "is not UTF-8 text"
    except tomllib.TOMLDecodeError as error:
        # Only the place is repeated: the message can quote the line, and the line can hold anything.
        place = re.search(r"\((at [^()]*)\)$", str(error))
        reason = f"is not valid TOML ({place[1]})" if place else "is not valid TOML"
    else:
        return parse_policy(mapping, source=source, environ=environ)
    raise PolicyError(source, [PolicyProblem("", reason)])


def parse_policy(
    mapping: Mapping[str, object],
    /,
    *,
    source: str = "policy",
    environ: Mapping[str, str] | None = None,
) -> Pipeline:
    """Make the pipeline that a policy describes.

    Args:
        mapping: the policy, as a TOML, YAML or JSON reader returns it.
        source: what errors call it.
        environ: where the redactor's key is looked up; the process's environment by default.

    Raises:
        PolicyError: it is not a policy; every problem found is in `problems`.
        ModuleNotFoundError: the extra `cli` is not installed.
    """
    from streamguard.policy.tables import read

    problems: list[PolicyProblem] = []
    policy = read(mapping, refuse=problems.append)
    pipeline = Pipeline()
    if policy is not None:
        pipeline = _Builder(policy, os.environ if environ is None else environ, problems).build()
    if problems:
        raise PolicyError(source, problems)
    return pipeline


class _Builder:
    """Makes the stages of a policy, and collects what they refuse."""

    def __init__(self, policy: Policy, environ: Mapping[str, str], problems: list[PolicyProblem]) -> None:
        self._policy = policy
        self._environ = environ
        self._problems = problems
        self._own: dict[str, Rule] = {}
        self._used: set[str] = set()
        self._sets = groups()
        self._shipped = {rule.id: rule for rules in self._sets.values() for rule in rules}

    def build(self) -> Pipeline:
        for number, table in enumerate(self._policy.rule or ()):
            self._rule(f"rule[{number}]", table)
        stages: list[Transformer] = []
        for number, stage in enumerate(self._policy.stage):
            try:
                stages.append(self._stage(f"stage[{number}]", stage))
            except (ValueError, TypeError) as error:
                self._refuse(f"stage[{number}]", str(error))
        if not self._problems:
            for number, table in enumerate(self._policy.rule or ()):
                if table.id not in self._used:
                    self._refuse(f"rule[{number}]", f"no redactor stage uses {given(table.id)}")
        return Pipeline(*stages)

    def _refuse(self, key: str, message: str) -> None:
        self._problems.append(PolicyProblem(key, message))

    def _rule(self, key: str, table: RuleTable) -> None:
        from streamguard import Rule

        if table.id in self._own or table.id in self._shipped or table.id in self._sets:
            self._refuse(f"{key}.id", f"{given(table.id)} is the name of another rule or set")
            return
        try:
            self._own[table.id] = Rule(**table.said())
        except (ValueError, TypeError) as error:
            # The pattern of an own rule can be the very word it is to hide.
            parts = (table.value, table.context, *(table.anchors or ()))
            quoted = any(part and part in str(error) for part in parts)
            self._refuse(key, "the pattern cannot be matched while text streams" if quoted else str(error))

    def _stage(self, key: str, table: StageTable) -> Transformer:
        import streamguard
        from streamguard import presets

        match table.type:
            case "fence":
                return self._fence(key, table)
            case "preamble":
                return streamguard.PreambleTrimmer(**table.said())
            case "state_ops":
                return streamguard.StateOpScrubber(**table.said())
            case "scaffold":
                return streamguard.ScaffoldScrubber(**table.said())
            case "roleplay":
                return presets.roleplay(**table.said())
            case "injection":
                # By name, since the layers below memory do not import it.
                memory = import_module("streamguard.memory")
                options = table.said("least")
                if table.least is not None:
                    options["least"] = memory.Severity[table.least.upper()]
                guard: Transformer = memory.InjectionGuard(**options)
                return guard
            case "redactor":
                chosen = self._chosen(key, table)
                options = table.said("rules", "without", "key_env", "allow", "allow_patterns")
                allow = [*(table.allow or ()), *map(re.compile, table.allow_patterns or ())]
                return streamguard.Redactor(chosen, key=self._key(key, table), allow=allow, **options)

    def _fence(self, key: str, table: FenceStage) -> Transformer:
        import streamguard

        presets = [getattr(streamguard, name.upper()) for name in table.presets or ()]
        fences = [
            fence if isinstance(fence, str) else streamguard.Fence(**fence.said())
            for fence in table.fences or ()
        ]
        if not presets and not fences:
            raise ValueError('names no fence; give "fences", "presets" or both')
        return streamguard.FenceScrubber(*presets, *fences, **table.said("fences", "presets"))

    def _chosen(self, key: str, table: RedactorStage) -> list[Rule]:
        """The rules of a redactor, each once, in the order named."""
        named = {
            **{rule.id: (rule,) for rule in (*self._shipped.values(), *self._own.values())},
            **self._sets,
        }
        chosen: dict[str, Rule] = {}
        for number, name in enumerate(table.rules or ("secrets", *self._own)):
            if name not in named:
                self._refuse(f"{key}.rules[{number}]", f"no rule or set {given(name)}{meant(name, named)}")
            chosen.update((rule.id, rule) for rule in named.get(name, ()))
        for number, name in enumerate(table.without or ()):
            left_out = [rule.id for rule in named.get(name, ()) if rule.id in chosen]
            if not left_out:
                hint = meant(name, (*chosen, *self._sets))
                self._refuse(f"{key}.without[{number}]", f"no rule or set {given(name)} here{hint}")
            for id_ in left_out:
                del chosen[id_]
        self._used.update(chosen)
        if not chosen:
            raise ValueError("no rule is left to redact by")
        return list(chosen.values())

    def _key(self, key: str, table: RedactorStage) -> bytes | None:
        secret = self._environ.get(table.key_env or KEY_VARIABLE, "")
        if table.key_env and not secret:
            self._refuse(f"{key}.key_env", "the environment variable it names is not set")
        return secret.encode("utf-8", "surrogateescape") or None
