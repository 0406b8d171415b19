"""Which stage is the first that goes wrong: ``python -m tests.evaluation FILE:FUNCTION ARGS``.

``ARGS`` are Python expressions, as in ``"1.5, np.ones(3)"``. Value, effects and derivative of the
IR after every stage are compared with plain Python and with those of the stage before; the compiled
derivative with that of a recording, and with differences along random directions.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
from typing import Any

import numpy as np

from adcompiler import value_and_grad
from adcompiler.cli.target import load_target
from adcompiler.errors import ADError
from adcompiler.testing import check_grads
from tests.evaluation.stages import Differs, compare
from tests.evaluation.watches import Contradiction, watching


def main(words: list[str] | None = None) -> int:
    """Tell of a function where its gradient goes wrong; 0 if it does not."""
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation", description=__doc__)
    parser.add_argument("target", metavar="FILE:FUNCTION")
    parser.add_argument("args", metavar="ARGS", help='as in "1.5, np.ones(3)"')
    options = parser.parse_args(words)
    os.environ.setdefault("ADCOMPILER_VERIFY", "1")
    _, functions = load_target(options.target)
    (function,) = functions.values()
    args: tuple[Any, ...] = eval(f"({options.args},)", {"np": np})
    found = 0
    for what, call in (
        ("the IR of each stage", lambda: compare(
            function, fresh(args), 0, "value_and_grad", watching=watching)),
        ("the recorder", lambda: beside_recorder(function, args)),
        ("differences", lambda: check_grads(function, fresh(args))),
    ):
        try:
            call()
        except (Differs, Contradiction, AssertionError) as error:
            print(f"{what}: {error}")
            found = 1
        except ADError as error:
            print(f"{what}: refused: {error}")
        else:
            print(f"{what}: agrees")
    return found


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of arguments, which calls may write into."""
    return copy.deepcopy(args)


def beside_recorder(function: Any, args: tuple[Any, ...]) -> None:
    """Raise AssertionError where compiled code and a recording differ."""
    compiled = value_and_grad(function, fallback="refuse")(*fresh(args))
    recorded = value_and_grad(function, backend="record")(*fresh(args))
    np.testing.assert_equal(tuple(map(np.shape, compiled)), tuple(map(np.shape, recorded)))
    for one, other in zip(compiled, recorded, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    sys.exit(main())
