"""A gateway: clients in any language point their base URL at it, and get guarded answers.

    serve(Gateway("https://api.example.com", guard))

or `streamguard serve --upstream https://api.example.com`. `Gateway` is an ASGI application;
it speaks chat completions, completions, Responses and Anthropic's messages.
"""

from streamguard_gateway.gateway import Gateway
from streamguard_gateway.metrics import Metrics
from streamguard_gateway.server import serve
from streamguard_gateway.settings import Limits

__all__ = ["Gateway", "Limits", "Metrics", "serve"]
