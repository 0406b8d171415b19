"""Writes the text of functions that were made by `exec` and only hand on what they are given.

Libraries make wrappers of the signature of what they wrap from texts that they do not keep. Such
code is a line of loads, calls and assignments, from which a text can be read off; whether it is the
text of the code is proved like that of any other one, by compiling it.
"""

from __future__ import annotations

import ast
import dis
import inspect
import zlib
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeVar

from adcompiler.ops.made_texts import keep_lines

Made = TypeVar("Made")
NULL = "\0"
"""Stands for what instructions push before a function that is called."""
CONSTANTS = (type(None), bool, int, float, str, bytes, type(Ellipsis))
COMPUTING = ("BINARY_OP", "BINARY_SUBSCR")
"""Instructions of code that does more than hand on what it is given."""
MOST = 200
"""Code of more instructions is no wrapper."""


def written(
    code: CodeType, proves: Callable[[Any], bool], source: Callable[..., Made],
    computes: bool = False,
) -> Made | None:
    """Return a ``source``, whose text is proved to be that of a function; None if it has none.

    It is that of a wrapper, which calls something, unless functions that compute count as well.
    """
    if not computes and (
        any(each.opname in COMPUTING for each in dis.get_instructions(code)) or not any(
            each.opname.startswith("CALL") for each in dis.get_instructions(code))
    ):
        return None
    text = expression_of(code) if code.co_name == "<lambda>" else text_of(code)
    if text is None:
        return None
    node = ast.parse(text).body[0]
    if not proves(node.value if isinstance(node, ast.Expr) else node):
        return None
    file = f"<wrapper {code.co_name.strip('<>')} {zlib.crc32(text.encode()):x}>"
    keep_lines(file, text)
    return source(file, 1, text, 0, code.co_name, (0, len(text)))


def text_of(code: CodeType) -> str | None:
    """Return a text of a function that may compile to its code; None if it does anything else."""
    instructions = list(dis.get_instructions(code))
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    if len(instructions) > MOST or not code.co_name.isidentifier():
        return None
    reader = Reader(code)
    try:
        for each in instructions:
            reader.read(each)
    except (Unreadable, IndexError, TypeError):
        return None
    body = "".join(f"    {line}\n" for line in reader.lines or ["pass"])
    return f"def {code.co_name}({parameters(code)}):\n{body}"


def expression_of(code: CodeType) -> str | None:
    """Return the text of a lambda that may compile to its code."""
    text = text_of(code.replace(co_name="made"))
    head, _, body = (text or "").partition("\n    return ")
    if not body or not head.startswith("def made(") or "\n" in body.rstrip("\n"):
        return None
    return f"lambda {head[len('def made('):-2]}: {body.rstrip()}"


def parameters(code: CodeType) -> str:
    """Return the parameters of a function, without defaults and annotations."""
    names = list(code.co_varnames)
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    found = names[:positional]
    if code.co_posonlyargcount:
        found.insert(code.co_posonlyargcount, "/")
    rest = names[positional + keywords :]
    if code.co_flags & inspect.CO_VARARGS:
        found.append(f"*{rest.pop(0)}")
    elif keywords:
        found.append("*")
    found += names[positional : positional + keywords]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found.append(f"**{rest.pop(0)}")
    return ", ".join(found)


class Unreadable(Exception):
    """An instruction that wrappers do not have."""


