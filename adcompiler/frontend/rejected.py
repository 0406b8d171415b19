"""Forms outside the accepted language: what each is called, why, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Rejection(NamedTuple):
    """Why a form is rejected; ``anchor`` is a section of ``docs/limitations.md``."""

    problem: str
    hint: str
    anchor: str


STATEMENTS: dict[str, Rejection] = {
    "Try": Rejection(
        "try statements are not supported yet",
        "test beforehand, with `if`, for what would raise", "try",
    ),
    "TryStar": Rejection(
        "try statements are not supported yet",
        "test beforehand, with `if`, for what would raise", "try",
    ),
    "With": Rejection(
        "with statements are not supported yet",
        "enter the context where the derivative is called", "with",
    ),
    "Match": Rejection(
        "match statements are not supported yet", "use if and elif", "match",
    ),
    "Delete": Rejection(
        "del is not supported yet",
        "leave a name to go when the function returns; make a new list or dict without the entry",
        "in-place-containers",
    ),
    "Global": Rejection(
        "global declarations are not supported yet",
        "pass the value as an argument and return its new value", "global-nonlocal",
    ),
    "Nonlocal": Rejection(
        "nonlocal declarations are not supported yet",
        "pass the value as an argument and return its new value", "global-nonlocal",
    ),
    "ClassDef": Rejection(
        "class definitions inside a differentiated function are not supported",
        "define the class in the module", "classes",
    ),
    "AsyncFunctionDef": Rejection(
        "async functions are not supported", "write a plain function", "generators",
    ),
    "AsyncFor": Rejection("async for is not supported", "use a plain for loop", "generators"),
    "AsyncWith": Rejection("async with is not supported", "write plain code", "generators"),
}

EXPRESSIONS: dict[str, Rejection] = {
    "Yield": Rejection(
        "generators are not supported", "return a list, made by a comprehension", "generators"
    ),
    "YieldFrom": Rejection(
        "generators are not supported", "return a list, made by a comprehension", "generators"
    ),
    "Await": Rejection("await is not supported", "call a plain function", "generators"),
    "GeneratorExp": Rejection(
        "a generator expression is supported only as the argument of a call",
        "use a list comprehension: [...]", "generators",
    ),
}

REBOUND_CAPTURE = Rejection(
    "`{name}` is read by the function made here, and assigned again later",
    "give the later value another name, or pass `{name}` as an argument", "closure-rebinding",
)

RELATIVE_IMPORT = Rejection(
    "a relative import inside a function is not supported",
    "import at the top of the module", "imports",
)
OTHER_SYNTAX = Rejection(
    "{name} is not supported", "define it in the module", "classes",
)

LEAVING_ELSE = Rejection(
    "`break` or `continue` in the `else` of a `while` whose test uses `:=`",
    "assign in front of the loop and at its end instead of in the test", "walrus-else",
)
