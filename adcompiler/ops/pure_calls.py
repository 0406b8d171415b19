"""Functions that a run, of which nothing may be seen outside, calls as they are.

Beside those of which facts say that they give a value and do nothing else: what changes its first
argument alone, asks what a value is without running any code of its class, or is about warnings,
which are not shown during the run.
"""

from __future__ import annotations

import contextlib
import operator
import os
import time
import warnings

import numpy as np

from adcompiler.ir.operators import IN_PLACE

CHANGING_FIRST: frozenset[object] = frozenset({
    operator.setitem, operator.delitem, *IN_PLACE, np.copyto, np.put, np.place, np.putmask,
    np.fill_diagonal, np.put_along_axis,
})
ASKING: frozenset[object] = frozenset({isinstance, issubclass, callable, type, id})
READING: frozenset[object] = frozenset({getattr})
SETTING: frozenset[object] = frozenset({setattr, delattr})
STORING_ITEM, STORING_ATTRIBUTE = operator.setitem, setattr
CONTEXTS = (np.errstate, warnings.catch_warnings, contextlib.nullcontext)
LOOKING: frozenset[object] = frozenset({
    np.broadcast, np.nditer, np.geterr, np.seterr, time.time, time.perf_counter, time.monotonic,
    time.process_time, os.path.join, os.path.dirname, os.path.basename, os.path.abspath,
    os.path.exists, os.path.isfile, os.path.isdir, os.getcwd,
})
"""What tells something of the surroundings, or sets what the run puts back at its end."""
OF_WARNINGS: frozenset[object] = frozenset({
    *CONTEXTS, warnings.warn, warnings.simplefilter, warnings.filterwarnings,
})


def sets_plainly(cls: type) -> bool:
    """Say whether setting an attribute of an instance does no more than keep it."""
    return getattr(cls, "__setattr__", None) is getattr(object, "__setattr__", None)


def is_plain_class(value: object) -> bool:
    """Say whether calling a class makes an instance and calls ``__init__``, nothing else."""
    return isinstance(value, type) and type(value) is type and (
        getattr(value, "__new__", None) is getattr(object, "__new__", None)
        and sets_plainly(value) and hasattr(getattr(value, "__init__", None), "__code__")
    )
