"""A sparse derivative as the text of one module: derivative code, pattern and decompression."""

from __future__ import annotations

import base64
import dis
import re
import types
import zlib
from collections.abc import Iterator, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from adcompiler.api.sparse.written_values import text_of_value
from adcompiler.backends.python.printer.merge import merge
from adcompiler.dispatch import Compiled, Specialisations
from adcompiler.errors import ADError
from adcompiler.sparsity.coloring.coloring import Coloring
from adcompiler.sparsity.coloring.decompression import Decompression
from adcompiler.sparsity.coloring.flattening import is_column, is_row, real_dtype

SHORT = 64
"""Arrays of up to so many numbers are written as lists."""

WIDTH = 88
DECODED = '''
def decoded(text):
    """Return the integers in `text`: their differences, compressed, in base 85."""
    return np.cumsum(np.frombuffer(zlib.decompress(base64.b85decode(text)), "<i8"))
'''
LOCAL = frozenset({
    "arguments", "seeds", "used", "value", "columns", "rows", "residuals", "data", "entry",
    "mirror", "leaf", "hub", "found", "each", "i", "constants",
})
"""Names in the function: where parameters have them, these are put into a tuple first."""

CELL = re.compile(r"\bcell_value\((\w+), (\d+)\)")
"""How emitted code reads what a function that is used inside holds in its closure."""

FLATTENING = ("flat", "is_column", "is_row", "unflat")


