"""English."""

from __future__ import annotations

from streamguard.preamble.phrases import Phrases

__all__ = ["PHRASES"]

_FILLERS = (
    "okay|ok|alright|all right|sure|sure thing|great|perfect|excellent|got it|understood|no problem|hmm"
)
_ASSENT = "certainly|of course|absolutely|definitely|good"
"""Also answers to a question: as a sentence of their own they stay."""

_SELF = (
    "(?:let me|lemme|i'll|i will|i shall|i need to|(?:i'm|i am) (?:now |just )?(?:going to|gonna|about to))"
)
_MANNER = (
    "(?:(?:now|first|next|then|also|just|quickly|briefly|immediately|actually|go ahead and"
    "|proceed to|try to|start by|begin by) ){0,2}"
)
_WORDS = r"(?:[\w.-]{1,20} ){0,3}"

_NOTING = "mark|record|update|note|save|log|set|track|reflect"
_LOOKING = (
    "search|check|double-check|fetch|read|open|run|query|retrieve|scan|inspect|examine|review|verify"
    "|analy[sz]e|calculate|compute|consult|browse|call|invoke|execute|load|grep|gather|advance"
    "|look (?:up|into|for|at|through|over|around|(?:it|that|this|them) up)"
    "|pull (?:up|in)|bring up|take (?:a|another) (?:quick |closer |second )?look"
    "|find (?:out|more|information|relevant|that information)"
    "|see (?:what i can find|if i can find|if there|whether there|what's in|what is in)"
    "|make a (?:quick |mental )?note|keep (?:track|a record)"
)
_ING = (
    "marking|recording|updating|noting|saving|logging|setting|searching|checking|fetching|reading"
    "|opening|running|querying|retrieving|looking|gathering|calling"
)
_WORKING = (
    f"use (?:the|a|an|my|this|that) {_WORDS}"
    "(?:tools?|functions?|apis?|calculator|browser|search|plugin|commands?|terminal|interpreter|database)"
    f"|get (?:the|that|this|some|more|your) {_WORDS}(?:information|info|data|details|results?|list|contents?)"
    "|(?:create|write|edit|modify|rewrite|delete|fix|install|implement|test|generate)"
    f" {_WORDS}(?:files?|tests?|scripts?|code|functions?|config|configuration|entry|records?|module"
    "|package|page|table|event|reminder|task|issue|ticket|branch|commit|bugs?|errors?)"
    r"|try (?:again|that again|a different|another|searching|running|using)"
)

_DOING = "searching for|looking up|pulling up|fetching|retrieving|querying|updating|recording|logging"
_SPEAKING = "know|explain|tell|say|ask|answer|show|give|clarify"
_LIVING = (
    "be|help|wait|never|always|not|go (?:to|home|back|away|there|with)|come|leave|stay|live|love|fight|die"
)

_HAPPY = "i(?:'d| would|'ll| will) be (?:happy|glad) to"
_GREETING = f"(?:(?:{_FILLERS}|{_ASSENT})(?:[,!]? |,? ?[-–—] ?))?"
_REST = r"(?:[^.!?:\n\"“”`]|[.:](?=[\w]))"

PHRASES = Phrases(
    interjections=(
        f"(?:(?:{_FILLERS}|{_ASSENT}|right|now|first|first of all|next|then|so|well|ah|oh|and|but|finally"
        "|thanks|thank you|good question|great question)(?:, |,? ?[-–—] ?)"
        "|(?:okay|ok|alright|all right|sure|first|next|then|so|(?:and |so )?now) )"
    ),
    leads=rf"(?:{_FILLERS})(?:[.!…]{{1,3}}|[。！])",
    beginnings=(
        rf"{_SELF} {_MANNER}(?:{_NOTING}|{_LOOKING}|{_WORKING}|{_ING})\b",
        rf"i should (?:now |first |also )?(?:{_NOTING}|call|search|check|query|fetch|retrieve|look up)\b",
        rf"(?:let's|let us) (?:now )?(?:{_NOTING}|search|query|fetch|retrieve|call|check the)\b",
        r"now,? (?:let me|i'll|i will|i should)\b",
        r"the (?:scene|story) has (?:now |naturally )?(?:progressed|advanced)\b",
        r"(?:i'?ve|i have) (?:now |just |also |already )?(?:marked|recorded|updated|noted|logged)\b",
        rf"(?:i'm|i am) (?:now |just )?(?:{_DOING})\b",
    ),
    exceptions=(
        # Offers, and what depends on the reader.
        r"\b(?:if|when|whenever|once|unless|until|after|before|while|as soon as|in case|should|with) you\b",
        r"\b(?:if (?:needed|necessary|required|desired)|let me know|feel free)\b",
        r"\b(?:check (?:back|in)|get back to)\b",
        # Said to somebody, or of somebody.
        rf"\b(?:{_NOTING}|{_LOOKING}) (?:you|him|us)\b",
        rf"\b(?:let me|i'll|i will|i should) (?:{_SPEAKING}|{_LIVING})\b",
        # What follows is the thing said.
        r"\bnote that (?:the|this|these|those|it|there|you|we|i|a|an|all|most|some|in|if|not|he|she|they)\b",
        # Idioms.
        r"\b(?:run (?:away|off|out|to|for|toward|towards)|set (?:off|out|sail|foot)|open up|call it)\b",
        r"\bread between\b",
    ),
    openings=(
        rf"(?:{_FILLERS}|{_ASSENT}|great question|good question|happy to help)[!.]{{1,3}}\s",
        rf"{_GREETING}(?:here(?:'s| is| are)|below (?:is|are)|{_HAPPY})\b{_REST}{{0,120}}:\s",
        rf"{_GREETING}{_HAPPY} (?:help|assist)\b{_REST}{{0,80}}[.!]\s",
        rf"(?:of course|sure|certainly|absolutely), {_REST}{{0,120}}:\s",
    ),
)
