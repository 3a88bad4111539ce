"""Policy files: an ordered list of stages, written down, becomes a `Pipeline`.

One format serves the command line and every integration: `load_policy` reads it from a
TOML file, `parse_policy` takes the same shape as a mapping, from YAML, JSON or code.

Only what a policy says is handed to a stage; a default stands in one place, the stage.
An error names the key, what was given and what is allowed. It never repeats a value
that could be a secret: keys of the redactor, the patterns of own rules.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from streamguard.session import Pipeline, StreamGuardError, Transformer

try:
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError
except ModuleNotFoundError as missing:  # pragma: no cover - needs an environment without pydantic
    raise ModuleNotFoundError(
        "policy files need an extra: pip install 'streamguard-llm[cli]'", name=missing.name
    ) from None

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from streamguard import Rule

__all__ = ["KEY_VARIABLE", "PolicyError", "PolicyProblem", "load_policy", "parse_policy", "rule_sets"]

KEY_VARIABLE = "STREAMGUARD_KEY"
"""The environment variable that keys the placeholders unless a stage names another."""


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One thing wrong with a policy.

    Attributes:
        key: where, as a dotted path such as `stage[1].where`; empty for the whole file.
        message: what was given and what is allowed.
    """

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" if self.key else self.message


class PolicyError(StreamGuardError, ValueError):
    """A policy cannot be read or does not describe a pipeline.

    Attributes:
        source: the file, or what the caller named it.
        problems: everything found wrong, in the order of the file.
    """

    def __init__(self, source: str, problems: Iterable[PolicyProblem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def said(self, *but: str) -> dict[str, object]:
        """The options the policy itself gives; the stage knows the rest."""
        names = self.model_fields_set - {"type", *but}
        return {name: _frozen(getattr(self, name)) for name in type(self).model_fields if name in names}


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


_Name = Annotated[str, Field(min_length=1)]
_Preset = Literal["memory", "reasoning", "tool_markup", "harmony"]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Texts = Annotated[list[_Name], BeforeValidator(_listed)]


class _FenceTable(_Table):
    open: _Texts
    close: _Texts
    name: str = ""
    nests: bool = True
    private: bool = False
    patterns: bool = False


def _text_or_table(value: object) -> str:
    return "<fence table>" if isinstance(value, Mapping | _FenceTable) else "<name>"


class _FenceStage(_Table):
    type: Literal["fence"]
    fences: list[
        Annotated[
            Annotated[_Name, Tag("<name>")] | Annotated[_FenceTable, Tag("<fence table>")],
            Discriminator(_text_or_table),
        ]
    ] = []
    presets: list[_Preset] = []
    where: Literal["anywhere", "line_start"] = "anywhere"
    attributes: bool = True
    nested: bool = True
    orphan_close: Literal["drop", "keep"] = "drop"
    unclosed: Literal["drop", "keep"] = "drop"
    start_inside: _Name | None = None
    code: bool = False
    escaped: bool = False
    max_block: Annotated[int, Field(ge=0)] | None = None
    on_limit: Literal["drop", "raise", "release"] = "drop"
    trim: Literal["none", "lines"] = "none"


class _PreambleStage(_Table):
    type: Literal["preamble"]
    when: Literal["end", "tool_call"] = "end"
    languages: list[_Name] = []
    opening: bool = False
    phrases: list[_Name] = []


class _StateOpStage(_Table):
    type: Literal["state_ops"]
    markers: list[_Name] = []
    fences: list[str] = []
    max_candidate: Annotated[int, Field(ge=0)] = 0
    max_restore: Annotated[int, Field(ge=0)] = 0


class _ScaffoldStage(_Table):
    type: Literal["scaffold"]
    extra_headers: list[_Name] = []


class _RoleplayStage(_Table):
    type: Literal["roleplay"]


class _RedactorStage(_Table):
    type: Literal["redactor"]
    rules: list[_Name] = []
    without: list[_Name] = []
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = KEY_VARIABLE
    limit: Annotated[int, Field(ge=16)] = 256


class _RuleTable(_Table):
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    value: _Name
    context: str = ""
    anchors: list[_Name] = []
    hashed: bool = True
    description: str = ""


def _type_of(value: object) -> str | None:
    given = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return f"<{given}>" if isinstance(given, str) else None


_StageTable = _FenceStage | _PreambleStage | _StateOpStage | _ScaffoldStage | _RoleplayStage | _RedactorStage
_Stage = Annotated[
    Annotated[_FenceStage, Tag("<fence>")]
    | Annotated[_PreambleStage, Tag("<preamble>")]
    | Annotated[_StateOpStage, Tag("<state_ops>")]
    | Annotated[_ScaffoldStage, Tag("<scaffold>")]
    | Annotated[_RoleplayStage, Tag("<roleplay>")]
    | Annotated[_RedactorStage, Tag("<redactor>")],
    Discriminator(_type_of),
]


class _Policy(_Table):
    stage: Annotated[list[_Stage], Field(min_length=1)]
    rule: list[_RuleTable] = []


_TABLES: dict[str, type[_Table]] = {
    "<fence>": _FenceStage,
    "<preamble>": _PreambleStage,
    "<state_ops>": _StateOpStage,
    "<scaffold>": _ScaffoldStage,
    "<roleplay>": _RoleplayStage,
    "<redactor>": _RedactorStage,
    "<fence table>": _FenceTable,
}
_STAGE_TYPES = tuple(tag.strip("<>") for tag in _TABLES if tag != "<fence table>")


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
        raise PolicyError(source, [PolicyProblem("", _reason(error))]) from None
    except UnicodeDecodeError:
        raise PolicyError(source, [PolicyProblem("", "is not UTF-8 text")]) from None
    except tomllib.TOMLDecodeError as error:
        # Only the place is repeated: the message can quote the line, and the line can hold anything.
        place = re.search(r"\((at [^()]*)\)$", str(error))
        where = f" ({place[1]})" if place else ""
        raise PolicyError(source, [PolicyProblem("", f"is not valid TOML{where}")]) from None
    return parse_policy(mapping, source=source, environ=environ)


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
    """
    try:
        policy = _Policy.model_validate(mapping)
    except ValidationError as error:
        raise PolicyError(source, map(_problem, error.errors(include_url=False))) from None
    builder = _Builder(policy, os.environ if environ is None else environ)
    pipeline = builder.build()
    if builder.problems:
        raise PolicyError(source, builder.problems)
    return pipeline


class _Builder:
    """Makes the stages of a valid policy, and collects what they refuse."""

    def __init__(self, policy: _Policy, environ: Mapping[str, str]) -> None:
        self.problems: list[PolicyProblem] = []
        self._policy = policy
        self._environ = environ
        self._own: dict[str, Rule] = {}
        self._used: set[str] = set()

    def build(self) -> Pipeline:
        for number, table in enumerate(self._policy.rule):
            self._rule(f"rule[{number}]", table)
        stages: list[Transformer] = []
        for number, stage in enumerate(self._policy.stage):
            try:
                stages.append(self._stage(f"stage[{number}]", stage))
            except (ValueError, TypeError) as error:
                self._refuse(f"stage[{number}]", str(error))
        if not self.problems:
            for number, table in enumerate(self._policy.rule):
                if table.id not in self._used:
                    self._refuse(f"rule[{number}]", f"no redactor stage uses {_given(table.id)}")
        return Pipeline(*stages)

    def _refuse(self, key: str, message: str) -> None:
        self.problems.append(PolicyProblem(key, message))

    def _rule(self, key: str, table: _RuleTable) -> None:
        from streamguard import Rule

        if table.id in self._own or table.id in _builtin_rules():
            self._refuse(f"{key}.id", f"{_given(table.id)} is the id of another rule")
            return
        try:
            self._own[table.id] = Rule(**table.said())  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            message = str(error)
            # The pattern of an own rule can be the very word it is to hide.
            quoted = any(text and text in message for text in (table.value, table.context, *table.anchors))
            self._refuse(key, "the pattern cannot be matched while it streams" if quoted else message)

    def _stage(self, key: str, table: _StageTable) -> Transformer:
        import streamguard
        from streamguard import presets

        match table:
            case _FenceStage():
                sets = {name: getattr(streamguard, name.upper()) for name in table.presets}
                fences = [fence for preset in sets.values() for fence in preset]
                fences += [
                    streamguard.Fence(**fence.said()) if isinstance(fence, _FenceTable) else fence
                    for fence in table.fences
                ]
                if not fences:
                    self._refuse(key, 'names no fence; give "fences", "presets" or both')
                return streamguard.FenceScrubber(*fences, **table.said("fences", "presets"))
            case _PreambleStage():
                return streamguard.PreambleTrimmer(**table.said())
            case _StateOpStage():
                return streamguard.StateOpScrubber(**table.said())
            case _ScaffoldStage():
                return streamguard.ScaffoldScrubber(**table.said())
            case _RoleplayStage():
                return presets.roleplay()
            case _RedactorStage():
                return streamguard.Redactor(
                    self._chosen(key, table),
                    key=self._key(key, table),
                    **table.said("rules", "without", "key_env"),
                )

    def _chosen(self, key: str, table: _RedactorStage) -> tuple[Rule, ...]:
        """The rules of a redactor, each once, in the order named."""
        named = {
            **rule_sets(),
            **{rule.id: (rule,) for rule in (*_builtin_rules().values(), *self._own.values())},
        }
        chosen: dict[str, Rule] = {}
        for number, name in enumerate(table.rules or ["secrets", *self._own]):
            if name not in named:
                self._refuse(f"{key}.rules[{number}]", f"no rule or set {_given(name)}{_meant(name, named)}")
            chosen.update((rule.id, rule) for rule in named.get(name, ()))
        for number, name in enumerate(table.without):
            left_out = [rule.id for rule in named.get(name, ()) if rule.id in chosen]
            if not left_out:
                hint = _meant(name, {*chosen, *rule_sets()})
                self._refuse(f"{key}.without[{number}]", f"no rule or set {_given(name)} here{hint}")
            for id_ in left_out:
                del chosen[id_]
        self._used.update(chosen)
        if not chosen:
            self._refuse(f"{key}.rules", "no rule is left")
        return tuple(chosen.values())

    def _key(self, key: str, table: _RedactorStage) -> bytes | None:
        secret = self._environ.get(table.key_env, "")
        if not secret and "key_env" in table.model_fields_set:
            self._refuse(f"{key}.key_env", "the environment variable it names is not set")
        return secret.encode("utf-8", "surrogateescape") or None


def rule_sets() -> dict[str, tuple[Rule, ...]]:
    """The rules that ship with the library, by the names a policy has for them.

    Returns:
        First `"secrets"` and `"pii"`, then the groups they are made of.
    """
    from streamguard import PII, SECRETS
    from streamguard.redact import rules

    groups = {name.lower().replace("_", "-"): getattr(rules, name) for name in rules.__all__}
    return {"secrets": SECRETS, "pii": PII, **groups}


def _builtin_rules() -> dict[str, Rule]:
    return {rule.id: rule for rules in rule_sets().values() for rule in rules}


_WANTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "string_too_short": "text that is not empty",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_PATTERNS = {
    "key_env": "the name of an environment variable",
    "id": "a lower-case letter, then up to 63 of a-z, 0-9 and -",
}
_SECRET_KEY = re.compile(r"key|secret|token|pass|cred|auth|value|context|anchors", re.IGNORECASE)


def _problem(detail: ErrorDetails) -> PolicyProblem:
    """Say in one line what pydantic found."""
    kind, loc, given = detail["type"], detail["loc"], detail["input"]
    tags = [part for part in loc if isinstance(part, str) and part.startswith("<")]
    path = [part for part in loc if part not in tags]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{_bare(part)}" for part in path).lstrip(".")
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if kind == "extra_forbidden":
        table = _TABLES[tags[-1]] if tags else _RuleTable if path[:1] == ["rule"] else _Policy
        allowed = list(table.model_fields)
        hint = "; a key stands in the environment, see key_env" if name == "key" else _meant(name, allowed)
        return PolicyProblem(key, f"unknown key{hint}; allowed: {', '.join(allowed)}")
    if key == "stage" and kind in {"missing", "too_short"}:
        return PolicyProblem(key, 'a policy needs at least one [[stage]], such as one with type = "redactor"')
    if kind == "missing":
        return PolicyProblem(key, "is missing")
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        typed = given.get("type") if isinstance(given, Mapping) else None
        hint = _meant(typed, _STAGE_TYPES) if isinstance(typed, str) else ""
        what = "is missing" if typed is None else f"given {_given(typed)}"
        return PolicyProblem(f"{key}.type", f"{what}{hint}; allowed: {_quoted(_STAGE_TYPES)}")
    if kind == "literal_error":
        wanted = str(detail.get("ctx", {}).get("expected", "")).replace("'", '"')
    elif kind == "string_pattern_mismatch":
        wanted = _PATTERNS[name]
    elif kind == "greater_than_equal":
        wanted = f"a whole number from {detail.get('ctx', {}).get('ge')}"
    elif kind == "list_type" and name in {"open", "close"}:
        wanted = "text or a list of texts"
    elif kind == "list_type" and name in {"stage", "rule"}:
        wanted = f"[[{name}]], in double brackets"
    else:
        wanted = _WANTED.get(kind, "another kind of value")
    shown = "a value that is not shown" if _SECRET_KEY.search(name) else _given(given)
    return PolicyProblem(key, f"given {shown}; allowed: {wanted}")


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[\w-]{1,40}", key) else _given(key)


def _given(value: object) -> str:
    if isinstance(value, str):
        return (
            json.dumps(value, ensure_ascii=False) if len(value) <= 40 else f"text of {len(value)} characters"
        )
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return f"a {type(value).__name__}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _meant(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _reason(error: OSError) -> str:
    return (error.strerror or "cannot be read").lower()
