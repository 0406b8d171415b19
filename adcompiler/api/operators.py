"""All operators: what is made of one may ask for another by name, so that they come together."""

from adcompiler.api.complex import complex_jacobian, holomorphic_derivative
from adcompiler.api.derivative import Derivative
from adcompiler.api.forward import derivative, elementwise_grad, jvp, linearize
from adcompiler.api.grad import grad, source, value_and_grad, vjp
from adcompiler.api.hessian_products import hvp, vhp
from adcompiler.api.hessians import hessian
from adcompiler.api.jacobians import fmad, jacfwd, jacobian, jacrev
from adcompiler.api.primal import compiled
from adcompiler.api.second_products import (
    gnvp, hessian_diagonal, laplacian, linear_transpose,
)
from adcompiler.api.seeds import batched_jvp, batched_vjp
from adcompiler.api.taylor import jet, nth_derivative, taylor
from adcompiler.api.vmapping import vmap

__all__ = [
    "Derivative", "batched_jvp", "batched_vjp", "compiled", "complex_jacobian", "derivative",
    "elementwise_grad", "fmad", "gnvp", "grad", "hessian", "hessian_diagonal",
    "holomorphic_derivative", "hvp", "jacfwd", "jacobian", "jacrev", "jet", "jvp", "laplacian",
    "linear_transpose", "linearize", "nth_derivative", "source", "taylor",
    "value_and_grad", "vhp", "vjp", "vmap",
]
