"""Words for what a function is: of numbers and arrays, what NumPy's function of that name is.

``operator.sub`` and ``np.subtract`` both mean ``"subtract"``. Functions that mean the same give the
same values wherever each gives one: they may differ in what they take besides numbers and arrays,
and in what they raise or warn of. Stages that know what to do with an operation ask for its word,
so that they do it with whatever a rule says is that operation.
"""

from __future__ import annotations

OF_NUMBERS = """
    add subtract multiply divide floor_divide remainder power float_power negative positive absolute
    fabs square sqrt exp expm1 log log1p log2 log10 logaddexp sin cos tan arcsin arccos arctan
    arctan2 sinh cosh tanh arcsinh arccosh arctanh hypot copysign sign floor ceil rint trunc
    maximum minimum conjugate real imag isfinite isnan where clip
    less less_equal greater greater_equal equal not_equal logical_not
"""
"""Functions that are computed number by number."""

OF_ARRAYS = """
    sum mean prod var std max min argmax argmin all any count_nonzero cumsum cumprod norm diff
    dot matmul outer einsum zeros ones empty full zeros_like ones_like empty_like full_like copy
    array asarray arange linspace eye tril triu diag diagonal reshape ravel transpose swapaxes
    expand_dims broadcast_to broadcast_shapes roll concatenate stack vstack hstack column_stack
    solve astype float32 float64
"""
"""Functions of whole arrays: those of ``numpy``; ``norm`` and ``solve`` of ``numpy.linalg``,
``astype`` of arrays."""

OF_MATH = "erf erfc gamma lgamma int_floor int_ceil"
"""What NumPy has no function for: functions of ``math``; ``int_floor`` is ``math.floor``."""

MEANINGS = tuple(f"{OF_NUMBERS} {OF_ARRAYS} {OF_MATH}".split())
