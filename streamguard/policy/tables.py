"""The tables of a policy, as pydantic checks them.

An option is a field without a default of its own: what a policy leaves out has the default
of its stage, which stands there alone. Unknown keys and values of another kind are refused;
a policy that is misread leaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from streamguard.policy.problems import PolicyProblem, dotted, given, meant

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Discriminator,
        Field,
        Tag,
        ValidationError,
    )
except ModuleNotFoundError as missing:  # pragma: no cover - needs an environment without pydantic
    raise ModuleNotFoundError(
        "policy files need an extra: pip install 'streamguard-llm[cli]'", name=missing.name
    ) from None

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = [
    "FenceStage",
    "FenceTable",
    "InjectionStage",
    "Policy",
    "PreambleStage",
    "RedactorStage",
    "RoleplayStage",
    "RuleTable",
    "ScaffoldStage",
    "StageTable",
    "StateOpStage",
    "read",
]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def said(self, *but: str) -> dict[str, Any]:
        """The options the policy gives, as a stage takes them."""
        values = {name: getattr(self, name) for name in type(self).model_fields if name not in ("type", *but)}
        return {
            name: tuple(cast("list[object]", value)) if isinstance(value, list) else value
            for name, value in values.items()
            if value is not None
        }


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _compiles(value: str) -> str:
    try:
        re.compile(value)
    except re.error:
        raise ValueError("is not a regular expression") from None
    return value


Name = Annotated[str, Field(min_length=1)]
Regex = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
Names = list[Name]
OneOrMore = Annotated[Names, BeforeValidator(_listed)]
Count = Annotated[int, Field(ge=0)]


class FenceTable(_Table):
    """Delimiters other than a tag's."""

    open: OneOrMore
    close: OneOrMore
    name: Name | None = None
    nests: bool | None = None
    private: bool | None = None
    patterns: bool | None = None


def _name_or_table(value: object) -> str:
    return "<fence table>" if isinstance(value, Mapping | FenceTable) else "<name>"


_Fence = Annotated[
    Annotated[Name, Tag("<name>")] | Annotated[FenceTable, Tag("<fence table>")],
    Discriminator(_name_or_table),
]


class FenceStage(_Table):
    """The options of `FenceScrubber`."""

    type: Literal["fence"]
    fences: list[_Fence] | None = None
    presets: list[Literal["memory", "reasoning", "tool_markup", "harmony"]] | None = None
    where: Literal["anywhere", "line_start"] | None = None
    attributes: bool | None = None
    nested: bool | None = None
    orphan_close: Literal["drop", "keep"] | None = None
    unclosed: Literal["drop", "keep"] | None = None
    start_inside: Name | None = None
    code: bool | None = None
    escaped: bool | None = None
    max_block: Count | None = None
    on_limit: Literal["drop", "raise", "release"] | None = None
    trim: Literal["none", "lines"] | None = None


class PreambleStage(_Table):
    """The options of `PreambleTrimmer`."""

    type: Literal["preamble"]
    when: Literal["end", "tool_call"] | None = None
    languages: Names | None = None
    phrases: Names | None = None
    opening: bool | None = None
    max_sentence: Count | None = None
    max_held: Count | None = None


class StateOpStage(_Table):
    """The options of `StateOpScrubber`."""

    type: Literal["state_ops"]
    markers: Names | None = None
    fences: list[str] | None = None
    max_candidate: Count | None = None
    max_restore: Count | None = None


class ScaffoldStage(_Table):
    """The options of `ScaffoldScrubber`."""

    type: Literal["scaffold"]
    headers: Names | None = None
    extra_headers: Names | None = None
    transitions: Names | None = None
    max_line: Count | None = None
    max_restore: Count | None = None


class RoleplayStage(_Table):
    """The options of `presets.roleplay`."""

    type: Literal["roleplay"]
    extra_headers: Names | None = None


class RedactorStage(_Table):
    """The rules of a `Redactor`, by name, and its options."""

    type: Literal["redactor"]
    rules: Names | None = None
    without: Names | None = None
    allow: Names | None = None
    allow_patterns: list[Regex] | None = None
    actions: dict[str, Literal["redact", "flag", "block"]] | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    limit: Annotated[int, Field(ge=16)] | None = None
    obfuscated: bool | None = None


class InjectionStage(_Table):
    """The options of `streamguard.memory.InjectionGuard`."""

    type: Literal["injection"]
    action: Literal["reject", "replace", "flag"] | None = None
    scope: Literal["context", "memory"] | None = None
    least: Literal["low", "medium", "high"] | None = None


