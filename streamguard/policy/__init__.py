"""Policy files: an ordered list of stages, written down, becomes a `Pipeline`.

One format serves the command line and every integration: `load_policy` reads it from a
TOML file, `parse_policy` takes the same shape as a mapping, from YAML, JSON or code.
"""

from streamguard.policy.build import KEY_VARIABLE, load_policy, parse_policy
from streamguard.policy.problems import PolicyError, PolicyProblem

__all__ = ["KEY_VARIABLE", "PolicyError", "PolicyProblem", "load_policy", "parse_policy"]
