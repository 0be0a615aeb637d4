"""The `layerflow` command: one table of subcommands. Prints what the reader says; knows neither files nor TensorFlow."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import BUCKETS
from tb_layerflow.log.text import printable


class Refused(ValueError):
    """The command cannot do what was asked; the text is one sentence for people. The exit code is 2."""


@dataclass(frozen=True)
class Command:
    """One subcommand: its help, the arguments that it adds to its parser, and what it does with them."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit code: 0 well, 2 refused with a sentence on standard error."""
    parser = argparse.ArgumentParser(prog="layerflow", description="See what flowed through a model, from its LayerFlow log.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        command.arguments(subparser)
        subparser.set_defaults(run=command.run)
    given, rest = parser.parse_known_args(arguments)
    if rest and getattr(given, "call", "") is None and not rest[0].startswith("-"):
        given.call, *rest = rest  # argparse takes an optional CALL only where it stands right behind LOGDIR
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        given.run(given)
        sys.stdout.flush()
    except (Refused, LogError, LookupError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            _silence_standard_output()
            return 0
        return _failed(_sentence(error))
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # what a log can cause is never a traceback
        return _failed(
            f"This log could not be read ({type(error).__name__}: {_sentence(error)}). Please report it, with the log."
        )
    return 0


# ---------------------------------------------------------------------------------------------------------------- show


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    _log_arguments(parser)
    parser.add_argument("--step", type=int, help="the recorded step to show (default: the newest)")


def _show(given: argparse.Namespace) -> None:
    from tb_layerflow import show

    _print(show.lines(_opened(given.logdir), given.run_name, given.stream, given.step))


def _log_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logdir", metavar="LOGDIR", help="the folder that TensorBoard would be given")
    parser.add_argument("--run", dest="run_name", help="only this run")
    parser.add_argument("--stream", help="only this stream")


def _opened(logdir: str) -> Any:
    from tb_layerflow import reader

    _check_folder(logdir)
    return reader.LogDir(logdir)


def _check_folder(logdir: str) -> None:
    if not os.path.isdir(logdir):
        raise Refused(f"LOGDIR must be a folder with event files. There is no folder {logdir!r}.")


# --------------------------------------------------------------------------------------------------------------- value


def _value_arguments(parser: argparse.ArgumentParser) -> None:
    _log_arguments(parser)
    parser.add_argument("call", metavar="CALL", help="the call's path, or the unique ending of one (a layer's, for weights)")
    parser.add_argument("--step", type=int, help="the recorded step (default: the newest that has it)")
    parser.add_argument("--kind", default="output", help="output (default), input, error, weight, weight_gradient or label")
    parser.add_argument("--port", type=int, default=0, help="which of the call's tensors (default: 0)")
    parser.add_argument("--at", help="print only the number at this place, the sample first: 0,5,5,0")
    parser.add_argument("-o", dest="file", help="save the array as this .npy file")


def _value(given: argparse.Namespace) -> None:
    from tb_layerflow import show

    place = None if given.at is None else _place(given.at)
    try:
        wanted = show.Wanted(given.call, given.kind, given.port, given.step)
        stream, array, others = show.value(_opened(given.logdir), given.run_name, given.stream, wanted)
    except ValueError as error:
        raise Refused(str(error)) from error
    if others:
        chosen = f"This is run {stream.run!r}, stream {stream.name!r}; {others} more have it: choose with --run and --stream."
        print(printable(chosen), file=sys.stderr)
    if given.file is not None:
        import numpy as np

        with open(given.file, "wb") as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
    _print(show.value_lines(array, place))


def _place(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise Refused(f"--at takes whole numbers such as 0,5,5,0. Received: {text!r}.") from None


# ----------------------------------------------------------------------------------------------------------------- ops


def _ops_arguments(parser: argparse.ArgumentParser) -> None:
    _log_arguments(parser)
    parser.add_argument("call", metavar="CALL", nargs="?", help="its path, or the unique ending of one (none: list the calls)")
    parser.add_argument("--bucket", choices=BUCKETS, help="in place of a call: the operations that belong to none")
    parser.add_argument("--step", type=int, help="in the trace in force at this step (default: the newest)")


def _ops(given: argparse.Namespace) -> None:
    from tb_layerflow import operations

    if given.call is not None and given.bucket is not None:
        raise Refused(f"Operations are those of a call or of a bucket. Received: {given.call!r} and --bucket {given.bucket}.")
    wanted = operations.Wanted(given.call, given.bucket, given.run_name, given.stream, given.step)
    _print(operations.lines(_opened(given.logdir), wanted))


# ---------------------------------------------------------------------------------------------------------------- view


def _view_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logdir", metavar="LOGDIR", help="the folder with the event files; it may still grow")
    parser.add_argument("--port", type=_port, help="the port to serve at (default: 6006, or the next that is free)")
    parser.add_argument("--host", help="the address to serve at (default: localhost)")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 65535. Received: {text!r}.")
    return int(text)


def _view(given: argparse.Namespace) -> None:
    """Serves until interrupted."""
    _check_folder(given.logdir)
    options = [f"--{name}={value}" for name, value in (("port", given.port), ("host", given.host)) if value is not None]
    print(f"LayerFlow is at {_tensorboard(given.logdir, options)}#layerflow", flush=True)
    print("Stop with Ctrl-C.", flush=True)
    try:
        _wait()
    except KeyboardInterrupt:
        print()


def _doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logdir", metavar="LOGDIR", nargs="?", help="the folder that TensorBoard would be given")


def _doctor(given: argparse.Namespace) -> None:
    from tb_layerflow import doctor

    if given.logdir is not None:
        _check_folder(given.logdir)
    _print(doctor.lines(given.logdir))


def _tensorboard(logdir: str, options: list[str]) -> str:
    """The address, ending in a slash, of a TensorBoard that serves from a thread of this process."""
    from tensorboard import default, program

    from tb_layerflow.plugin.loader import LayerFlowLoader

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorBoard imports a TensorFlow that is installed
    plugins = default.get_plugins()
    if LayerFlowLoader not in plugins:
        plugins.append(LayerFlowLoader)
    tensorboard = program.TensorBoard(plugins=plugins)
    try:
        tensorboard.configure(argv=["tensorboard", f"--logdir={logdir}", *options])
        return str(tensorboard.launch()).rstrip("/") + "/"
    except program.TensorBoardServerException as error:
        raise Refused(f"TensorBoard could not start: {error}") from error


def _wait() -> None:
    import threading

    threading.Event().wait()


# ----------------------------------------------------------------------------------------------------------------------


def _print(lines: Iterable[str]) -> None:
    """Names and texts come from logs that others wrote."""
    for line in lines:
        print(printable(line))


def _failed(sentence: str) -> int:
    print(f"layerflow: {printable(sentence)}", file=sys.stderr)
    return 2


def _sentence(error: BaseException) -> str:
    """The error on one line. A KeyError's own text is a repr."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return " ".join(str(text).split())


def _silence_standard_output() -> None:
    """Keep Python from complaining at exit that the reader of a pipe (`| head`) has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


COMMANDS = (
    Command("show", "print runs, streams, steps, and every call with its newest statistics", _show_arguments, _show),
    Command(
        "ops",
        "print what a call runs, in words and as operations (without CALL: which calls there are)",
        _ops_arguments,
        _ops,
    ),
    Command("value", "print or save an exact recorded tensor, or one number of it", _value_arguments, _value),
    Command("view", "start TensorBoard at the LayerFlow tab", _view_arguments, _view),
    Command("doctor", "say what is installed, what a log holds, what is wrong and what to do", _doctor_arguments, _doctor),
)

if __name__ == "__main__":
    sys.exit(main())
