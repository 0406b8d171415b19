"""What differentiates programs: one row for each engine."""

from __future__ import annotations

import importlib
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.program import Program, Result

Made = tuple[Callable[..., Any], Sequence[Any]]
"""A derivative ready to be called, and its arguments as the engine has them."""


@dataclass(frozen=True)
class Engine:
    """One engine: ``make`` returns the derivative of a program, None if it has nothing for it.

    ``module`` has to be installed. ``fresh`` tells that first calls in new processes are timed,
    ``approximate`` that results are not compared.
    """

    name: str
    make: Callable[[Program, Sequence[Any]], Made | None]
    module: str = "numpy"
    fresh: bool = False
    approximate: bool = False

    def ready(self, program: Program, args: Sequence[Any]) -> Made | None:
        """Return the derivative of a program, None where there is none."""
        try:
            importlib.import_module(self.module)
        except ImportError:
            return None
        return self.make(program, args)


def ours(backend: str) -> Callable[[Program, Sequence[Any]], Made | None]:
    """Return how a backend of adcompiler makes derivatives."""

    def make(program: Program, args: Sequence[Any]) -> Made | None:
        import adcompiler as ad

        given = {} if backend == "python" else {"backend": backend}
        which = program.wrt if len(program.wrt) > 1 else program.wrt[0]
        operator = getattr(ad, {
            "gradient": "grad", "jacobian": "jacobian", "hessian": "hessian",
            "sparse jacobian": "sparse_jacobian", "sparse hessian": "sparse_hessian",
        }[program.derivative])
        derivative = operator(program.function, which, **given)
        if given:
            try:
                derivative(*args)
            except ad.UnsupportedError:
                return None
        return derivative, args

    return make


def primal(program: Program, args: Sequence[Any]) -> Made:
    """Return the program itself."""
    return program.function, args


def for_peer(program: Program, numpy: Any, forms: str = "") -> Callable[..., Any] | None:
    """Return what a peer is given: the form of it, or the text with the peer's ``np``."""
    if forms:
        found = getattr(importlib.import_module(forms), program.name, None)
        if found is not None:
            return found
    if not program.same_text:
        return None
    space = {**program.function.__globals__, "np": numpy, "math": numpy}
    return types.FunctionType(program.function.__code__, space, program.name)


class Names:
    """Functions of several modules under one name, the first that has one."""

    def __init__(self, *modules: Any) -> None:
        self.modules = modules

    def __getattr__(self, name: str) -> Any:
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)


