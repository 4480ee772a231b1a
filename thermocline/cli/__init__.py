"""The command line.  One file per verb; each registered by one line below.

Verbs import what they need when they run, so that --help stays fast.
"""

import os
import sys
from typing import NoReturn

import typer

from thermocline import __version__
from thermocline.cli import (
    auto,
    doctor,
    export,
    import_,
    machine,
    migrate,
    output,
    plan,
    profile,
    report,
    reproduce,
    run,
    simulate,
    sites,
    top,
    trace,
    translation,
)
from thermocline.errors import ThermoclineError, one_line

# Options end at the command: `thermocline run --plan P ./a.out -x` passes -x on.
_PASS_ON = {"allow_interspersed_args": False}

app = typer.Typer(
    name="thermocline",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Puts each piece of a program's data in the right kind of memory.\n\n"
        "Compile with thermocline-clang, then: profile, plan, run."
    ),
)
app.command("doctor")(doctor.doctor)
app.add_typer(machine.app, name="machine")
app.command("sites")(sites.sites)
app.command("profile", context_settings=_PASS_ON)(profile.profile)
app.command("import")(import_.import_)
app.command("plan")(plan.plan)
app.command("export")(export.export)
app.command("run", context_settings=_PASS_ON)(run.run)
app.add_typer(trace.app, name="trace")
app.command("simulate", cls=simulate.WithCommand)(simulate.simulate)
app.command("migrate", context_settings=_PASS_ON)(migrate.migrate)
app.command("translation", context_settings=_PASS_ON)(translation.translation)
app.command("top", context_settings=_PASS_ON)(top.top)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("auto", context_settings=_PASS_ON)(auto.auto)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"thermocline {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", callback=_version, is_eager=True
    ),
) -> None:
    del version


def main() -> None:
    """Runs a command; errors become one line, never a traceback."""
    output.show_notes()
    try:
        status = app(prog_name="thermocline", standalone_mode=False)
    except ThermoclineError as error:
        _fail(str(error), error.status)
    except typer.Abort:
        _fail("stopped", 130)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except BrokenPipeError:
        # The reader of our output went away: nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except OSError as error:
        _fail(f"{error.filename or 'system'}: {error.strerror}", 1)
    except Exception as error:
        # typer's own complaints about the command line; where they live differs by version.
        message = getattr(error, "format_message", None)
        if not callable(message):
            if os.environ.get("THERMOCLINE_DEBUG"):
                raise
            _fail(
                f"internal error: {type(error).__name__}: {one_line(str(error))} "
                "(THERMOCLINE_DEBUG=1 shows where)",
                1,
            )
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
            print(message(), file=sys.stderr)
            sys.exit(2)
        path = context.command_path if context is not None else "thermocline"
        _fail(f"{one_line(message()).rstrip('.')}: see '{path} --help'", 2)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> NoReturn:
    sys.stdout.flush()
    print(f"thermocline: {message}", file=sys.stderr)
    sys.exit(status)
