"""The command ``adcompiler``: dump, view, status, check, bench, sparsity, rules, cache and others.

Exit codes: 0 done; 1 refused, with the reason on stderr; 2 the command line makes no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from adcompiler.cache.store import Store, default_directory
from adcompiler.cli.check_classification import add_check_classification
from adcompiler.cli.dump import DumpOptions, dump
from adcompiler.cli.output import show_source
from adcompiler.cli.rules import describe_rule, list_rules
from adcompiler.cli.sparsity import PATTERN, SPARSE, add_sparsity, dump_pattern, dump_sparse
from adcompiler.cli.stale import command_of, compared, with_command
from adcompiler.cli.status import add_status
from adcompiler.cli.target import UsageError, add_loads, load_module, writing
from adcompiler.cli.trials import add_bench, add_check
from adcompiler.cli.view import add_view
from adcompiler.compile.modes import ALIASES, MODES, ROWS
from adcompiler.compile.pipeline import STAGES
from adcompiler.errors import ADError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` (by default the command line's) ask for."""
    parser = build_parser()
    complete(parser)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except UsageError as error:
        print(f"adcompiler: error: {error}", file=sys.stderr)
        return 2
    except (ADError, TypeError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone
            return 0
        if str(error).startswith("argnums:"):
            print(f"adcompiler: error: {error}", file=sys.stderr)
            return 2
        print(error, file=sys.stderr)
        return 1


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, where argcomplete is installed, and stop."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="adcompiler", description="Derivatives of plain Python and NumPy code, as source.",
        epilog="exit codes: 0 done, 1 refused (the reason is on stderr), 2 wrong command line",
    )
    shown = f"adcompiler {version('adcompiler')}"
    parser.add_argument("--version", action="version", version=shown)
    commands = parser.add_subparsers(required=True, metavar="command")
    add_dump(commands)
    add_view(commands)
    add_sparsity(commands)
    add_status(commands)
    add_check(commands)
    add_bench(commands)
    add_rules(commands)
    add_check_classification(commands)
    add_cache(commands)
    return parser


