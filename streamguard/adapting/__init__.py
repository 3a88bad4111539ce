"""For authors of adapters: a provider's stream of events, guarded lane by lane.

An adapter splits each event into the texts it carries, feeds every text to its lane in
`Lanes` (the arguments of tool calls to a `JsonLane`), and puts the event back together.
`Parking` lets held text out before the events that close its lane. `guard_events` iterates
over the source and closes it. `guard_object` is for what comes whole, `Unchanged` for what
is only true of text that came through as it was, `guard_error` for what an SDK raises.
"""

from streamguard.adapting.copies import with_attributes
from streamguard.adapting.cover import Cover
from streamguard.adapting.errors import ErrorGuard, guard_error
from streamguard.adapting.events import Adapter, guard_events, guard_events_sync
from streamguard.adapting.json_lane import JsonLane
from streamguard.adapting.lanes import LaneFinding, Lanes, in_lane
from streamguard.adapting.objects import guard_object
from streamguard.adapting.parking import Parking
from streamguard.adapting.paths import Path, Select
from streamguard.adapting.policies import LeafPolicy, ReasoningPolicy, ToolArgsPolicy
from streamguard.adapting.settings import Settings
from streamguard.adapting.spread import Spread
from streamguard.adapting.unchanged import Unchanged
from streamguard.adapting.usual import Usual

__all__ = [
    "Adapter",
    "Cover",
    "ErrorGuard",
    "JsonLane",
    "LaneFinding",
    "Lanes",
    "LeafPolicy",
    "Parking",
    "Path",
    "ReasoningPolicy",
    "Select",
    "Settings",
    "Spread",
    "ToolArgsPolicy",
    "Unchanged",
    "Usual",
    "guard_error",
    "guard_events",
    "guard_events_sync",
    "guard_object",
    "in_lane",
    "with_attributes",
]
