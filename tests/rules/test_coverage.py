"""Every public function of ``math``, ``operator`` and NumPy has a rule or is said to carry none."""

import cmath
import math
import operator
import warnings

import numpy as np
import pytest

from adcompiler.rulekit import REGISTRY

# Left to the compiler (indexing, mutation), or not functions of numbers.
LEFT_TO_THE_COMPILER = {
    "attrgetter", "call", "delitem", "getitem", "itemgetter", "methodcaller", "setitem",
    "is_none", "is_not_none",
}
IN_PLACE = {
    "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow",
    "irshift", "isub", "itruediv", "ixor",
}


def functions_of(module):
    return {name: value for name, value in vars(module).items()
            if callable(value) and not name.startswith("_")}


def covered(function):
    return REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None


@pytest.mark.parametrize("name", sorted(functions_of(math)))
def test_math_function_is_covered(name):
    assert covered(getattr(math, name))


@pytest.mark.parametrize("name", sorted(functions_of(cmath)))
def test_cmath_function_is_covered(name):
    assert covered(getattr(cmath, name))


@pytest.mark.parametrize(
    "name", sorted(set(operator.__all__) - LEFT_TO_THE_COMPILER - IN_PLACE)
)
def test_operator_is_covered(name):
    REGISTRY.load_all()
    assert covered(getattr(operator, name))


NOT_YET = {
    "writes into its argument, or gives an alias of it: compiled as a program that does so": """
        copyto fill_diagonal place put put_along_axis putmask
        ndarray.fill ndarray.partition ndarray.put ndarray.sort ndarray.flat ndarray.view
    """,
    "changes the form of its argument, or reads its bytes: refused": """
        ndarray.resize ndarray.setfield ndarray.setflags ndarray.byteswap ndarray.getfield
    """,
    "gives memory, files, iterators or classes rather than numbers": """
        asmatrix bmat from_dlpack frombuffer fromiter fromregex fromstring nested_iters
        frompyfunc ndarray.base ndarray.ctypes ndarray.data ndarray.device ndarray.to_device
        ndarray.dump ndarray.tofile info show_config show_runtime test
    """,
    "calls a function it is given: compiled as a loop or comprehension": """
        apply_along_axis apply_over_axes fromfunction piecewise
    """,
    "compiled from its source, or from other code that does the same": """
        poly polyadd polyder polydiv polyfit polyint polymul polysub trim_zeros histogram2d
        linalg.tensorinv linalg.tensorsolve corrcoef
    """,
    "of NumPy 1, with names that are no longer used: compiled from its source, or refused": """
        alltrue asfarray cumproduct in1d mat msort product round_ sometrue
        ndarray.itemset ndarray.newbyteorder ndarray.tostring
    """,
    "of NumPy 1, about its own text, types and errors": """
        _add_newdoc_ufunc _get_promotion_state _no_nep50_warning _set_promotion_state
        _using_numpy2_behavior add_docstring add_newdoc add_newdoc_ufunc byte_bounds
        compare_chararrays deprecate deprecate_with_doc disp fastCopyAndTranspose find_common_type
        get_array_wrap geterrobj issctype issubclass_ issubsctype lookfor maximum_sctype
        obj2sctype recfromcsv recfromtxt safe_eval sctype2char set_numeric_ops set_string_function
        seterrobj source who
    """,
}


def numpy_names():
    """Yield ``(name, function)`` of NumPy's public functions and the attributes of arrays."""
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in module.__all__:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = getattr(module, name, None)
            if callable(function) and not isinstance(function, type):
                yield prefix + name, function
    for name in dir(np.ndarray):
        if not name.startswith("_"):
            yield f"ndarray.{name}", getattr(np.ndarray, name)


def test_numpy_functions_are_covered_or_listed():
    REGISTRY.load_all()
    listed = {name for names in NOT_YET.values() for name in names.split()}
    missing = {name for name, function in numpy_names() if not covered(function)}
    assert missing - listed == set(), "neither covered nor listed"
    assert {name for name, _ in numpy_names()} & listed - missing == set(), "covered by now"
