"""How the elements of what NumPy's functions return depend on those of arguments, and what the
functions make of one more axis.

Of a function that stands in none of these lists all results are taken to depend on all numbers that
it is given.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import facts
from adcompiler_rules.numpy.facts import OVER_AXES, OWN_OF_FFT, named

TRANSFERS = {
    "moves": """
        reshape ravel transpose squeeze expand_dims swapaxes moveaxis rollaxis flip fliplr flipud
        rot90 repeat tile resize broadcast_to diagonal diag diagflat tril triu delete atleast_1d
        atleast_2d atleast_3d split array_split hsplit vsplit dsplit unstack matrix_transpose
    """,
    "roll": "roll", "moves all": "meshgrid broadcast_arrays", "append": "append",
    "joins": "concatenate stack vstack hstack dstack column_stack block",
    "array": "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite",
    "copy": "copy real_if_close", "astype": "astype", "full": "full", "full_like": "full_like",
    "zeros_like": "zeros_like ones_like empty_like", "pad": "pad", "insert": "insert",
    "take": "take take_along_axis", "compress": "compress extract", "select": "select",
    "interp": "interp", "bincount": "bincount", "where": "where", "clip": "clip",
    "pow": "power float_power", "shape": "shape", "ndim": "ndim", "size": "size",
    "sum": "sum nansum", "mean": "mean nanmean", "average": "average", "max": "max amax nanmax",
    "min": "min amin nanmin", "ptp": "ptp", "median": "median nanmedian",
    "var": "var std nanvar nanstd", "prod": "prod nanprod", "trace": "trace",
    "cumsum": "cumsum nancumsum cumulative_sum", "cumprod": "cumprod nancumprod cumulative_prod",
    "sort": "sort", "partition": "partition", "diff": "diff", "ediff1d": "ediff1d",
    "gradient": "gradient", "matmul": "matmul", "dot": "dot", "inner": "inner", "vdot": "vdot",
    "outer": "outer", "vecdot": "vecdot", "tensordot": "tensordot", "einsum": "einsum",
    "kron": "kron", "convolve": "convolve", "correlate": "correlate", "cross": "cross",
    "polyval": "polyval", "numbers": "angle",
    "quantile": "quantile percentile nanquantile nanpercentile",
}
OF_LINALG = {
    "moves": "diagonal", "norm": "norm", "trace of each": "trace", "matmul": "matmul",
    "outer": "outer", "vecdot": "vecdot", "tensordot": "tensordot", "multi_dot": "multi_dot",
    "matrix_power": "matrix_power", "cross": "cross", "solve": "solve", "cholesky": "cholesky",
    "inverse": "inv",
    "matrices": "det slogdet pinv eigh eigvalsh qr svd svdvals",
    "matrix": "cond eig eigvals matrix_norm",
}
OF_ARRAYS = {
    "moves": "reshape transpose flatten tolist item squeeze swapaxes ravel repeat diagonal T mT",
    "copy": "copy", "astype": "astype", "picks": "compress", "dot": "dot", "len": "__len__",
    "shape": "shape", "ndim": "ndim", "size": "size", "dtype": "dtype",
}

for place, table in (
    ("numpy", TRANSFERS), ("numpy.linalg", OF_LINALG), ("numpy.ndarray", OF_ARRAYS)
):
    for word, names in table.items():
        facts(*named(place, names), transfer=word)

facts(np.average, linear_in="a")
facts(*named("numpy", "trapezoid trapz"), linear_in="y")
facts(np.interp, linear_in="fp left right")
facts(np.linalg.solve, linear_in="b")
facts(*named("numpy.fft", f"{OWN_OF_FFT} {OVER_AXES}"), rounded=True)
facts(np.fft.fftshift, np.fft.ifftshift, rounded=False)

facts(*named("numpy.fft", "fft ifft rfft irfft hfft ihfft"), along=("axis", -1, "linear"))
facts(*named("numpy.fft", "fft2 ifft2 rfft2 irfft2"), along=("axes", (-2, -1), "linear"))
facts(*named("numpy.fft", "fftn ifftn rfftn irfftn"), along=("axes", None, "linear"))
facts(*named("numpy", TRANSFERS["quantile"]), along=("axis", None, "piecewise"))
facts(*named("numpy", "dot vdot inner interp where concatenate stack array asarray"), unwraps=True)
facts(np.unwrap, along=("axis", -1, "piecewise"))
facts(*named("numpy", f"{TRANSFERS['var']} average"), along=("axis", None, "curved"))

facts(*named("numpy", """
    nonzero flatnonzero argwhere where arange zeros ones full empty eye identity unique unique_all
    unique_counts unique_inverse unique_values union1d setdiff1d setxor1d intersect1d trim_zeros
"""), np.ndarray.nonzero, sized=True)

facts(*named("numpy", """
    shape ndim size zeros_like ones_like empty_like result_type iscomplexobj
"""), of_form=True)
facts(np.where, np.real, np.imag, np.ndarray.conj, np.ndarray.conjugate, axes="each")
facts(np.copy, np.ndarray.copy, np.array, np.asarray, np.ascontiguousarray, np.zeros_like,
      axes="alike")
facts(np.flip, np.sum, np.mean, np.max, np.amax, np.min, np.amin, np.prod, np.any, np.all, np.std,
      np.var, np.ptp, np.linalg.norm, axes="along all")
facts(np.roll, np.cumsum, np.repeat, axes="in order")
facts(np.diff, np.squeeze, axes="along")
facts(np.concatenate, np.stack, axes="joins")
facts(np.linalg.solve, axes="columns")
