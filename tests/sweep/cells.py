"""What is called: every public function and method, with arguments and each option that it takes.

Nothing is listed by hand but the pools: arguments are those of a rule's own samples and those of a
pool that the function accepts, options are the parameters of its signature that the table knows.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
import scipy.stats

MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "scipy.ndimage",
    "scipy.signal", "scipy.stats", "scipy.interpolate", "scipy.integrate", "scipy.optimize",
    "scipy.fft", "scipy.sparse", "scipy.sparse.linalg",
)
METHODS = "numpy.ndarray"
SPARSE = ("scipy.sparse.csr_array", "scipy.sparse.coo_array", "scipy.sparse.csc_matrix")
OWNERS = (METHODS, *SPARSE)
"""Classes whose methods are called; the first argument is the instance."""
DISTRIBUTION_METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "pmf",
                        "logpmf", "mean", "std", "entropy")
LEFT_OUT_NAMES = """
    save savez savez_compressed savetxt load loadtxt fromfile genfromtxt tofile dump dumps
    memmap fromregex open_memmap test show_config show_runtime info source lookfor who input
    setbufsize seterr seterrcall set_printoptions get_include setflags setfield byteswap
    differential_evolution dual_annealing shgo basinhopping brute direct milp linprog quasirandom
    set_workers set_global_backend set_backend register_backend unregister_backend skip_backend
    permutation_test bootstrap monte_carlo_test goodness_of_fit fit differentiate
    load_npz save_npz use_solver
