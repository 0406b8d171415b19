"""What the results of NumPy's functions share with arguments, and which arguments are written into.

Every function with a rule, or declared to have no derivative, stands in one of these lists; those
that stand in none may share anything.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from adcompiler.rulekit import LAYOUT, MAY, MEANINGS, SAME, VIEW, Option, Shares, facts, found_in


def named(place: str, names: str) -> list[Any]:
    """Return those of the named functions of a module, or of arrays, that this version has.

    NumPy imports some of its modules when they are first asked for: they are asked for here.
    """
    module = place.removesuffix(".ndarray")
    importlib.import_module(module)
    prefix = "ndarray." if place.endswith(".ndarray") else ""
    found = (found_in(module, prefix + name) for name in names.split())
    return [function for function in found if function is not None]


NEVER = """
    abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh arcsin
    arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array2string
    array_equal array_equiv array_repr array_str asin asinh atan atan2 atanh average bartlett
    bincount blackman block choose clip column_stack compress concat concatenate convolve copy
    corrcoef correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete
    diag_indices diag_indices_from diagflat digitize divmod dot dstack ediff1d empty empty_like
    extract eye fix flatnonzero full full_like geomspace gradient hamming hanning hstack hypot i0
    identity in1d indices inner insert interp intersect1d iscomplex iscomplexobj isclose isin
    isneginf isposinf isreal isrealobj isscalar kaiser kron lexsort linspace logspace mask_indices
    max mean median min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar ndim nonzero ones ones_like outer
    packbits pad partition percentile piecewise poly polyadd polydiv polyfit polymul
    polysub polyval prod ptp quantile ravel_multi_index repeat resize roll roots round searchsorted
    select setdiff1d setxor1d shape sinc size sort sort_complex stack std sum take take_along_axis
    tensordot tile trace trapezoid trapz tri tril tril_indices tril_indices_from triu triu_indices
    triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values
    unpackbits unravel_index unwrap vander var vdot vstack where zeros zeros_like result_type
    can_cast promote_types min_scalar_type common_type broadcast_shapes iterable isfortran isdtype
    issubdtype shares_memory may_share_memory typename finfo iinfo row_stack base_repr binary_repr
    format_float_positional format_float_scientific histogram2d nan_to_num
"""
"""Functions whose results always have storage of their own, with whatever options."""

OWN_OF_LINALG = """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_rank
    multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace
    vecdot vector_norm
"""
OWN_OF_FFT = "fft ifft rfft irfft hfft ihfft fftfreq rfftfreq fftshift ifftshift"
OVER_AXES = "fft2 ifft2 fftn ifftn rfft2 rfftn irfft2 irfftn"

OWN_METHODS = """
    all any argmax argmin argpartition argsort byteswap choose clip compress copy cumprod cumsum dot
    dumps flatten item max mean min nonzero prod ptp repeat round searchsorted std sum take tobytes
    tolist tostring trace var __len__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__
    __pow__ __matmul__ __neg__ __pos__ __abs__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__
    __or__ __xor__ __invert__ __lshift__ __rshift__ __radd__ __rsub__ __rmul__ __rtruediv__
    __rfloordiv__ __rmod__ __rpow__ __rmatmul__ __divmod__ __rdivmod__ __contains__ __copy__
    __deepcopy__ __bool__ __int__ __float__ __complex__ __index__ __str__ __repr__ __format__
    __sizeof__ __dir__ __hash__ __iter__ __rand__ __ror__ __rxor__ __rlshift__ __rrshift__
    __reduce__ __reduce_ex__
"""
"""Methods of arrays that write nothing, and whose results have storage of their own."""

VIEWS = """
    transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr flipud diagonal
    broadcast_to real rot90 matrix_transpose permute_dims lib.stride_tricks.sliding_window_view
"""
"""Functions whose result is a view of the first argument, or that itself."""

MAY_SHARE = """
    asarray_chkfinite ascontiguousarray asfortranarray array_split broadcast_arrays dsplit hsplit
    histogram histogram_bin_edges histogramdd ix_ real_if_close require split trim_zeros unstack
    vsplit apply_along_axis apply_over_axes asmatrix frombuffer polyder polyint
    lib.stride_tricks.as_strided
"""

VALUES = """
    corrcoef nanmedian poly polyadd polyder polydiv polyfit polyint polymul polysub kaiser
    result_type can_cast histogram histogramdd histogram2d histogram_bin_edges ix_ isin in1d
    broadcast_arrays asmatrix broadcast_shapes require trim_zeros array_split
    row_stack lib.stride_tricks.as_strided bmat frombuffer fromiter
