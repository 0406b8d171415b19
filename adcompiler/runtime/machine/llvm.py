"""LLVM IR made machine code by llvmlite, and machine code loaded: ORC with JITLink."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.machine.finite import FINITE
from adcompiler.runtime.machine.support import PRODUCTS, STORAGE
from adcompiler.runtime.machine.threads import Threads, Turns

ARENA = "ADCOMPILER_ARENA"
MOST_RESULTS = 256
API_OF_ARRAYS = {
    "adcompiler_array_new": 93, "adcompiler_array_copy": 85, "adcompiler_array_base": 282,
}
"""Where NumPy's table of functions for C has those that are called."""
STORAGE_EXPORTS = (
    "adcompiler_block", "adcompiler_free", "adcompiler_result", "adcompiler_view",
    "adcompiler_hold", "adcompiler_drain", "adcompiler_limit", "adcompiler_in_threads",
    "adcompiler_help", "adcompiler_finite",
)
SUPPORT = STORAGE + FINITE
NOT_DONE = tuple((False, *(None,) * (count - 1)) for count in range(MOST_RESULTS + 1))
"""What loops return that give up, by how many results they have."""


class MethodDef(ctypes.Structure):
    """A function as Python's C interface describes it."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL, ONE_ARGUMENT = 0x80, 0x8


@functools.cache
def engine() -> Engine:
    """Return the one engine of the process. Raises what importing llvmlite raises."""
    return Engine()


class Engine:
    """Compiles LLVM IR for this machine, and loads what was compiled."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        self.llvm = llvm
        self.lock = Turns()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
        self.features = features.flatten()
        self.triple = llvm.get_process_triple()
        self.versions = (llvmlite.__version__, *llvm.llvm_version_info)
        self.loaded: list[Any] = []
        self.count = 0
        self.jit = llvm.create_lljit_compiler(self.target(), use_jit_link=True)
        self.symbols = symbols_of_python()
        self.has_storage = False
        self.finite: Any = None
        # It is never let go of: arrays of the loops may end after everything else.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def target(self) -> Any:
        """Return a description of this machine for LLVM."""
        return self.llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, reloc="pic", codemodel="small", jit=True)

    @property
    def state(self) -> str:
        """What machine code depends on beside the text that it is of."""
        return json.dumps([
            self.versions, self.triple, self.cpu, self.features, sys.version_info[:2],
            np.__version__.partition(".")[0],
        ])

    def compiled(self, text: str) -> bytes:
        """Return the machine code of LLVM IR."""
        llvm = self.llvm
        with self.lock:
            module = llvm.parse_assembly(text)
            module.triple = self.triple
            target = self.target()
            module.data_layout = str(target.target_data)
            module.verify()
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.slp_vectorization = True
            options.loop_interleaving = options.loop_unrolling = True
            builder = llvm.create_pass_builder(target, options)
            builder.getModulePassManager().run(module, builder)
            found: bytes = target.emit_object(module)
            return found

    def library(self, code: bytes, exports: Sequence[str]) -> dict[str, int]:
        """Load machine code, for good, and return the addresses of what it exports."""
        with self.lock:
            builder = self.llvm.JITLibraryBuilder()
            builder.add_object_img(code)
            builder.add_current_process()
            for name, address in self.symbols.items():
                builder.import_symbol(name, address)
            for name in exports:
                builder.export_symbol(name)
            self.count += 1
            found = builder.link(self.jit, f"adcompiler_{self.count}")
            self.loaded.append(found)
            return {name: found[name] for name in exports}

    def add_storage(self, code: bytes | None = None) -> bytes | None:
        """Load what hands out storage, once: kept code, or that of its text, which is returned."""
        with self.lock:
            if self.has_storage:
                return None
            made = self.compiled(SUPPORT) if code is None else None
            found = self.library(code or made or b"", STORAGE_EXPORTS)
            self.symbols |= found
            self.finite = self.builtin(
                "finite", found["adcompiler_finite"], ONE_ARGUMENT, None)
            threads.help_with = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(found["adcompiler_help"])
            limit = ctypes.c_int64.from_address(found["adcompiler_limit"])
            with contextlib.suppress(ValueError, OverflowError):
                limit.value = max(0, int(float(os.environ.get(ARENA, "256")) * 2**20))
            self.has_storage = True
            return made

    def add_products(self) -> None:
        """Load what computes products of matrices, by the BLAS that SciPy has."""
        with self.lock:
            if "adcompiler_dot" not in self.symbols:
                self.symbols |= symbols_of_blas()
                found = self.library(self.compiled(PRODUCTS), ["adcompiler_dot"])
                self.symbols |= found

    def function(
        self, code: bytes, symbol: str, name: str, owner: Any, called: Sequence[Callable[..., Any]]
    ) -> Any:
        """Return machine code as a function of Python's, which may ask its ``owner``.

        ``called`` are the functions in Python that it calls.
        """
        self.add_storage()
        if b"adcompiler_dot" in code:
            self.add_products()
        slots = [f"adcompiler_host_{i}" for i, _ in enumerate(called)]
        addresses = self.library(code, [symbol, *slots])
        for slot, function in zip(slots, called, strict=True):
            target: Any = ctypes.py_object.from_address(addresses[slot])
            target.value = function
        self.loaded.append(called)
        return self.builtin(name, addresses[symbol], FASTCALL, owner)

    def builtin(self, name: str, address: int, flags: int, owner: Any) -> Any:
        """Return what is at an address as a function of Python's."""
        definition = MethodDef(name.encode(), address, flags, None)
        self.loaded.append(definition)
        make: Any = ctypes.pythonapi.PyCFunction_NewEx
        make.argtypes = (ctypes.POINTER(MethodDef), ctypes.py_object, ctypes.py_object)
        make.restype = ctypes.py_object
        return make(ctypes.byref(definition), owner, None)


