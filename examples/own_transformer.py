"""Write a transformer of your own and have its laws checked.

`DashJoiner` replaces an em dash and the spaces around it by ", ". It must hold a space
back, since a dash may follow; and nothing else.
"""

from dataclasses import dataclass

from streamguard import Bound, End, FenceScrubber, Session, Transformer
from streamguard.session import FindingHandler, HiddenHandler
from streamguard.testing import LawViolation, check_minimal, check_transformer


@dataclass(frozen=True)
class DashJoiner(Transformer):
    """Settings; there are none."""

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return _Session()

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("dash_joiner", "dash", 1),)


class _Session(Session):
    """After a dash, one space is swallowed; before one, one is held."""

    __slots__ = ("_after_dash", "_space")

    def __init__(self) -> None:
        super().__init__()
        self._space = ""
        self._after_dash = False

    @property
    def pending(self) -> int:
        return len(self._space)

    def _feed(self, text: str, /) -> str:
        out: list[str] = []
        for char in text:
            if char == "—":
                out.append(", ")
                self._space, self._after_dash = "", True
            elif char == " " and self._after_dash:
                self._after_dash = False
            else:
                out.append(self._space)
                self._after_dash = False
                self._space = char if char == " " else ""
                out.append("" if self._space else char)
        return "".join(out)

    def _flush(self, end: End, /) -> str:
        return self._space


texts = ["a — b", "a—b", "a  —  b", "no dash", " — "]
check_transformer(DashJoiner(), texts, alphabet="—a ", clean=["no dash"])
for text in texts:
    check_minimal(DashJoiner(), text, "—a ")
print("DashJoiner keeps the laws.")
print((DashJoiner() | FenceScrubber("think")).scrub("one — two<think>x — y</think>"))


class Hasty(DashJoiner):
    """Gives the space away at once; the laws say where that shows."""

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return _HastySession()


class _HastySession(_Session):
    __slots__ = ()

    def _feed(self, text: str, /) -> str:
        shown = super()._feed(text) + self._space
        self._space = ""
        return shown


try:
    check_transformer(Hasty(), texts, alphabet="—a ")
except LawViolation as violation:
    print("Hasty does not:", violation.law.name)