"""
"""Functions that do nothing but give a value, and check what they are given."""

facts(*named("numpy", NEVER), shares="none")
facts(*named("numpy.linalg", OWN_OF_LINALG), shares="none")
facts(*named("numpy.fft", OWN_OF_FFT), shares="none")
facts(
    *named("numpy.fft", OVER_AXES), shares=Shares(MAY, (0,), (Option("axes", ((), []), None, 2),))
)
facts(*named("numpy.ndarray", OWN_METHODS), pure=True, shares="none", writes=(), tried=True)
facts(*named("numpy", VIEWS), *named("numpy.linalg", "diagonal matrix_transpose"), shares=VIEW)
facts(*named("numpy", MAY_SHARE), shares=MAY)
facts(*named("numpy", "reshape ravel"), shares=LAYOUT)
facts(*named("numpy", """
    diagonal diag linalg.diagonal broadcast_to broadcast_arrays ndarray.diagonal
    lib.stride_tricks.sliding_window_view lib.stride_tricks.as_strided
"""), read_only=True)
facts(*named("numpy", VALUES), pure=True, writes=(), tried=True)
facts(np.imag, shares=(  # zeros that cannot be written into, where elements are real
    Shares(VIEW, (0,), kinds=("complex",)), Shares(MAY, (0,), kinds=("bool", "int", "float")),
))

facts(np.ndarray.dump, np.ndarray.tofile, shares="none", writes=())

copied = Option("copy", (None, False), None)
facts(np.asarray, np.asanyarray, shares=Shares(SAME, (0,), (copied,)))
facts(np.array, shares=Shares(MAY, (0,), (Option("copy", (None, False), True),)))
facts(np.nan_to_num, shares=Shares(MAY, (0,), (Option("copy", (False,), True, 1),)))
facts(np.meshgrid, shares=Shares(MAY, (), (Option("copy", (False,), True),)))
facts(np.atleast_1d, shares=Shares(SAME, least=1))
facts(np.atleast_2d, shares=Shares(SAME, least=2))
facts(np.atleast_3d, shares=Shares(SAME, least=3))
facts(np.diag, shares=Shares(MAY, (0,), ndim=2))
facts(np.diff, shares=Shares(MAY, (0,), (Option("n", (0,), 1, 1),)))
facts(np.linalg.matrix_power, shares=Shares(MAY, (0,), (Option("n", (1,), None, 1),)))
facts(np.einsum, shares=(Shares(MAY, (1,), most=2), Shares(MAY, (0,), most=3)))
facts(*named("numpy", "float16 float32 float64 complex64 complex128"), shares=MAY)
facts(*named("numpy", "astype"), shares=Shares(MAY, (0,), (Option("copy", (False,), True),)))

facts(
    np.ndarray.transpose, np.ndarray.swapaxes, np.ndarray.squeeze, np.ndarray.view, shares=VIEW)
facts(np.ndarray.reshape, np.ndarray.ravel, shares=LAYOUT)
facts(
    np.ndarray.astype, pure=True, writes=(), tried=True,
    shares=Shares(MAY, (0,), (Option("copy", (False,), True, 5),)),
)
facts(
    np.ndarray.conj, np.ndarray.conjugate, pure=True, writes=(), tried=True,
    shares=Shares(SAME, (0,), kinds=("bool", "int", "float")),
)
facts(
    np.ndarray.reshape, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.swapaxes,
    np.ndarray.squeeze, np.ndarray.diagonal, np.ndarray.view, np.ndarray.getfield,
    np.ndarray.__getitem__, np.ndarray.__array__, pure=True, writes=(), tried=True,
)

# -- what functions are --------------------------------------------------------------------------

for word in MEANINGS:
    facts(*named("numpy.linalg" if word in ("norm", "solve") else "numpy", word), means=word)
for word in ("copy", "reshape", "transpose", "astype"):
    facts(getattr(np.ndarray, word), means=word)
facts(np.ndarray.flatten, means="ravel")
facts(np.amax, means="max")
facts(np.amin, means="min")

# -- objects of their own, shapes, text -----------------------------------------------------------

facts(*named("numpy", """
    array copy empty empty_like full full_like ones ones_like zeros zeros_like
"""), np.ndarray.copy, fresh=True)
facts(*named("numpy", "shape ndim size copy zeros_like ones_like empty_like"), total="values")
facts(np.where, np.clip, elementwise=True)
facts(*named("numpy", "sum max min amax amin mean prod std var"), shape="reduced")
facts(*named("numpy", """
    zeros_like ones_like empty_like copy conj real imag nan_to_num
"""), np.ndarray.copy, np.ndarray.astype, shape="first")
facts(np.full_like, shape="filled")
facts(np.arange, shape="counted")
facts(np.expand_dims, shape="expanded")
facts(np.broadcast_to, shape="given")
facts(*named("numpy", """
    roll flip flipud fliplr sort argsort partition argpartition cumsum cumprod tril triu round
    around
