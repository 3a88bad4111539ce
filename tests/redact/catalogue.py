"""The page of the documentation that lists every rule; `python -m tests.redact.catalogue` writes it anew."""

from __future__ import annotations

from pathlib import Path

from streamguard.redact.selection import groups

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
HEAD = """# The rules

Every rule that ships, by group. A group or a rule is named by what stands here, in `only=`, `without=`
and `actions=` of a [`Redactor`](redaction.md) and in [policies](policy.md). `streamguard rules <name>`
tells the rest: where the format comes from, texts in which the rule redacts, texts it leaves
alone, and how much it may hold back.
"""


def page() -> str:
    """The page as it should read."""
    parts = [HEAD]
    listed: set[str] = set()
    for name, rules in groups().items():
        if name in ("secrets", "pii"):
            continue
        parts.append(f"\n## `{name}`\n\n| rule | redacts |\n|---|---|\n")
        parts += [f"| `{rule.id}` | {rule.description.replace('|', chr(92) + '|')} |\n" for rule in rules]
        listed |= {rule.id for rule in rules}
    whole = groups()
    everything = {rule.id for rule in (*whole["secrets"], *whole["pii"])}
    assert listed == everything, everything - listed
    secrets, personal = len(whole["secrets"]), len(whole["pii"])
    counts = f"\n{secrets} rules are in `secrets`, which is the default, {personal} in `pii`.\n"
    return "".join([parts[0], counts, *parts[1:]])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