"""
LEFT_OUT = frozenset(LEFT_OUT_NAMES.split())
"""Files, state of the library, and searches that take minutes."""

RNG = np.random.default_rng(20)
LINE, OTHER = RNG.uniform(0.2, 0.9, 4), RNG.uniform(0.2, 0.9, 4)
TABLE = RNG.uniform(0.2, 0.9, (3, 4))
SQUARE = np.array([[2.1, 0.3, 0.1], [0.3, 1.7, 0.4], [0.1, 0.4, 1.3]])
THREE = np.array([0.31, 0.72, 0.55])
STACK = RNG.uniform(0.2, 0.9, (2, 3, 4))
FULL = np.array([[2.1, 0.0, 0.1], [0.0, 1.7, 0.4], [0.1, 0.4, 1.3]])
POOLS: dict[int, list[tuple[Any, ...]]] = {
    0: [()],
    1: [(LINE,), (TABLE,), (SQUARE,), (STACK,), (0.6,), ([LINE, OTHER],), ((LINE, OTHER),)],
    2: [(LINE, OTHER), (SQUARE, THREE), (0.6, 0.3), (LINE, 2), (TABLE, 1), (SQUARE, SQUARE.T),
        (TABLE, (0, 1)), (LINE, 0.7), (2, LINE), (TABLE, (4, 3)), (TABLE, LINE), ("sum", LINE)],
    3: [(LINE, OTHER, LINE[::-1].copy()), (0.6, 0.3, 0.4), (LINE, 1, 2), (TABLE, 0, 1),
        (LINE > 0.5, LINE, OTHER), (LINE, 0.3, 0.8), (LINE, 1, OTHER), (1, 0.5, LINE),
        (SQUARE, SQUARE.T, SQUARE), (THREE, np.sort(OTHER), np.sort(LINE))],
    4: [(LINE, OTHER, LINE[::-1].copy(), 0.5 * LINE), (0.6, 0.3, 0.4, 0.2), (1, 2, 0.5, LINE)],
}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "axis": (0, -1, None, (0, 1)), "axes": ((0, 1), 0), "keepdims": (True,), "dtype": (np.float32,),
    "order": ("F", "K", 1, 2), "mode": ("wrap", "constant", "nearest", "same", "valid", "full",
                                        "economic", "complete", "reduced", "r", "edge", "clip"),
    "where": (np.array([True, False, True, True]),), "ddof": (1,), "n": (5, 2), "norm": ("ortho",),
    "initial": (0.4,), "prepend": (0.1,), "append": (0.2,), "copy": (False, True),
    "subok": (True,), "kind": ("stable",), "side": ("right",), "indexing": ("ij",),
    "k": (1,), "offset": (1,), "p": (1, 3), "ord": (1, np.inf, 2), "full_matrices": (False,),
    "compute_uv": (False,), "lower": (True,), "trans": (1,), "cval": (0.3,), "sigma": (0.8,),
    "prefilter": (False,), "origin": (1,), "method": ("linear", "nearest", "fft", "direct"),
    "left": (0.1,), "right": (0.9,), "return_inverse": (True,), "bias": (True,),
    "rowvar": (False,), "weights": (np.array([0.4, 0.1, 0.3, 0.2]),), "overwrite_a": (True,),
    "overwrite_b": (True,), "overwrite_x": (True,), "check_finite": (False,), "type": (1, 3),
    "fill_value": (0.5,), "loc": (0.1,), "scale": (1.4,), "type_": (1,), "deg": (True,),
    "nan": (0.2,), "posinf": (1.0,), "edge_order": (2,), "dx": (0.3,), "tol": (1e-9,),
    "optimize": (True,), "casting": ("same_kind",), "unwrap": (True,), "correction": (1,),
    "nan_policy": ("omit", "raise"), "degree": (1,), "detrend": ("linear",), "sorted": (True,),
}
SPARSE_POOLS: dict[int, list[tuple[Any, ...]]] = {
    1: [], 2: [(THREE,), (SQUARE,), (0.6,)], 3: [(THREE, 0.4), (0, THREE), ((0, 1), 0.6)],
}
"""What follows a sparse array."""
BUFFERS = ("out", "output")
OPERATORS = ("__iadd__", "__imul__", "__getitem__", "__matmul__", "__rmatmul__", "__mul__",
             "__rmul__", "__add__", "__sub__", "__truediv__", "__pow__")
FOR_METHODS: dict[str, tuple[str, ...]] = {
    "sum": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "mean": ("axis", "dtype", "out", "keepdims", "where"),
    "std": ("axis", "dtype", "out", "ddof", "keepdims", "where"),
    "var": ("axis", "dtype", "out", "ddof", "keepdims", "where"),
    "prod": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "max": ("axis", "out", "keepdims", "initial", "where"),
    "min": ("axis", "out", "keepdims", "initial", "where"), "cumsum": ("axis", "dtype", "out"),
    "cumprod": ("axis", "dtype", "out"), "ravel": ("order",), "flatten": ("order",),
    "clip": ("out",), "round": ("out",), "take": ("axis", "out", "mode"), "copy": ("order",),
    "repeat": ("axis",), "dot": ("out",), "compress": ("axis", "out"), "trace": ("offset", "out"),
    "diagonal": ("offset",), "sort": ("axis", "kind"), "astype": ("order", "copy"),
}
UFUNC = ("out", "where", "dtype")


@dataclass(frozen=True)
class Cell:
    """One call: arguments, keywords, and how a buffer for the result is passed."""

    module: str
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    buffer: str = ""

    @property
    def shown(self) -> str:
        """What reports call the cell."""
        given = [brief(x) for x in self.args]
        given += [f"{key}={brief(x)}" for key, x in self.kwargs.items()]
        given += {"": [], "positional": ["<buffer>"]}.get(self.buffer, [f"{self.buffer}=<buffer>"])
        return f"{self.module}.{self.name}({', '.join(given)})"

    @property
    def function(self) -> Callable[..., Any]:
        """The function that is called; a method takes the array first."""
        found: Callable[..., Any] = getattr(located(self.module), self.name)
        return found


def located(path: str) -> Any:
    """Return a module, or a class or instance of a module."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def brief(x: Any) -> str:
    """Return a short text for an argument."""
    if isinstance(x, np.ndarray):
        same = f" of {x.flat[0]}" if x.size > 1 and np.all(x == x.flat[0]) else ""
        return f"{x.dtype}{list(x.shape)}{same}"
    if scipy.sparse.issparse(x):
        return f"{type(x).__name__}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return f"{type(x).__name__}({', '.join(map(brief, x))})"
    return getattr(x, "__name__", None) or repr(x)


