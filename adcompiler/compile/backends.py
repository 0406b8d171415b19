"""The backends: what may run a derivative beside Python, one row for each.

Whatever is asked for, the text of the Python product is written; a backend may write functions
behind it, the last of which is called instead. The pipeline, dispatch and the cache's keys read the
rows. A new backend is a row here and the function that it names, which is imported when it runs: a
process that finds all it needs in the cache loads no compiler.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from adcompiler.compile.modes import MODES
from adcompiler.errors import Declined
from adcompiler.runtime.native import has_compiler, runs_plain
from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adcompiler.ir.nodes import Atom, Function
    from adcompiler.ir.types import Type
    from adcompiler.products.product import Product
    from adcompiler.typed.unit import Unit

LONGEST = 400
"""The lines of a module with loops that LLVM compiles in about a second."""
Write = Callable[[str, "Product", "Unit"], tuple[str, str]]
"""Returns the text of a module with what a backend adds, and the name of what is to be called.

It is given the text of the Python product, and raises Declined for what it has nothing for: what
is asked is in the unit's settings.
"""


@dataclass(frozen=True)
class Backend:
    """One backend; ``name`` is what a user asks for, ``doc`` what ``explain`` says then.

    What is ``optional`` leaves to Python whatever it declines, with the reason in ``explain``;
    otherwise the user is told so before anything runs, with ``instead``. ``state`` tells what
    the code depends on beside the request: the cache keeps code of each state apart.
    """

    name: str
    doc: str = ""
    write: Write | None = None
    optional: bool = False
    instead: str = 'use backend="python"'
    state: Callable[[], str] = str


def write_loops(text: str, product: Product, unit: Unit) -> tuple[str, str]:
    """Write loops of machine numbers, and the function that calls them."""
    from adcompiler.backends.native.tuple_results import with_native_pair
    from adcompiler.backends.native.product import with_native
    from adcompiler.backends.native.seeds import with_native_seeds

    options = unit.settings.options
    mode = MODES[options.mode]
    if not mode.has_loops or options.has_aux or options.batched:
        raise Declined("there are no loops for derivatives with aux, of many seeds or of this mode")
    if unit.layouts.read:
        raise Declined(
            "how arrays lie in memory decides what is computed, and loops have them in C order")
    optional = BACKENDS[options.backend].optional
    if mode.halves:
        found = with_native_pair(text, product, unit, options.each)
    elif options.each:
        found = with_native_seeds(text, product, unit, options.alone)
    else:
        found = with_native(text, product, unit)
    if optional and (lines := found[0].count("\n")) > LONGEST:
        raise Declined(
            f"LLVM would take over a second for its {lines} lines, which it does only where native "
            "loops are asked for")
    if optional and (mode.halves or options.each):
        found = found[0].replace("except refusals():", "except refusals(True):"), found[1]
    if not has_compiler() and not runs_plain():
        raise Declined(
            'backend="native" needs llvmlite, which is not installed',
            hint='pip install "adcompiler[native]", or use backend="auto"',
        )
    return found


def check_worth(
    text: str, typed: Iterable[Function] | None, type_of: Callable[[Atom], Type]
) -> None:
    """Raise Declined for what runs in Python unless native loops are asked for.

    Native loops are worth it where a loop of the function is the interpreter's; along many seeds
    and in pullbacks, where one of the ``typed`` functions goes by elements: loops over whole arrays
    are NumPy's as well. That is known from the text alone, so that runs of a program do not differ.
    """
    if not has_compiler():
        raise Declined("llvmlite is not installed, or not to be used")
    loops = (ast.For, ast.While, ast.comprehension)
    if not any(isinstance(node, loops) for node in ast.walk(ast.parse(text))):
        raise Declined("it has no loops that Python's interpreter would run")
    from adcompiler.analyses.elements import goes_by_elements

    if typed is not None and not goes_by_elements(typed, type_of):
        raise Declined("its loops compute with whole arrays, as NumPy does")


def state_of_compiler() -> str:
    """Return whether loops are compiled here, run as Python, or are not run."""
    return "llvm" if has_compiler() else "plain" if runs_plain() else "nothing"


ROWS = (
    Backend("python"),
    Backend(
        "native", "native loops", write_loops, state=state_of_compiler,
        instead='use backend="auto", which keeps such functions in Python',
    ),
    Backend("auto", "native loops", write_loops, optional=True, state=state_of_compiler),
    Backend("record", "a recording of each call"),
)

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in ROWS}
