"""The command line. The commands are in `hopweave.commands`."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

import hopweave
from hopweave.commands import index, maintain, measure, query
from hopweave.commands.terminal import note, prepare_streams
from hopweave.errors import HopweaveError, explain

_DESCRIPTION = """\
Multi-hop graph evidence woven into hybrid retrieval.

  hopweave index docs/                       read a folder of Markdown into hopweave.db
  hopweave query "who built the tide gate?"  search it
  hopweave query "tide gate" --explain       and show why each hit has its score
  hopweave evaluate queries.jsonl            evaluate it on judged queries
"""
_COMMANDS = (
    index.add_to,
    maintain.add_import,
    query.add_to,
    measure.add_evaluate,
    measure.add_compare,
    measure.add_tune,
    measure.add_diagnose,
    maintain.add_train_embedder,
    maintain.add_delete,
    maintain.add_check,
    maintain.add_compact,
    maintain.add_restore,
    maintain.add_info,
    maintain.add_schema,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted, 143 terminated."""
    prepare_streams()
    options = _parser().parse_args(arguments)
    try:
        with _terminable():
            code = int(options.run(options))
        sys.stdout.flush()
        return code
    except _Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader closed the pipe; the rest of the output is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (HopweaveError, OSError, ValueError) as error:
        reason = explain(error) if isinstance(error, ValidationError) else error
        note(reason)
        return 1


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as SIGINT does: what was committed stays, and worker processes end too."""


@contextmanager
def _terminable() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield  # a program that runs commands has its own way
        return

    def terminate(number: int, frame: object) -> None:  # noqa: ARG001 - shape
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hopweave", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"hopweave {hopweave.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add_command in _COMMANDS:
        add_command(commands)
    return parser