def add_dump(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``dump``."""
    parser = commands.add_parser(
        "dump", help="write derivatives as an importable module",
        description="Write the derivatives of a module's @grad and @value_and_grad functions, or "
        "of one function, as an importable module.",
    )
    parser.add_argument(
        "target", metavar="MODULE_OR_FILE[:FUNCTION]", nargs="?", default="",
        help="e.g. scipy.optimize:rosen, model.py, model.py:loss, package.model:Class.method",
    )
    parser.add_argument(
        "--mode",
        choices=(*MODES, *ALIASES, *SPARSE, PATTERN),
        help="what to write (default: as decorated, or grad). " + "; ".join((
            *(f"{mode.name}: {mode.doc}" for mode in ROWS),
            *(f"{other}: another name for {mode}" for other, mode in ALIASES.items()),
        )),
    )
    parser.add_argument(
        "--argnums", help="positions or names, e.g. 0 or 0,1 or w,b; `0,` gives a tuple of one",
    )
    parser.add_argument("--has-aux", action="store_true", help="the function returns (value, aux)")
    parser.add_argument(
        "--args", default="", metavar="TYPES",
        help='types of arguments: "x: float64[:], w: float", or types alone in the order of the '
        "parameters; for sparse modes shapes and values",
    )
    parser.add_argument(
        "--stage", choices=STAGES, default="source", help="stop after this stage and show the IR",
    )
    parser.add_argument(
        "--native", choices=("c", "llvm"), default="",
        help="write native loops of one function: a C file and, beside that of -o, a module that "
        "calls it by ctypes; or the LLVM IR that is compiled",
    )
    parser.add_argument(
        "--standalone", action="store_true",
        help="write all that the module needs into it, but for Python, NumPy and SciPy",
    )
    parser.add_argument(
        "--skip-refused", action="store_true",
        help="exit with 0 though functions do not compile, which a comment names",
    )
    parser.add_argument(
        "--static", action="store_true",
        help="read the file and do not run it: functions of what its text alone settles",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    parser.add_argument(
        "--check", metavar="FILE",
        help="write nothing: exit with 1 if FILE, which -o wrote, is not what the command in its "
        "first line writes now",
    )
    parser.set_defaults(run=run_dump)


def run_dump(options: argparse.Namespace) -> int:
    """Run ``adcompiler dump``: 0 if all is written, 1 if functions are left out."""
    if options.check is not None:
        return run_check_of_dump(options)
    text, left_out = dumped_text(options)
    if options.output is not None:
        with writing(options.output):
            Path(options.output).write_text(with_command(text, options), encoding="utf-8")
    else:
        show_source(text)
    return int(bool(left_out) and not options.skip_refused)


def run_check_of_dump(options: argparse.Namespace) -> int:
    """Run ``adcompiler dump --check FILE``: 0 if the file is as it would be written now."""
    if options.target or options.output:
        raise UsageError("--check FILE stands alone: what it was written from is in the file")
    again = build_parser().parse_args(["dump", *command_of(options.check), "-o", options.check])
    again.check = options.check  # nothing is written beside it
    text, _ = dumped_text(again)
    return compared(options.check, with_command(text, again))


def dumped_text(options: argparse.Namespace) -> tuple[str, tuple[str, ...]]:
    """Return what ``adcompiler dump`` writes, and the functions that it leaves out."""
    if not options.target:
        raise UsageError("name a module or a file, as in module.py:function")
    left_out: tuple[str, ...] = ()
    if options.mode in SPARSE or options.mode == PATTERN:
        if options.static:
            raise UsageError(f"--mode {options.mode} runs the function: not with --static")
        text = dump_pattern(options) if options.mode == PATTERN else dump_sparse(options)
    else:
        text, left_out = dump(options.target, DumpOptions(
            options.mode, options.argnums, options.has_aux, options.args, options.stage,
            options.native, options.output, options.static, options.standalone,
            options.check is not None,
        ))
    return text, left_out


def add_rules(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``rules``."""
    parser = commands.add_parser("rules", help="list the rules, or show one")
    parser.add_argument("name", nargs="?", help="e.g. numpy.sin, operator.add, abs")
    parser.add_argument("--json", action="store_true", help="write the list as JSON")
    add_loads(parser)
    parser.set_defaults(run=run_rules)


def run_rules(options: argparse.Namespace) -> int:
    """Run ``adcompiler rules``."""
    for where in options.load:
        load_module(where)
    if options.name is None:
        return list_rules(options.json)
    if options.json:
        raise UsageError("--json is for the list of all rules")
    return describe_rule(options.name)


def add_cache(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``cache``."""
    parser = commands.add_parser("cache", help="inspect, verify or clear the modules on disk")
    parser.add_argument(
        "action", choices=("info", "clear", "path", "verify", "prune"),
        help="info: where, how many, how large; path: where; verify: name what would not be used, "
        "and why; prune: remove what is too old or too much; clear: remove all",
    )
    parser.set_defaults(run=run_cache)


def run_cache(options: argparse.Namespace) -> int:
    """Run ``adcompiler cache``."""
    store = Store(default_directory())
    path = "off" if store.directory is None else str(store.directory)
    if options.action == "path":
        print(path)
    elif options.action == "clear":
        print(f"removed {store.clear()} entries")
    elif options.action == "prune":
        print(f"removed {store.prune()} entries")
    elif options.action == "verify":
        problems = store.verify()
        for where, said in problems:
            print(f"{where} {said}")
        print(f"{store.info().count} entries, {len(problems)} problems")
        return min(len(problems), 1)
    else:
        info = store.info()
        print(f"path     {path}\nentries  {info.count}\nbytes    {info.bytes}")
    return 0