class Reader:
    """Reads expressions off instructions; ``stack`` has the texts of what lies there."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.stack: list[Any] = []
        self.names: tuple[str, ...] = ()
        self.lines: list[str] = []

    def read(self, each: dis.Instruction) -> None:
        """Take an instruction."""
        method = getattr(self, f"on_{each.opname.lower()}", None)
        if method is None:
            raise Unreadable(each.opname)
        method(each)

    def popped(self, count: int) -> list[Any]:
        """Take the last texts from the stack, in order."""
        if count > len(self.stack):
            raise Unreadable("stack")
        found = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return found

    def on_resume(self, each: dis.Instruction) -> None:
        """Nothing."""

    on_list_to_tuple = on_cache = on_precall = on_copy_free_vars = on_nop = on_resume

    def on_load_fast(self, each: dis.Instruction) -> None:
        """A variable, or two of them."""
        self.stack += map(str, each.argval if isinstance(each.argval, tuple) else (each.argval,))

    on_load_deref = on_load_fast_check = on_load_fast_load_fast = on_load_fast

    def on_load_global(self, each: dis.Instruction) -> None:
        """A global, called if something stands before it."""
        if each.argrepr.startswith("NULL + ") or each.argrepr.endswith(" + NULL"):
            self.stack.append(NULL)
        self.stack.append(str(each.argval))

    def on_push_null(self, each: dis.Instruction) -> None:
        """What stands before a function, or behind it."""
        self.stack.append(NULL)

    def on_load_const(self, each: dis.Instruction) -> None:
        """A constant."""
        value = each.argval
        if isinstance(value, tuple) and all(isinstance(item, CONSTANTS) for item in value):
            self.stack.append(value)
        elif isinstance(value, CONSTANTS):
            self.stack.append(repr(value))
        else:
            raise Unreadable("constant")

    def on_binary_op(self, each: dis.Instruction) -> None:
        """An operator of two values."""
        if each.argrepr.endswith("="):
            raise Unreadable("in place")
        left, right = map(self.text, self.popped(2))
        self.stack.append(f"({left} {each.argrepr} {right})")

    def on_binary_subscr(self, each: dis.Instruction) -> None:
        """An item."""
        owner, index = map(self.text, self.popped(2))
        self.stack.append(f"{owner}[{index}]")

    def on_load_attr(self, each: dis.Instruction) -> None:
        """An attribute."""
        owner = self.popped(1)[0]
        if "NULL|self" in each.argrepr:
            self.stack.append(NULL)
        self.stack.append(f"{owner}.{each.argval}")

    def on_load_method(self, each: dis.Instruction) -> None:
        """A method to be called."""
        owner = self.popped(1)[0]
        self.stack += [NULL, f"{owner}.{each.argval}"]

    def on_kw_names(self, each: dis.Instruction) -> None:
        """The names of the last arguments of the next call."""
        self.names = self.code.co_consts[each.arg or 0]

    def on_call(self, each: dis.Instruction) -> None:
        """A call."""
        given = [self.text(one) for one in self.popped(each.arg or 0)]
        self.called([*given[: len(given) - len(self.names)], *(
            f"{name}={value}" for name, value in zip(
                self.names, given[len(given) - len(self.names) :], strict=True))])

    def on_call_kw(self, each: dis.Instruction) -> None:
        """A call whose names lie on the stack."""
        self.names = self.popped(1)[0]
        self.on_call(each)

    def called(self, given: Sequence[str]) -> None:
        """Push a call of what lies below its arguments."""
        self.names = ()
        below = [one for one in self.popped(2) if one != NULL]
        if len(below) != 1 or any(not isinstance(one, str) for one in given):
            raise Unreadable("call")
        self.stack.append(f"{below[0]}({', '.join(given)})")

    def on_build_tuple(self, each: dis.Instruction) -> None:
        """A tuple of values."""
        self.stack.append([*self.popped(each.arg or 0)])

    on_build_list = on_build_tuple

    def on_list_extend(self, each: dis.Instruction) -> None:
        """Positional arguments that are spread."""
        spread = self.popped(1)[0]
        self.stack[-1].append(f"*{spread}")

    def on_call_intrinsic_1(self, each: dis.Instruction) -> None:
        """Positional arguments, complete, from Python 3.12 on."""
        if "LIST_TO_TUPLE" not in each.argrepr:
            raise Unreadable("intrinsic")

    def on_build_map(self, each: dis.Instruction) -> None:
        """Arguments by name."""
        given = self.popped(2 * (each.arg or 0))
        self.stack.append([f"{unquoted(name)}={value}" for name, value in zip(
            given[::2], given[1::2], strict=True)])

    def on_build_const_key_map(self, each: dis.Instruction) -> None:
        """Arguments by names that are constant."""
        names = self.popped(1)[0]
        self.stack.append([f"{name}={value}" for name, value in zip(
            names, self.popped(each.arg or 0), strict=True)])

    def on_dict_merge(self, each: dis.Instruction) -> None:
        """Arguments by name that are spread."""
        spread = self.popped(1)[0]
        if isinstance(spread, list):
            self.stack[-1] += spread
        else:
            self.stack[-1].append(f"**{spread}")

    def on_call_function_ex(self, each: dis.Instruction) -> None:
        """A call with arguments that are spread."""
        names = self.popped(1)[0] if (each.arg or 0) & 1 else []
        given = self.popped(1)[0]
        if isinstance(given, str):
            given = [f"*{given}"]
        self.called([*(one if isinstance(one, str) else repr(one) for one in given), *names])

    def on_return_value(self, each: dis.Instruction) -> None:
        """The end of a line: what is returned, assigned, or called for its effect."""
        if each.opname == "RETURN_CONST":
            self.on_load_const(each)
        start = {"POP_TOP": ""}.get(each.opname, f"{each.argval} = ")
        start = "return " if each.opname.startswith("RETURN") else start
        self.lines.append(start + self.text(self.popped(1)[0]))

    on_store_fast = on_pop_top = on_return_const = on_return_value

    def text(self, value: Any) -> str:
        """Return a value as text."""
        if isinstance(value, list):
            inside = ", ".join(value)
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        if value == NULL:
            raise Unreadable("nothing")
        return value if isinstance(value, str) else repr(value)


def unquoted(name: str) -> str:
    """Return the name that a constant text holds."""
    if not (isinstance(name, str) and name[:1] == name[-1:] == "'" and name[1:-1].isidentifier()):
        raise Unreadable("name")
    return name[1:-1]