"""), *named("numpy.linalg", "inv cholesky matrix_power"),
      *named("numpy.fft", "fftshift ifftshift"), *named("numpy.ndarray", "cumsum cumprod round"),
      shape="kept")

facts(*named("numpy", """
    array2string array_str array_repr format_float_positional format_float_scientific savetxt save
    savez savez_compressed base_repr binary_repr
"""), np.ndarray.tobytes, np.ndarray.dumps, np.ndarray.dump, np.ndarray.tofile, form="text")
facts(*named("numpy", """
    loadtxt genfromtxt fromstring frombuffer fromfile load fromregex array asarray asanyarray
    ascontiguousarray asfortranarray float64 float32 asmatrix matrix bmat
"""), np.ndarray.astype, form="numbers")
for of, name, form in (  # NumPy 1
    (np, "asfarray", "numbers"), (np, "safe_eval", "numbers"), (np.ndarray, "tostring", "text"),
):
    if hasattr(of, name):
        facts(getattr(of, name), form=form)

facts(*named("numpy", "split array_split hsplit vsplit dsplit"), parts=True)
facts(
    np.random.shuffle, np.ndarray.resize, np.ndarray.setfield, np.ndarray.setflags,
    np.ndarray.__setitem__, np.ndarray.byteswap, changes="array",
)
facts(np.ndarray.copy, np.ndarray.flatten, np.ascontiguousarray, order="C")
facts(*named("numpy", "copy array asarray clip where power matmul"), order="kept")
facts(*named("numpy", "abs fabs exp exp2 sqrt square cosh hypot"), sign="never negative")
facts(*named("numpy", "float64 add multiply divide minimum"), sign="kept")
facts(np.maximum, sign="largest")
facts(*named("numpy", """
    isfortran nditer nested_iters may_share_memory shares_memory lib.stride_tricks.as_strided
"""), reads_layout=True)
facts(np.fromiter, iterates=True)
facts(np.printoptions, passes_on=True)

# -- arrays for results ------------------------------------------------------------------------

POSITIONS = {
    "all": 2, "any": 2, "argmax": 2, "argmin": 2, "choose": None, "clip": 3, "compress": 3,
    "cumprod": 3, "cumsum": 3, "dot": 2, "max": 2, "mean": 3, "min": 2, "prod": 3, "ptp": 2,
    "round": 2, "std": 3, "sum": 3, "take": 3, "trace": 5, "var": 3,
}
"""Where methods of arrays take ``out``, the array itself counted; None: by its name only."""


WITH_OUT = """
    all amax amin any around argmax argmin choose clip compress concat concatenate cumprod cumsum
    cumulative_prod cumulative_sum dot einsum fix isneginf isposinf max mean median min nanargmax
    nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
    nanstd nansum nanvar outer percentile prod ptp quantile round stack std sum take trace var
    busday_count busday_offset is_busday
"""

RANDOM = """
    beta binomial bytes chisquare choice default_rng dirichlet exponential f gamma geometric
    get_state gumbel hypergeometric laplace logistic lognormal logseries multinomial
    multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto
    permutation poisson power rand randint randn random random_integers random_sample ranf rayleigh
    sample seed set_state standard_cauchy standard_exponential standard_gamma standard_normal
    standard_t triangular uniform vonmises wald weibull zipf Generator RandomState
"""
"""Functions that draw numbers, and write into none of their arguments."""
facts(*named("numpy.random", RANDOM), shares="none", writes=())
for cls in (np.random.RandomState, np.random.Generator):
    facts(
        *(getattr(cls, name) for name in RANDOM.split() if hasattr(cls, name)), shares="none",
        writes=(),
    )


OUT_IN_C = {"busday_count": 5, "busday_offset": 6, "concatenate": 2, "dot": 2, "is_busday": 4}
"""Positions of ``out`` of functions that tell no signature, as in older versions of NumPy."""


def position(function: Any, name: str) -> int | None:
    """Return the position of a parameter, None if it can only be given by its name."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return OUT_IN_C.get(function.__name__)
    if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
        return None
    return list(parameters).index(name)


def takes(function: Any, name: str) -> bool:
    """Say whether a function has, or may have, a parameter of this name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True


def fills(function: Any) -> bool:
    """Say whether a function of ``numpy.fft`` writes into ``out=``: NumPy 2 forgets it in some."""
    wanted = function(np.eye(2))
    out = np.full_like(wanted, 7.0)
    function(np.eye(2), out=out)
    return bool(np.all(out == wanted))


for name, at in POSITIONS.items():
    facts(*named("numpy.ndarray", name), output=("out", at))
for function in (*named("numpy", WITH_OUT), *named("numpy.linalg", "multi_dot")):
    if takes(function, "out"):
        facts(function, output=("out", position(function, "out")))
for function in named("numpy.fft", f"{OWN_OF_FFT} {OVER_AXES}"):
    if takes(function, "out"):
        if fills(function):
            facts(function, output=("out", position(function, "out")))
        else:
            facts(function, writes=("out",))
