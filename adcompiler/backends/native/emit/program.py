"""The text of a module's loops as one LLVM module: each function for each types it is given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adcompiler.backends.native.emit.arrays import DEFINED
from adcompiler.backends.native.emit.calls import DECLARED
from adcompiler.backends.native.emit.code import METADATA
from adcompiler.backends.native.emit.entry import ENTRY_DECLARED, entry
from adcompiler.backends.native.emit.functions import Frame, parameters, worker
from adcompiler.backends.native.emit.hosts import HOST_DECLARED, Host, host_function, read_host
from adcompiler.backends.native.emit.statements import Statements
from adcompiler.backends.native.emit.types import ArrayType, Inference, NotEmitted, Type, dotted
from adcompiler.support.structs import dataclass

COMPILED = ("compiled", "inlined", "in_parallel")
Key = tuple[str, tuple[Type, ...]]


@dataclass(frozen=True, slots=True)
class Emitted:
    """LLVM IR, the symbol of what Python calls, and the functions in Python that it calls itself.

    ``results`` is how many items the tuple has that it returns.
    """

    text: str
    symbol: str
    hosts: tuple[Host, ...]
    results: int


class Program:
    """The functions of a module's text, and those that are written of them so far."""

    def __init__(self, text: str) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        self.decorators: dict[str, str] = {}
        self.hosts: dict[str, Host] = {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1:
                self.functions[node.name] = node
                self.decorators[node.name] = dotted(node.decorator_list[0])
                if (host := read_host(node)) is not None:
                    self.hosts[node.name] = host
        self.inferred: dict[Key, Inference] = {}
        self.running: dict[Key, Type | None] = {}
        self.is_partial = False
        self.symbols: dict[Key, str] = {}
        self.waiting: list[Key] = []
        self.writing: dict[str, bool] = {}
        self.outermost = ""

    # -- types -----------------------------------------------------------------------------------

    def node(self, name: str) -> ast.FunctionDef:
        """Return the definition of a function."""
        if self.decorators.get(name) not in COMPILED:
            raise NotEmitted(f"a call of `{name}`")
        return self.functions[name]

    def returns(self, name: str, types: tuple[Type, ...]) -> Type | None:
        """Return the type of what a function gives, None if that is being found out."""
        if name in self.hosts:
            return self.hosts[name].returns
        key = (name, types)
        if key in self.running:
            self.is_partial = True
            return self.running[key]
        return self.infer(key).result

    def infer(self, key: Key) -> Inference:
        """Return the types of a function; of one that calls itself by taking them again."""
        if key in self.inferred:
            return self.inferred[key]
        name, types = key
        before, self.is_partial = self.is_partial, False
        self.running[key] = None
        found = Inference(self.node(name), types, self.returns)
        while found.result != self.running[key]:
            self.running[key] = found.result
            found = Inference(self.node(name), types, self.returns)
        del self.running[key]
        if not self.is_partial or not self.running:
            self.inferred[key] = found
        self.is_partial = before or (self.is_partial and bool(self.running))
        return found

    def symbol(self, name: str, types: tuple[Type, ...]) -> tuple[str, Type | None]:
        """Return what LLVM calls a function that is given these types, and what it returns."""
        key = (name, types)
        if self.symbols and name == self.outermost:
            raise NotEmitted("what Python calls calls itself")
        if key not in self.symbols:
            self.symbols[key] = f'@"{name}.{len(self.symbols)}"'
            self.waiting.append(key)
        return self.symbols[key], self.returns(name, types)

    def writes(self, name: str) -> bool:
        """Say whether a function may write into arrays that it is given."""
        if name not in self.writing:
            self.writing[name] = False
            self.writing[name] = name in self.functions and any(
                (isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store))
                or (isinstance(one, ast.Call) and self.writes(dotted(one.func)))
                for one in ast.walk(self.functions[name]))
        return self.writing[name]

    def is_in_threads(self, name: str) -> bool:
        """Say whether a function runs blocks of iterations in threads."""
        return self.decorators.get(name) == "in_parallel"

    # -- text ------------------------------------------------------------------------------------

    def emitted(self, name: str, types: Sequence[Type]) -> Emitted:
        """Return the LLVM IR of a function that Python calls with arguments of these types.

        Raises NotEmitted.
        """
        self.outermost = name
        symbol, result = self.symbol(name, tuple(types))
        if not isinstance(result, tuple):
            raise NotEmitted(f"`{name}` does not tell whether it came to its end")
        texts, used = [], []
        while self.waiting:
            key = self.waiting.pop()
            if key[0] in self.hosts:
                used.append(self.hosts[key[0]])
                texts.append(host_function(used[-1], self.symbols[key], key[1], len(used) - 1))
            else:
                texts.append(self.function(key))
        texts.append(entry(name, symbol, tuple(types), result, bool(self.hosts)))
        text = "\n".join([
            DECLARED, DEFINED, ENTRY_DECLARED, HOST_DECLARED if used else "", *texts, METADATA])
        return Emitted(text, f"adcompiler_entry_{name}", tuple(used), len(result))

    def function(self, key: Key) -> str:
        """Return the text of one function."""
        name, types = key
        inference = self.infer(key)
        node = inference.node
        frame = Frame(self, inference, name == self.outermost)
        given: list[str] = []
        for at, (param, type_) in enumerate(zip(node.args.args, types, strict=True)):
            only = isinstance(type_, ArrayType) and frame.storage.is_only_read(param.arg)
            given += parameters(type_, f"x{at}", "readonly " if only else "")
            has_block = isinstance(type_, ArrayType) and frame.is_outermost and bool(self.hosts)
            given += [f"ptr %x{at}.block"] if has_block else []
            frame.bind(param.arg, frame.parameter(f"x{at}", type_, has_block))
        if self.is_in_threads(name):
            given.append("ptr %job")
        Statements(frame).body(node.body)
        attributes = "alwaysinline nounwind" if self.decorators[name] == "inlined" else "nounwind"
        text = frame.finished(self.symbols[key], given, attributes)
        return text + worker(self.symbols[key], types) if self.is_in_threads(name) else text
