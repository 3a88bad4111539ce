"""The program: its commands by name, loaded when called."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from streamguard import __version__
from streamguard.cli.exits import BROKEN_PIPE, INTERRUPTED, forget_stdout, run

if TYPE_CHECKING:
    from typing import Any

__all__ = ["app"]

_COMMANDS = ("scrub", "scan", "memory", "demo", "rules", "check", "serve")


class _App(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"streamguard.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        # Here and not in `run` alone: click would answer these two itself.
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            forget_stdout()
            raise click.exceptions.Exit(BROKEN_PIPE) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - the signature is click's
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - the signature is click's
        **extra: Any,
    ) -> Any:
        """Run, with every ending told in one line; exit there in standalone mode."""
        program = prog_name or self.name or "streamguard"
        main = super().main

        def call() -> object:
            return main(
                args,
                program,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )

        code = run(call, program)
        if standalone_mode:
            raise SystemExit(code)
        return code


@click.group(
    name="streamguard",
    cls=_App,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  tail -f app.log | streamguard scrub
  streamguard scrub --in-place --report text *.log
  streamguard scrub --jsonl --pointer /message/content chat.jsonl
  curl -N ... | streamguard scrub --from sse
  streamguard demo

Exit codes: 0 done, 1 something was found and --fail-on-findings was given (or a check or
a scan failed), 2 an error, told in one line.""",
)
@click.version_option(__version__, prog_name="streamguard", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Keep what must not be shown out of a language model's text, while it streams.

    Hidden context, reasoning and secrets are taken out of text on its way to a reader.
    What is safe is shown at once; the result does not depend on how the text was cut.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