class SparseModule:
    """Writes the module of a sparse Jacobian or Hessian for certain arguments."""

    def __init__(
        self, forms: Specialisations, wanted: Sequence[Any], coloring: Coloring,
        decompression: Decompression, is_hessian: bool,
    ) -> None:
        self.s = forms
        self.wanted = wanted
        self.coloring = coloring
        self.decompression = decompression
        self.is_hessian = is_hessian
        self.kind = "Hessian" if is_hessian else "Jacobian"
        self.name = self.s.target.function.__name__.replace("<lambda>", "function")
        self.dtype = real_dtype(wanted, is_column)
        self.arrays: list[str] = []
        self.captured: dict[int, str] = {}
        self.emitted = ""
        self.body: list[str] = []
        self.texts: list[str] = []
        self.imports = {"import numpy as np", "import scipy.sparse as sp"}

    def text(self, forward: Compiled | None, reverse: Compiled | None, value: Any) -> str:
        """Return the module; ``value`` is the function's result where it is pulled back."""
        shown = self.decompression.shown
        self.emitted = "".join(one.text for one in (forward, reverse) if one is not None)
        places = "(ROWS, COLUMNS)"
        if shown.format == "coo":
            self.array("ROWS", shown.row)
            self.array("COLUMNS", shown.col)
        else:
            places = "INDICES, INDPTR"
            self.array("INDPTR", shown.indptr)
            self.array("INDICES", shown.indices)
        names = [p.name for p in self.s.parameters]
        if not LOCAL.isdisjoint(names):
            self.body.append(f"arguments = [{', '.join(names)}]")
        self.check_shapes()
        parts = []
        if forward is not None and self.coloring.column_count:
            self.forward(forward)
            parts.append("columns")
        if reverse is not None and self.coloring.row_count:
            self.reverse(reverse, value)
            parts.append("rows")
        self.read(parts)
        self.body.append(
            f"return sp.{shown.format}_array((data, {places}), shape={tuple(shown.shape)})")
        return self.assembled()

    # -- parts of the function ---------------------------------------------------------------

    def check_shapes(self) -> None:
        """Write a test that the differentiated arrays have the shapes that the pattern is for."""
        for name, value in zip(self.names(), self.wanted, strict=True):
            if isinstance(value, np.ndarray):
                self.body += [
                    f"if {name}.shape != {value.shape}:",
                    f'    raise ValueError("{name} has another shape than {value.shape}")',
                ]

    def forward(self, compiled: Compiled) -> None:
        """Write the derivatives along the sums of the columns of each color."""
        coloring = self.coloring
        count, size = coloring.column_count, coloring.pattern.shape[1]
        self.seeds("COLORS", coloring.columns, count)
        entry, given = self.entry(compiled), self.passed(compiled)
        parts = self.parts_of_seeds(size)
        constants = compiled.report.get("constants", [])
        alone = len(constants) == 1
        if constants:
            self.body += [
                f"constants = {constants[0]}({', '.join([*given, parts])})",
                f"{'columns' if alone else 'value, columns'} = "
                f"{entry}({', '.join([*given, 'constants'])})",
            ]
        elif compiled.report.get("seeds"):  # code of one seed
            self.imports.add("from adcompiler.runtime.batches import seed_of, stacked")
            each = f"*seed_of(({parts},), i)"
            self.body += [
                f"each = [{entry}({', '.join([*given, each])}) for i in range({count})]",
                "value, columns = each[0][0], stacked([along for _, along in each])",
            ]
        else:
            self.body.append(f"value, columns = {entry}({', '.join([*given, parts])})")
        if self.is_hessian:
            self.of_arguments("columns", count)
            return
        height = coloring.pattern.shape[0]
        self.body.append(
            f"columns = np.reshape(columns, ({count}, {height}))" if alone else
            f'columns = flat(columns, value, {count}, "{self.dtype.name}", is_row)')

    def reverse(self, compiled: Compiled, value: Any) -> None:
        """Write the cotangents pulled back from the sums of the rows of each color."""
        coloring = self.coloring
        count = coloring.row_count
        self.seeds("ROW_COLORS", coloring.rows, count, real_dtype(value, is_row))
        entry = self.entry(compiled)
        pullback = entry.removesuffix("_augmented") + "_pullback"
        self.body.append(f"value, residuals = {entry}({', '.join(self.passed(compiled))})")
        if isinstance(value, np.ndarray) and value.ndim == 1:
            seeds = "seeds"
        elif isinstance(value, np.ndarray):
            seeds = f"seeds.reshape({(count, *value.shape)})"
        else:
            seeds = "unflat(seeds, value, is_row)"
        if compiled.report.get("seeds"):  # code of one seed
            self.imports.add("from adcompiler.runtime.batches import seed_of, stacked")
            each = f"{pullback}(residuals, seed_of({seeds}, i)) for i in range({count})"
            self.body.append(f"rows = stacked([{each}])")
        else:
            self.body.append(f"rows = {pullback}(residuals, {seeds})")
        self.of_arguments("rows", count)

    def seeds(self, name: str, colors: np.ndarray, count: int, dtype: type | None = None) -> None:
        """Write the seeds: indicators of the colors."""
        self.array(name, colors)
        name_of_dtype = np.dtype(self.dtype if dtype is None else dtype).name
        self.body += [
            f'seeds = np.zeros(({count}, {colors.size}), "{name_of_dtype}")',
            f"used = np.flatnonzero({name} >= 0)",
            f"seeds[{name}[used], used] = 1.0",
        ]

    def parts_of_seeds(self, size: int) -> str:
        """Return the seeds as arguments, one for each of what is differentiated."""
        count = self.coloring.column_count
        if not all(map(is_column, self.wanted)):
            return f"*unflat(seeds, {self.like()}, is_column)"
        found, start = [], 0
        for value in self.wanted:
            stop = start + np.size(value)
            part = "seeds" if stop - start == size else f"seeds[:, {start}:{stop}]"
            if np.ndim(value) != 1:
                part += f".reshape({(count, *np.shape(value))})"
            found.append(part)
            start = stop
        return ", ".join(found)

    def of_arguments(self, name: str, count: int) -> None:
        """Write derivatives of the arguments as rows of numbers."""
        if len(self.wanted) == 1 and is_column(self.wanted[0]):
            inner = name if self.s.single else f"{name}[0]"
            size = np.size(self.wanted[0])
            self.body.append(f"{name} = np.reshape({inner}, ({count}, {size}))")
            return
        found = f"[{name}]" if self.s.single else name
        self.body.append(
            f'{name} = flat({found}, {self.like()}, {count}, "{self.dtype.name}", is_column)')

    def read(self, parts: Sequence[str]) -> None:
        """Write how the nonzeros are read from the compressed derivatives."""
        found = self.decompression
        if not parts:
            self.body.append(f'data = np.zeros({found.shown.nnz}, "{self.dtype.name}")')
        elif self.coloring.kind == "acyclic":
            self.substituted()
        else:
            self.array("PLACES", found.at)
            joined = f"np.concatenate([{', '.join(f'{part}.ravel()' for part in parts)}])"
            numbers = f"{parts[0]}.ravel()" if len(parts) == 1 else joined
            self.body.append(f"data = {numbers}[PLACES]")

    def substituted(self) -> None:
        """Write the substitution of an acyclic coloring."""
        found = self.decompression
        self.array("DIAGONAL", found.diagonal)
        self.array("ON", found.row[found.diagonal])
        at = found.order
        self.array("ENTRIES", found.off[at])
        self.array("MIRRORS", found.off[found.mirror[at]])
        self.array("LEAVES", found.owner[at])
        self.array("HUBS", found.indices[at])
        self.body += [
            f"data = np.zeros({found.row.size}, columns.dtype)",
            "data[DIAGONAL] = columns[COLORS[ON], ON]",
            "columns = np.array(columns)",
            "for entry, mirror, leaf, hub in zip(ENTRIES, MIRRORS, LEAVES, HUBS):",
            "    found = columns[COLORS[hub], leaf]",
            "    data[entry] = data[mirror] = found",
            "    columns[COLORS[hub], leaf] -= found",
            "    columns[COLORS[leaf], hub] -= found",
        ]
        if not isinstance(found.chosen, slice):
            self.array("CHOSEN", found.chosen)
            self.body.append("data = data[CHOSEN]")

    # -- names ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return how the values that are differentiated are written."""
        return [self.given()[i] for i in self.s.wrt]

    def given(self) -> list[str]:
        """Return all parameters, as the emitted functions take them."""
        names = [p.name for p in self.s.parameters]
        if LOCAL.isdisjoint(names):
            return names
        return [f"arguments[{i}]" for i in range(len(names))]

    def passed(self, compiled: Compiled) -> list[str]:
        """Return what an emitted function is given in front of seeds: what it captured is last."""
        return [*self.given(), *(
            self.constant(name, cell.cell_contents)
            for name, cell in zip(compiled.captured, self.s.cells(compiled), strict=True))]

    def constant(self, name: str, value: Any) -> str:
        """Return the name of a variable of the module that holds what a function captured."""
        found = self.captured.get(id(value))
        if found is not None:
            return found
        written = text_of_value(value)
        if written is None:
            raise ADError(
                f"{self.name} cannot be written as a module: no import reaches the variable "
                f"{name} of the function around it, which is no number or array. "
                "What to do: define it at the top level of a module."
            )
        text, imports = written
        taken = {*self.captured.values(), *(p.name for p in self.s.parameters)}
        found = f"{name}_captured"
        while found in taken or found in self.emitted:
            found += "_"
        self.captured[id(value)] = found
        self.arrays.append(f"{found} = {text}")
        self.imports |= imports
        return found

    def like(self) -> str:
        """Return a list of the values that are differentiated."""
        return f"[{', '.join(self.names())}]"

    def signature(self) -> str:
        """Return the parameters with those defaults that can be written."""
        bare = [p.replace(annotation=Parameter.empty) for p in self.s.parameters]
        writable = [p.default is Parameter.empty or p.default is None
                    or type(p.default) in (bool, int, float, str) for p in bare]
        kept = [
            p if all(writable[i:]) else p.replace(default=Parameter.empty)
            for i, p in enumerate(bare)
        ]
        found: list[str] = []
        for p in kept:
            starred = any(text.startswith("*") for text in found)
            if p.kind is p.KEYWORD_ONLY and not starred:
                found.append("*")
            found.append(str(p))
        return ", ".join(found)

    def entry(self, compiled: Compiled) -> str:
        """Return the name of an emitted function, whose module becomes part of this one."""
        self.texts.append(self.with_cells(compiled))
        return compiled.entry.__name__

    def with_cells(self, compiled: Compiled) -> str:
        """Return the text of emitted code with variables in place of what closures hold.

        Functions that are called, and not only asked for what they hold, are left as they are.
        """
        def read(match: re.Match[str]) -> str:
            function, index = compiled.bound.get(match[1]), int(match[2])
            if not isinstance(function, types.FunctionType):
                return match[0]
            value = (function.__closure__ or ())[index].cell_contents
            return self.constant(function.__code__.co_freevars[index], value)

        return CELL.sub(read, compiled.text)

    # -- text ----------------------------------------------------------------------------------

    def array(self, name: str, numbers: np.ndarray) -> None:
        """Write an array of integers: a list, or a text if it is long."""
        numbers = np.asarray(numbers, dtype="<i8")
        if numbers.size <= SHORT:
            self.arrays.append(f"{name} = np.array({numbers.tolist()}, dtype=int)")
            return
        self.imports |= {"import base64", "import zlib"}
        packed = zlib.compress(np.diff(numbers, prepend=0).astype("<i8").tobytes(), 9)
        text = base64.b85encode(packed).decode()
        lines = [f'    "{text[i : i + WIDTH]}"' for i in range(0, len(text), WIDTH)]
        self.arrays.append("\n".join([f"{name} = decoded(  # {numbers.size} numbers", *lines, ")"]))

    def assembled(self) -> str:
        """Return the whole module."""
        pattern = self.decompression.shown
        own = f"{self.name}_sparse_{self.kind.lower()}"
        names = ", ".join(self.s.parameters[i].name for i in self.s.wrt)
        shape = f"{pattern.shape[0]} x {pattern.shape[1]}, {pattern.nnz} nonzeros"
        function = [
            f"def {own}({self.signature()}):",
            f'    """Return the {self.kind} of `{self.name}` with respect to {names}: {shape}."""',
            *(f"    {line}" for line in self.body),
        ]
        helpers = [DECODED.strip()] if any("= decoded(" in one for one in self.arrays) else []
        used = [name for name in FLATTENING if re.search(rf"\b{name}\b", "\n".join(self.body))]
        if used:
            names = ", ".join(used)
            self.imports.add(f"from adcompiler.sparsity.coloring.flattening import {names}")
        head = "\n".join(sorted(self.imports))
        merged = merge([head, *self.texts, *helpers, "\n".join(function)])
        imports, *functions = merged.rstrip("\n").split("\n\n\n")
        place = len(helpers)
        split = [f for f in functions if f.startswith("def decoded(")][:place]
        others = [f for f in functions if f not in split]
        text = "\n\n\n".join([imports, *split, "\n".join(self.arrays), *others]) + "\n"
        unreached = sorted(set(missing_names(text)))
        if unreached:
            raise ADError(
                f"{self.name} cannot be written as a module: no import reaches what it uses "
                f"({', '.join(unreached)}). What to do: define it at the top level of a module."
            )
        return text


def missing_names(text: str) -> Iterator[str]:
    """Yield the global names that the functions of a module use and that it does not have."""
    code = compile(text, "<module>", "exec")
    stored = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}
    waiting = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    builtin = set(dir(__import__("builtins")))
    while waiting:
        inner = waiting.pop()
        waiting += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
        for instruction in dis.get_instructions(inner):
            name = instruction.argval
            if instruction.opname == "LOAD_GLOBAL" and name not in stored and name not in builtin:
                yield name