class RuleTable(_Table):
    """A rule of the user's own."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    value: Name
    context: str | None = None
    anchors: Names | None = None
    hashed: bool | None = None
    description: str | None = None


StageTable = (
    FenceStage | PreambleStage | StateOpStage | ScaffoldStage | RoleplayStage | RedactorStage | InjectionStage
)


def _type_of(value: object) -> str | None:
    name = getattr(value, "type", None) or _given_type(value)
    return f"<{name}>" if isinstance(name, str) else None


def _given_type(stage: object) -> object:
    return cast("Mapping[str, object]", stage).get("type") if isinstance(stage, Mapping) else None


class Policy(_Table):
    """A whole policy."""

    stage: Annotated[
        list[
            Annotated[
                Annotated[FenceStage, Tag("<fence>")]
                | Annotated[PreambleStage, Tag("<preamble>")]
                | Annotated[StateOpStage, Tag("<state_ops>")]
                | Annotated[ScaffoldStage, Tag("<scaffold>")]
                | Annotated[RoleplayStage, Tag("<roleplay>")]
                | Annotated[RedactorStage, Tag("<redactor>")]
                | Annotated[InjectionStage, Tag("<injection>")],
                Discriminator(_type_of),
            ]
        ],
        Field(min_length=1),
    ]
    rule: list[RuleTable] | None = None


def read(mapping: Mapping[str, object], /, *, refuse: Callable[[PolicyProblem], None]) -> Policy | None:
    """Check a policy.

    Args:
        mapping: the policy.
        refuse: called with each problem.

    Returns:
        The policy, or `None` if there was a problem.
    """
    try:
        return Policy.model_validate(mapping)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            refuse(_problem(detail))
        return None


# Tags name tables in pydantic's paths; the angle brackets keep them apart from keys.
_STAGES: Mapping[str | int, type[_Table]] = {
    "<fence>": FenceStage,
    "<preamble>": PreambleStage,
    "<state_ops>": StateOpStage,
    "<scaffold>": ScaffoldStage,
    "<roleplay>": RoleplayStage,
    "<redactor>": RedactorStage,
    "<injection>": InjectionStage,
}
_TYPES = [str(tag).strip("<>") for tag in _STAGES]
_TAGS: Mapping[str | int, type[_Table]] = {**_STAGES, "<fence table>": FenceTable, "<name>": _Table}
_SECRET = re.compile(r"key|secret|token|pass|cred|auth|value|context|anchors|allow", re.IGNORECASE)
_WANTED = {
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_WANTED_BY_NAME = {
    "key_env": "the name of an environment variable",
    "id": "a lower-case letter, then up to 63 of a-z, 0-9 and -",
    "open": "text or a list of texts",
    "close": "text or a list of texts",
    "stage": "[[stage]], in double brackets",
    "rule": "[[rule]], in double brackets",
}


def _problem(detail: ErrorDetails) -> PolicyProblem:
    """Say in one line what pydantic found."""
    kind, value = detail["type"], detail["input"]
    tags = [part for part in detail["loc"] if part in _TAGS]
    path = [part for part in detail["loc"] if part not in _TAGS]
    key = dotted(path)
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if kind == "extra_forbidden":
        table = _TAGS[tags[-1]] if tags else RuleTable if path[:1] == ["rule"] else Policy
        allowed = list(table.model_fields)
        hint = "; a key stands in the environment, see key_env" if name == "key" else meant(name, allowed)
        return PolicyProblem(key, f"unknown key{hint}; allowed: {', '.join(allowed)}")
    if key == "stage" and kind in {"missing", "too_short"}:
        return PolicyProblem(key, 'a policy needs at least one [[stage]], such as one with type = "redactor"')
    if kind == "missing":
        return PolicyProblem(key, "is missing")
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return PolicyProblem(f"{key}.type", _wrong_type(value))
    shown = "a value that is not shown" if _SECRET.search(name) else given(value)
    return PolicyProblem(key, f"given {shown}; allowed: {_wanted(kind, name, detail.get('ctx', {}))}")


def _wrong_type(stage: object) -> str:
    value = _given_type(stage)
    what = "is missing" if value is None else f"given {given(value)}"
    hint = meant(value, _TYPES) if isinstance(value, str) else ""
    return f"{what}{hint}; allowed: {_listing(_TYPES)}"


def _wanted(kind: str, name: str, context: Mapping[str, object]) -> str:
    if kind == "literal_error":
        return str(context.get("expected")).replace("'", '"')
    if kind == "greater_than_equal":
        return f"a whole number from {context.get('ge')}"
    if kind in {"list_type", "string_pattern_mismatch"} and name in _WANTED_BY_NAME:
        return _WANTED_BY_NAME[name]
    if kind == "value_error":
        return "a regular expression"
    return _WANTED.get(kind, "another kind of value")


def _listing(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
