"""`streamguard serve`: a gateway that guards what a model's server answers."""

from __future__ import annotations

import importlib

import click

from streamguard.cli.exits import Failure
from streamguard.cli.guards import GuardFlags, guard_options

__all__ = ["serve"]

_POLICIES = click.Choice(["guard", "keep", "drop"])
_SECONDS = click.FloatRange(min=0, min_open=True)
_COUNT = click.IntRange(min=1)


@click.command(
    short_help="Guard the answers of a model's server, as a proxy before it.",
    epilog="""\b
Examples:
  streamguard serve --upstream https://api.example.com
  streamguard serve --upstream https://api.example.com --policy streamguard.toml --port 9000
  streamguard serve --upstream http://localhost:11434 --pass-unguarded '/v1/audio/*'

Clients use http://127.0.0.1:8080/v1 as their base URL. Set STREAMGUARD_KEY to key the hashes in
the placeholders of secrets; it is never an argument.""",
)
@click.option("--upstream", required=True, metavar="URL", help="The server to stand before.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port.")
@guard_options
@click.option("--tool-args", type=_POLICIES, default="guard", show_default=True, help="Arguments of tools.")
@click.option("--reasoning", type=_POLICIES, default="guard", show_default=True, help="Reasoning.")
@click.option(
    "--request-policy",
    type=click.Path(),
    metavar="FILE",
    help="Guard the texts of requests too, by this policy file.",
)
@click.option(
    "--pass-unguarded",
    multiple=True,
    metavar="PATTERN",
    help="Paths whose answers pass as they are, such as '/v1/audio/*'. Repeatable.",
)
@click.option("--connect-timeout", type=_SECONDS, default=10, show_default=True, metavar="SECONDS")
@click.option(
    "--read-timeout",
    type=_SECONDS,
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="Longest silence of the upstream.",
)
@click.option(
    "--idle-timeout",
    type=_SECONDS,
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Longest silence of a client in the middle of a request or an answer.",
)
@click.option("--max-body", type=_COUNT, default=64 << 20, show_default=True, metavar="BYTES")
@click.option("--max-event", type=_COUNT, default=8 << 20, show_default=True, metavar="BYTES")
@click.option(
    "--max-streams",
    type=_COUNT,
    default=1000,
    show_default=True,
    metavar="COUNT",
    help="Most requests at a time; more get status 503.",
)
@click.option(
    "--grace",
    type=_SECONDS,
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Time that running answers get when the gateway is told to stop.",
)
def serve(
    *,
    flags: GuardFlags,
    upstream: str,
    host: str,
    port: int,
    tool_args: str,
    reasoning: str,
    request_policy: str | None,
    pass_unguarded: tuple[str, ...],
    connect_timeout: float,
    read_timeout: float,
    idle_timeout: float,
    max_body: int,
    max_event: int,
    max_streams: int,
    grace: float,
) -> None:
    """Stand before a model's server and guard what it answers.

    Guarded are chat completions, completions, Responses and messages, streamed or whole. Of
    other routes what comes whole as JSON or text is guarded; what cannot be is refused.
    """
    try:
        gateway = importlib.import_module("streamguard_gateway")
    except ModuleNotFoundError as missing:
        raise Failure(f"serve needs {missing.name}: pip install 'streamguard-llm[cli,gateway]'") from None
    guard, request_guard = flags.guard(), None
    if request_policy is not None:
        from streamguard.policy import load_policy

        request_guard = load_policy(request_policy)
    limits = gateway.Limits(
        connect=connect_timeout,
        read=read_timeout,
        idle=idle_timeout,
        body=max_body,
        event=max_event,
        streams=max_streams,
    )
    try:
        app = gateway.Gateway(
            upstream,
            guard,
            tool_args=tool_args,
            reasoning=reasoning,
            request_guard=request_guard,
            pass_unguarded=pass_unguarded,
            limits=limits,
        )
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--upstream") from None
    gateway.serve(app, host=host, port=port, grace=grace)
