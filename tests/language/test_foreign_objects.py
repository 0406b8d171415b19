"""Objects that raise when they are asked what they are: of unknown type, and no defect."""

import importlib.util
import sys
from types import FunctionType, ModuleType

import numpy as np

from adcompiler import ADError, jacobian_sparsity, jvp, value_and_grad
from adcompiler.errors import InternalError


def raising(*names):
    """Return properties that raise."""
    def raises(self):
        raise RuntimeError("outside of its context")
    return dict.fromkeys(names, property(raises))


def raises(*args):
    raise RuntimeError("outside of its context")


def use(self, x):
    return 2.0 * x


class EqualityOfClasses(type):
    __eq__ = raises
    __hash__ = type.__hash__


class HashOfClasses(type):
    __hash__ = raises


class AttributesOfClasses(type):
    __getattr__ = raises


OBJECTS = {
    "attributes": type("A", (), {"__getattr__": raises, "use": use})(),
    "every_attribute": type("B", (), {"__getattribute__": raises})(),
    "class_": type("C", (), {**raising("__class__"), "use": use})(),
    "equality": type("D", (), {"__eq__": raises, "__hash__": None, "use": use})(),
    "hash_": type("E", (), {"__hash__": raises, "use": use})(),
    "truth": type("F", (), {"__bool__": raises, "use": use})(),
    "text": type("G", (), {"__repr__": raises, "use": use})(),
    "dict_": type("H", (), {**raising("__dict__", "p"), "use": use})(),
    "reduction": type("I", (), {"__reduce_ex__": raises, "use": use})(),
    "array": type("J", (), {**raising("shape", "dtype"), "__array__": raises, "use": use})(),
    "called": type("K", (), {
        **raising("__wrapped__", "__name__", "__self__", "__code__"), "__call__": use})(),
    "length": type("L", (list,), {"__len__": raises, "__iter__": raises})([1.0]),
    "items": type("M", (dict,), {"items": raises, "values": raises, "__iter__": raises})(a=1.0),
    "meta_attributes": AttributesOfClasses("N", (), {"use": use})(),
    "meta_equality": EqualityOfClasses("O", (), {"use": use})(),
    "meta_hash": HashOfClasses("P", (), {"use": use})(),
    "module": ModuleType("raising_module"),
}
OBJECTS["module"].__getattr__ = raises
OBJECTS["module"].use = lambda x: 2.0 * x

TEXT = """
def uses(x):
    return one.use(x) * x

def calls(x):
    return one(x) * x

def is_there(x):
    return x * 2.0 if one is not None else x * x

def has_default(x, o=one):
    return x * 2.0 if o is not None else x * x

several = [one, 1.0]

def in_a_list(x):
    return x * 2.0 * len(several)

def of_class(x):
    return x * 3.0 if isinstance(one, float) else x * 2.0

def asked(x):
    try:
        return x * 3.0 if hasattr(one, "zz") else x * 2.0
    except RuntimeError:
        return x * 5.0

def made():
    kept = one
    def in_a_cell(x):
        return x * 2.0 if kept is not None else x
    return in_a_cell

in_a_cell = made()
"""


def programs_with(one, path):
    """Return the functions of a module in which the object has a name."""
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    module.one = one
    spec.loader.exec_module(module)
    return {name: f for name, f in vars(module).items() if type(f) is FunctionType}


def test_objects_that_raise_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "raising_module", OBJECTS["module"])
    wrong = []
    for kind, one in OBJECTS.items():
        for name, function in programs_with(one, tmp_path / f"reads_{kind}.py").items():
            if name == "made" or (kind, name) == ("module", "calls"):
                continue
            try:
                wanted = function(1.5)
            except Exception as error:
                wanted = type(error)

            def in_array(v, function=function):
                return np.array([function(v[0])])

            for derivative in (
                lambda f=function: value_and_grad(f)(1.5)[0],
                lambda f=function: value_and_grad(f, backend="record")(1.5)[0],
                lambda f=function: jvp(f, (1.5,), (1.0,))[0],
                lambda f=in_array, w=wanted: jacobian_sparsity(f, np.ones(1)) is not None and w,
            ):
                try:
                    found = derivative()
                except ADError as error:
                    found = wanted if not isinstance(error, InternalError) else repr(error)[:200]
                except Exception as error:
                    found = type(error)
                if found is not wanted and found != wanted:
                    wrong.append(f"{kind}, {name}: {found} for {wanted}")
    assert not wrong, "\n".join(wrong)