def symbols_of_python() -> dict[str, int]:
    """Return the addresses of what machine code needs of NumPy, and of objects of Python's."""
    umath = importlib.import_module(
        "numpy._core._multiarray_umath" if hasattr(np, "_core") else
        "numpy.core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    table = ctypes.cast(pointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    found = {name: table[place] or 0 for name, place in API_OF_ARRAYS.items()}
    check_layouts()
    return found | {
        "adcompiler_type_of_arrays": id(np.ndarray), "adcompiler_type_of_floats": id(np.float64),
        "adcompiler_type_of_integers": id(np.int64),
        "adcompiler_submit": id(submit), "adcompiler_gave_up": ctypes.addressof(GAVE_UP),
    }


GAVE_UP = ctypes.py_object(NOT_DONE)
threads = Threads()
submit = threads.submit
"""What machine code calls with a job, and with how many blocks it has."""


def check_layouts() -> None:
    """Raise ImportError unless objects lie in memory as the loops take them apart."""
    def word(of: Any, at: int, kind: Any = ctypes.c_int64) -> Any:
        return kind.from_address(id(of) + at).value

    x = np.zeros((3, 5))
    lengths, strides = (
        (ctypes.c_int64 * 2).from_address(word(x, at)) for at in (32, 40))
    description = word(x, 56)
    integer, truth, number, items = np.int64(-7), np.dtype(bool), np.float64(2.5), (x, 1.5)
    flags = word(x, 64, ctypes.c_int32)
    if not (
        word(x, 8) == id(np.ndarray) and word(x, 16) == x.ctypes.data
        and word(x, 24, ctypes.c_int32) == 2 and tuple(lengths) == (3, 5)
        and tuple(strides) == x.strides and description == id(x.dtype) and flags & 0x101 == 0x101
        and not word(x.T, 64, ctypes.c_int32) & 1
        and word(x.dtype, 26, ctypes.c_char) == b"=" and word(x.dtype, 28, ctypes.c_int32) == 12
        and word(truth, 26, ctypes.c_char) == b"|" and word(integer, 16) == -7
        and word(number, 16, ctypes.c_double) == 2.5 and word(1.5, 16, ctypes.c_double) == 1.5
        and word(items, 24) == id(x)
    ):
        raise ImportError("objects of this Python or NumPy lie in memory in another way")


def symbols_of_blas() -> dict[str, int]:
    """Return the addresses of functions of BLAS, as SciPy's compiled modules hand them on."""
    from adcompiler.runtime.sparse.blas import blas

    return {f"adcompiler_{name}": address for name, address in blas().items()}