def jax(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a derivative compiled by JAX, of 64-bit numbers, that waits for its result."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # no hand-over between threads
    if program.derivative.startswith("sparse"):
        return None
    function = for_peer(program, Names(jnp, jax.scipy.special), "benchmarks.peers.jax_forms")
    if function is None:
        return None
    which = program.wrt if len(program.wrt) > 1 else program.wrt[0]
    operator = {"gradient": jax.grad, "hessian": jax.hessian,
                "jacobian": jax.jacfwd}[program.derivative]
    static = tuple(i for i, arg in enumerate(args) if isinstance(arg, int))
    run = jax.jit(operator(function, which), static_argnums=static)
    given = [jnp.asarray(arg) if isinstance(arg, (np.ndarray, float)) else arg for arg in args]
    return (lambda *args: jax.block_until_ready(run(*args))), given


def autograd(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a derivative by autograd, for programs that do not assign."""
    import autograd
    import autograd.numpy as anp
    import autograd.scipy.special as special

    function = for_peer(program, Names(anp, special))
    if function is None or program.derivative.startswith("sparse"):
        return None
    if any(np.size(arg) > 200_000 for arg in args):
        return None
    which = program.wrt if len(program.wrt) > 1 else program.wrt[0]
    operator = {"gradient": autograd.grad, "jacobian": autograd.jacobian,
                "hessian": autograd.hessian}[program.derivative]
    return operator(function, which), args


def torch(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a gradient by PyTorch, for programs of arrays that do not assign."""
    import torch

    if program.derivative != "gradient" or not program.same_text:
        return None
    renamed = types.SimpleNamespace(
        newaxis=None, concatenate=torch.cat, arange=torch.arange, eye=torch.eye,
        max=lambda x, axis, keepdims=False: torch.amax(x, axis, keepdims),
        maximum=lambda x, bound: torch.clamp(x, min=bound),
        sqrt=lambda x: torch.sqrt(x) if isinstance(x, torch.Tensor) else math.sqrt(x),
    )
    function = for_peer(program, Names(renamed, torch, torch.linalg, math))
    given = [torch.tensor(a) if isinstance(a, (np.ndarray, float)) else a for a in args]
    for i in program.wrt:
        given[i].requires_grad_(True)

    def run(*args: Any) -> Any:
        assert function is not None
        grads = torch.autograd.grad(function(*args), [args[i] for i in program.wrt])
        return tuple(g.numpy() for g in grads)

    return run, given


def by_hand(library: str, *modules: str) -> Callable[[Program, Sequence[Any]], Made | None]:
    """Return how derivatives written by hand are found: in some modules of ``peers``."""

    def make(program: Program, args: Sequence[Any]) -> Made | None:
        for kind in modules:
            found = getattr(
                importlib.import_module(f"benchmarks.peers.{library}_{kind}"), program.name, None)
            if found is not None:
                return found, args
        return None

    return make


def cpp(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a derivative written by hand in C++, if there is a compiler for it."""
    from benchmarks.peers import cpp_adjoints

    made = getattr(cpp_adjoints, program.name, None)
    run = made and made(*args)
    return (run, args) if run else None


def asdex(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a sparse derivative by asdex, compiled by XLA."""
    if not program.derivative.startswith("sparse") or (
        program.name == "arrow" and np.size(args[0]) > 1_000  # one color for each column
    ):
        return None
    import asdex
    import jax
    import jax.numpy as jnp
    from scipy import sparse

    jax.config.update("jax_enable_x64", True)
    function = for_peer(program, jnp, "benchmarks.peers.jax_forms")
    if function is None:
        return None
    kind = program.derivative.removeprefix("sparse ")

    def of(x: Any) -> Any:
        return function(x, *args[1:])

    coloring = getattr(asdex, f"{kind}_coloring")(of, args[0])
    run = jax.jit(getattr(asdex, f"{kind}_from_coloring")(of, coloring))

    def wait(x: Any, *_: Any) -> Result:
        found = run(x)
        found.data.block_until_ready()
        return Result(lambda: sparse.coo_array(
            (np.asarray(found.data), tuple(np.asarray(found.indices).T)), shape=found.shape))

    return wait, (jnp.asarray(args[0]), *args[1:])


def casadi(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a sparse derivative by CasADi, evaluated by its virtual machine."""
    from scipy import sparse

    from benchmarks.peers import casadi_forms

    made = getattr(casadi_forms, program.name, None)
    if made is None:
        return None
    run = made(*args)

    def called(x: Any, *_: Any) -> Result:
        found = run(x)
        return Result(lambda: sparse.csc_array(found.sparse()))

    return called, args


def differences(program: Program, args: Sequence[Any]) -> Made | None:
    """Return a sparse Jacobian by SciPy's differences of grouped columns."""
    from scipy.optimize._numdiff import approx_derivative, group_columns

    import adcompiler as ad

    if program.derivative != "sparse jacobian" or np.size(args[0]) > 50_000:
        return None
    pattern = ad.jacobian_sparsity(program.function, *args)
    groups = pattern, group_columns(pattern)

    def called(x: Any, *rest: Any) -> Any:
        return approx_derivative(
            program.function, x, method="2-point", sparsity=groups, args=tuple(rest))

    return called, args


ENGINES = {engine.name: engine for engine in (
    Engine("python", ours("python"), fresh=True),
    Engine("native", ours("native"), "llvmlite", fresh=True),
    Engine("primal", primal, approximate=True),
    Engine("JAX", jax, "jax", fresh=True),
    Engine("PyTorch", torch, "torch"),
    Engine("autograd", autograd, "autograd"),
    Engine("NumPy by hand", by_hand("numpy", "adjoints", "matrices")),
    Engine("numba by hand", by_hand("numba", "adjoints"), "numba"),
    Engine("C++ by hand", cpp),
    Engine("asdex", asdex, "asdex"),
    Engine("CasADi", casadi, "casadi"),
    Engine("differences", differences, approximate=True),
)}
"""Every engine, by its name; the first two are ours."""
