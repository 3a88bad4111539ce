"""Compose stages, look at what they may hold back, and send reasoning somewhere else."""

from streamguard import REASONING, End, FenceScrubber, PreambleTrimmer, Redactor, Rule

guard = (
    FenceScrubber("memory-context", *REASONING, trim="lines")
    | PreambleTrimmer()
    | Redactor(
        [Rule("ticket", r"TICKET-[0-9]{4,}", context=r"\bref: ", description="internal ticket numbers")]
    )
)

print("Most characters each rule can hold back:")
for bound in guard.bounds():
    print(f"  {bound}")

reasoning: list[str] = []
session = guard.session(on_hidden=lambda fence, text: reasoning.append(f"[{fence}] {text}"))
for piece in [
    "<think>They want ",
    "the ref.</think>\n\nIt is ref: TICK",
    "ET-20991. I'll upd",
    "ate the notes now.",
]:
    shown = session.feed(piece)
    print(f"{piece!r:55} -> {shown!r}, {session.pending} held")
print(f"{'end, a tool call follows':55} -> {session.flush(End.TOOL_CALL)!r}")
print("hidden:", "".join(reasoning))