def public(module: str) -> list[str]:
    """Return the names of a module's public functions, or of the methods of arrays."""
    if module in OWNERS:
        owner = located(module)
        return sorted(
            n for n in dir(owner) if callable(getattr(owner, n)) and n not in LEFT_OUT
            and (not n.startswith("_") or n in OPERATORS)
        )
    space = located(module)
    if not inspect.ismodule(space):
        return [n for n in DISTRIBUTION_METHODS if hasattr(space, n)]
    names = getattr(space, "__all__", None) or [n for n in vars(space) if n[0] != "_"]
    return sorted(
        n for n in set(names) - LEFT_OUT
        if callable(f := getattr(space, n, None)) and not isinstance(f, type)
        and not inspect.ismodule(f) and not hasattr(f, "pdf") and not hasattr(f, "pmf")
    )


def quiet(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call without warnings; None where it refuses its arguments."""
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*copies, **kwargs)
    except Exception:
        return None


def leaves(y: Any, path: str = "y") -> Iterator[tuple[str, Any]]:
    """Yield the real and complex numbers of a result with the text that reads them."""
    if isinstance(y, (tuple, list)):
        for i, item in enumerate(y[:4]):
            yield from leaves(item, f"{path}[{i}]")
    elif isinstance(y, (float, complex, np.inexact)):
        yield path, np.asarray(y)
    elif scipy.sparse.issparse(y) and y.dtype.kind in "fc" and y.ndim == 2:
        yield f"{path}.toarray()", y.toarray()
    elif isinstance(y, np.ndarray) and y.dtype.kind in "fc" and y.size:
        yield path, y


def worth(y: Any) -> bool:
    """Say whether a result has numbers, all of them finite."""
    found = [leaf for _, leaf in leaves(y)]
    return bool(found) and all(np.all(np.isfinite(leaf)) for leaf in found)


def needed(function: Callable[..., Any], name: str) -> tuple[list[int], tuple[str, ...]]:
    """Return how many positional arguments to try, and the names of parameters."""
    if isinstance(function, np.ufunc):
        return [function.nin], UFUNC
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [1, 2, 3], FOR_METHODS.get(name, ())
    required = sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )
    names = tuple(p.name for p in parameters) + FOR_METHODS.get(name, ())
    starred = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return ([1, 2, 3] if starred else [required, required + 1]), names


def pools(module: str, n: int) -> list[tuple[Any, ...]]:
    """Return arguments to try, so many of them."""
    if not module.startswith("scipy.sparse"):
        return POOLS.get(n, [])
    kind = located(module) if module in SPARSE else scipy.sparse.csr_array
    first = [(kind(FULL), *others) for others in SPARSE_POOLS.get(n, [()])]
    others = [] if module in SPARSE else POOLS.get(n, [])
    return first + [x[::-1] for x in first if len(x) == 2] + others


def bases(module: str, name: str, counts: list[int], count: int) -> list[tuple[Any, ...]]:
    """Return arguments that the function accepts, of different kinds, and that give numbers."""
    function = Cell(module, name, ()).function
    found: list[tuple[Any, ...]] = []
    kinds = set()
    for args in itertools.chain.from_iterable(pools(module, n) for n in counts):
        kind = tuple(np.ndim(x) if isinstance(x, (np.ndarray, float)) else type(x) for x in args)
        if kind in kinds or not any(isinstance(x, (np.ndarray, float, list)) for x in args):
            continue
        if worth(quiet(function, *args)):
            found.append(args)
            kinds.add(kind)
        if len(found) == count:
            break
    return found


def cells_of(module: str, name: str) -> Iterator[Cell]:
    """Yield the calls of one function: plain ones, and one for each option that it accepts."""
    function = Cell(module, name, ()).function
    counts, names = needed(function, name)
    if module in OWNERS and name.startswith("__"):
        counts = [2]
    deep = False
    for i, args in enumerate(bases(module, name, counts, 3)):
        yield Cell(module, name, args)
        deeper = not deep and any(isinstance(x, np.ndarray) and x.ndim > 1 for x in args)
        if i and not deeper:
            continue
        deep = deep or deeper
        for special in special_points(args):
            if worth(quiet(function, *special)):
                yield Cell(module, name, special)
        for option in dict.fromkeys(names):
            if option in BUFFERS:
                yield from with_buffers(module, name, args, option, function)
            if option == "where" and isinstance(function, np.ufunc):
                yield from masked(module, name, args, function)
                continue
            for value in OPTIONS.get(option, ()):
                if worth(quiet(function, *args, **{option: value})):
                    yield Cell(module, name, args, {option: value})


def special_points(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield arguments of which the first array or float is zero, all ties, or of few elements."""
    for i, x in enumerate(args):
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            points = [np.zeros_like(x), -np.zeros_like(x), np.full_like(x, 0.5), x[:1], x[:0]]
        elif isinstance(x, float):
            points = [0.0, -0.0, 1.0]
        else:
            continue
        for point in points:
            yield (*args[:i], point, *args[i + 1 :])
        return


def with_buffers(
    module: str, name: str, args: tuple[Any, ...], option: str, function: Callable[..., Any]
) -> Iterator[Cell]:
    """Yield the calls that write their result into an array of the caller."""
    y = quiet(function, *args)
    if not isinstance(y, np.ndarray):
        y = quiet(function, *args, axis=0)
        if not isinstance(y, np.ndarray) or module != METHODS:
            return
        if quiet(function, *args, axis=0, out=np.zeros_like(y)) is not None:
            yield Cell(module, name, args, {"axis": 0}, "out")
        if quiet(function, *args, 0, None, np.zeros_like(y)) is not None:
            yield Cell(module, name, (*args, 0, None), {}, "positional")
        return
    if quiet(function, *args, **{option: np.zeros_like(y)}) is not None:
        yield Cell(module, name, args, {}, option)
    positional = isinstance(function, np.ufunc) or module == METHODS
    if positional and quiet(function, *args, np.zeros_like(y)) is not None:
        yield Cell(module, name, args, {}, "positional")


def masked(
    module: str, name: str, args: tuple[Any, ...], function: Callable[..., Any]
) -> Iterator[Cell]:
    """Yield the call of a ufunc where a mask says so: elsewhere it leaves its output as it is.

    Ufuncs of SciPy 1.17 write past the end of arrays if they are given a mask.
    """
    if module == "scipy.special":
        return
    y, where = quiet(function, *args), OPTIONS["where"][0]
    if isinstance(y, np.ndarray) and y.shape[-1:] == where.shape:
        yield Cell(module, name, args, {"where": where}, "out")


def functions() -> list[tuple[str, str]]:
    """Return every function and method; those of small modules and of large ones take turns."""
    found: list[tuple[int, str, str]] = []
    for module in (*OWNERS, *MODULES, *distributions()):
        names = sorted(public(module), key=lambda n: zlib.crc32(n.encode()))
        late, step = (400, 20) if module.startswith("scipy.stats.") else (0, 1)
        step = 3 if module == "scipy.stats" else step  # most are refused, after a long time
        found += [(late + rank * step, module, name) for rank, name in enumerate(names)]
    return [(module, name) for _, module, name in sorted(found)]


def distributions() -> list[str]:
    """Return the distributions of ``scipy.stats``."""
    return sorted(f"scipy.stats.{n}" for n in vars(scipy.stats)
                  if hasattr(getattr(scipy.stats, n), "rvs") and n[0] != "_"
                  and not isinstance(getattr(scipy.stats, n), type))
