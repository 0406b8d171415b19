"""Source-to-source automatic differentiation for plain Python and NumPy."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adcompiler.api.complex import complex_jacobian, holomorphic_derivative
    from adcompiler.api.forward import derivative, elementwise_grad, jvp, linearize
    from adcompiler.api.derivative import Derivative
    from adcompiler.api.grad import grad, source, value_and_grad, vjp
    from adcompiler.api.hessian_products import hvp, vhp
    from adcompiler.api.hessians import hessian
    from adcompiler.api.jacobians import fmad, jacfwd, jacobian, jacrev
    from adcompiler.api.primal import compiled
    from adcompiler.api.seeds import batched_jvp, batched_vjp
    from adcompiler.api.texts import compile_text
    from adcompiler.api.second_products import (
        gnvp, hessian_diagonal, laplacian, linear_transpose,
    )
    from adcompiler.api.taylor import jet, nth_derivative, taylor
    from adcompiler.api.vmapping import vmap
    from adcompiler.errors import (
        ADError, InternalError, MissingPrimalError, MissingRuleError, RuleError,
        SourceNotFoundError, UnsupportedError,
    )
    from adcompiler.runtime import no_grad, stop_gradient
    from adcompiler.runtime.checkpoints import checkpoint, checkpoint_loop
    from adcompiler.runtime.external import ExternalFunction, bump, external
    from adcompiler.runtime.implicit import implicit
    from adcompiler.api.sparse.patterns import hessian_sparsity, jacobian_sparsity
    from adcompiler.ops.classify import classify
    from adcompiler.api.sparse.operators import (
        sparse_hessian, sparse_jacobian, value_and_sparse_jacobian,
    )
    from adcompiler.api.lagrangians import lagrangian
    from adcompiler.rulekit import (
        NoTangent, PullbackMemory, Signature, ZeroTangent, alias, apply_frule, apply_rrule,
        augmented_primal, bilinear, clear_new_rule_hooks, facts, frule, intercept, linear,
        non_differentiable, on_new_rule, opt_out, preprocess, project_to, pullback_at,
        refresh_rules, rrule, scalar_rule, sensitivity, unionise,
    )
    from adcompiler.sparsity.coloring.coloring import color
    from adcompiler.sparsity.tracing.detectors import Global, Local

__version__ = "0.1.0"

__all__ = [
    "ADError", "Derivative", "ExternalFunction", "Global", "InternalError", "Local",
    "MissingPrimalError", "MissingRuleError", "NoTangent", "PullbackMemory", "RuleError",
    "Signature", "SourceNotFoundError", "UnsupportedError", "ZeroTangent", "alias", "apply_frule",
    "apply_rrule", "augmented_primal", "batched_jvp", "batched_vjp", "bilinear", "bump",
    "checkpoint", "checkpoint_loop", "classify", "clear_new_rule_hooks", "color", "compile_text",
    "compiled", "complex_jacobian", "derivative", "elementwise_grad", "external", "facts", "fmad",
    "frule", "gnvp", "grad", "hessian", "hessian_diagonal", "hessian_sparsity",
    "holomorphic_derivative", "hvp", "implicit", "intercept", "jacfwd", "jacobian",
    "jacobian_sparsity", "jacrev", "jet", "jvp", "lagrangian", "laplacian", "linear",
    "linear_transpose", "linearize", "no_grad", "non_differentiable", "nth_derivative",
    "on_new_rule", "opt_out", "preprocess", "project_to", "pullback_at", "refresh_rules", "rrule",
    "scalar_rule", "sensitivity", "source", "sparse_hessian", "sparse_jacobian", "stop_gradient",
    "taylor", "unionise", "value_and_grad", "value_and_sparse_jacobian", "vhp", "vjp", "vmap",
]

_HOMES: dict[str, tuple[str, ...]] = {
    "api.operators": (
        "Derivative", "batched_jvp", "batched_vjp", "compiled", "complex_jacobian", "derivative",
        "elementwise_grad", "fmad", "gnvp", "grad", "hessian", "hessian_diagonal",
        "holomorphic_derivative", "hvp", "jacfwd", "jacobian", "jacrev", "jet", "jvp", "laplacian",
        "linear_transpose", "linearize", "nth_derivative", "source", "taylor",
        "value_and_grad", "vhp", "vjp", "vmap",
    ),
    "api.sparse.patterns": ("hessian_sparsity", "jacobian_sparsity"),
    "api.sparse.operators": ("sparse_hessian", "sparse_jacobian", "value_and_sparse_jacobian"),
    "api.lagrangians": ("lagrangian",),
    "api.texts": ("compile_text",),
    "errors": (
        "ADError", "InternalError", "MissingPrimalError", "MissingRuleError", "RuleError",
        "SourceNotFoundError", "UnsupportedError",
    ),
    "ops.classify": ("classify",),
    "rulekit": (
        "NoTangent", "PullbackMemory", "Signature", "ZeroTangent", "alias", "apply_frule",
        "apply_rrule", "augmented_primal", "bilinear", "clear_new_rule_hooks", "facts", "frule",
        "intercept", "linear", "non_differentiable", "on_new_rule", "opt_out", "preprocess",
        "project_to", "pullback_at", "refresh_rules", "rrule", "scalar_rule", "sensitivity",
        "unionise",
    ),
    "runtime": ("no_grad", "stop_gradient"),
    "runtime.checkpoints": ("checkpoint", "checkpoint_loop"),
    "runtime.external": ("ExternalFunction", "bump", "external"),
    "runtime.implicit": ("implicit",),
    "sparsity.coloring.coloring": ("color",),
    "sparsity.tracing.detectors": ("Global", "Local"),
}
"""The modules of public names. They are loaded when one is asked for: emitted modules import
``adcompiler.runtime``, which is not to load the compiler."""

_MODULES = ("interop", "parallel", "plot", "smooth", "testing", "tracers")
"""Modules that users import from, which are attributes too."""

_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the module that has a public name, or a public module."""
    if name in _MODULES:
        return import_module(f"adcompiler.{name}")
    if name not in _HOME:
        hint = meant(name)
        caller, import_from = sys._getframe(1), import_module("opcode").opmap["IMPORT_FROM"]
        if hint and caller.f_code.co_code[caller.f_lasti] == import_from:
            # Python would replace an AttributeError by an ImportError without the hint
            raise ImportError(
                f"cannot import name {name!r} from {__name__!r}{hint}", name=__name__,
                path=__file__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    value = globals()[name] = getattr(import_module(f"adcompiler.{_HOME[name]}"), name)
    return value


def meant(name: str) -> str:
    """Return the end of a message about a name that is not here: what may have been meant."""
    if name.startswith("_"):
        return ""  # Python asks for these
    known = [*__all__, *_MODULES]
    return str(import_module("adcompiler.api.keywords").unknown_name(name, known))


def load_ipython_extension(shell: Any) -> None:
    """Make ``%%adsource`` known to IPython: what ``%load_ext adcompiler`` calls."""
    import_module("adcompiler.interop.ipython").load(shell)


def __dir__() -> list[str]:
    """Return the public names, and what is loaded."""
    return sorted({*globals(), *__all__})
