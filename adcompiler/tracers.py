"""Sparsity patterns by operator overloading: classifications, tracers and what is generated."""

from adcompiler.errors import MissingPrimalError
from adcompiler.ops.classify import classify
from adcompiler.sparsity.tracing.detectors import (
    Global, Local, hessian_buffer, hessian_eltype, jacobian_buffer, jacobian_eltype,
)
from adcompiler.sparsity.tracing.overloads import (
    generate_code_1_to_1, generate_code_1_to_2, generate_code_2_to_1, generate_code_2_to_1_typed,
)
from adcompiler.sparsity.tracing.predicates import (
    is_der1_arg1_zero_global, is_der1_arg1_zero_local, is_der1_arg2_zero_global,
    is_der1_arg2_zero_local, is_der1_out1_zero_global, is_der1_out1_zero_local,
    is_der1_out2_zero_global, is_der1_out2_zero_local, is_der1_zero_global, is_der1_zero_local,
    is_der2_arg1_zero_global, is_der2_arg1_zero_local, is_der2_arg2_zero_global,
    is_der2_arg2_zero_local, is_der2_out1_zero_global, is_der2_out1_zero_local,
    is_der2_out2_zero_global, is_der2_out2_zero_local, is_der2_zero_global, is_der2_zero_local,
    is_der_cross_zero_global, is_der_cross_zero_local,
)
from adcompiler.sparsity.tracing.tracers import (
    Dual, GradientTracer, HessianTracer, apply, gradient_tracer_1_to_1, gradient_tracer_1_to_2,
    gradient_tracer_2_to_1, hessian_tracer_1_to_1, hessian_tracer_1_to_2, hessian_tracer_2_to_1,
    overload, primal, tracer,
)

__all__ = [
    "Dual",
    "Global",
    "GradientTracer",
    "HessianTracer",
    "Local",
    "MissingPrimalError",
    "apply",
    "classify",
    "generate_code_1_to_1",
    "generate_code_1_to_2",
    "generate_code_2_to_1",
    "generate_code_2_to_1_typed",
    "gradient_tracer_1_to_1",
    "gradient_tracer_1_to_2",
    "gradient_tracer_2_to_1",
    "hessian_buffer",
    "hessian_eltype",
    "hessian_tracer_1_to_1",
    "hessian_tracer_1_to_2",
    "hessian_tracer_2_to_1",
    "is_der1_arg1_zero_global",
    "is_der1_arg1_zero_local",
    "is_der1_arg2_zero_global",
    "is_der1_arg2_zero_local",
    "is_der1_out1_zero_global",
    "is_der1_out1_zero_local",
    "is_der1_out2_zero_global",
    "is_der1_out2_zero_local",
    "is_der1_zero_global",
    "is_der1_zero_local",
    "is_der2_arg1_zero_global",
    "is_der2_arg1_zero_local",
    "is_der2_arg2_zero_global",
    "is_der2_arg2_zero_local",
    "is_der2_out1_zero_global",
    "is_der2_out1_zero_local",
    "is_der2_out2_zero_global",
    "is_der2_out2_zero_local",
    "is_der2_zero_global",
    "is_der2_zero_local",
    "is_der_cross_zero_global",
    "is_der_cross_zero_local",
    "jacobian_buffer",
    "jacobian_eltype",
    "overload",
    "primal",
    "tracer",
]
