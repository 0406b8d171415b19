"""``is`` is decided only where types tell it: of numbers, texts and tuples it is refused."""

import importlib.util
import warnings

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad


def written(folder, *conditions):
    """Return functions that branch on conditions, made of text: Python warns of such literals."""
    made = {}
    for condition in conditions:
        text = f"def f(x, m=None):\n    y, k = x, 2.5\n    return 3 * x if {condition} else x * x\n"
        made[condition] = loaded(folder / f"identity_{len(list(folder.iterdir()))}.py", text)
    return made


def loaded(path, text):
    """Return the function that a new module defines."""
    path.write_text("import numpy as np\n\n\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        spec.loader.exec_module(module)
    return module.f


def test_identity_that_types_decide(tmp_path):
    for given, conditions in {
        None: ("m is None", "m is not None", "m is np.sin", "x is x", "x is y", "x is None"),
        True: ("m is True", "m is False", "m is not None"),
        2: ("m is True", "m is 'a'", "m is 1.0"),
        "a": ("m is None", "m is 1", "m is ()"),
        np.sin: ("m is np.sin", "m is np.cos"),
        ...: ("m is ...",),
    }.items():
        for condition, f in written(tmp_path, *conditions).items():
            wanted = 3.0 if f(1.25, given) == 3.75 else 2.5
            assert grad(f)(1.25, given) == wanted, condition


def test_identity_of_numbers_texts_and_tuples_is_refused(tmp_path):
    for given, conditions in {
        "a": ("m is 'a'", "m is not 'a'"),
        3: ("m is 3", "3 is m"),
        2.5: ("m is 2.5", "m is x"),
        (1, 2): ("m is (1, 2)",),
        np.nan: ("m is np.nan",),
        None: ("k is 2.5", "x * 2 is x * 2"),
    }.items():
        for condition, f in written(tmp_path, *conditions).items():
            with pytest.raises(UnsupportedError, match="`is` asks here"):
                print(condition, grad(f)(1.25, given))
