"""Forms outside the accepted language: what each is called, why, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Rejection(NamedTuple):
    """Why a form is rejected; ``anchor`` is a section of ``docs/limitations.md``."""

    problem: str
    hint: str
    anchor: str


ARRAY_WRITE = Rejection(
    "writing into an array or container is not supported yet",
    "build the value in one expression, e.g. with np.where, np.stack or a list comprehension",
    "array-writes",
)
ATTRIBUTE_WRITE = Rejection(
    "assigning to an attribute is not supported yet",
    "keep the value in a local variable and return it",
    "array-writes",
)

STATEMENTS: dict[str, Rejection] = {
    "Try": Rejection(
        "try statements are not supported yet",
        "test the condition that would raise with `if`", "try",
    ),
    "TryStar": Rejection(
        "try statements are not supported yet",
        "test the condition that would raise with `if`", "try",
    ),
    "With": Rejection(
        "with statements are not supported yet",
        "enter the context around the call of the differentiated function", "with",
    ),
    "Match": Rejection(
        "match statements are not supported yet", "use if/elif", "match",
    ),
    "Delete": Rejection(
        "del is not supported yet", "let the name go out of scope", "in-place-containers",
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
        "define the class at module level", "classes",
    ),
    "AsyncFunctionDef": Rejection(
        "async functions are not supported", "write a plain function", "generators",
    ),
    "AsyncFor": Rejection("async for is not supported", "use a plain for loop", "generators"),
    "AsyncWith": Rejection("async with is not supported", "use plain code", "generators"),
}

EXPRESSIONS: dict[str, Rejection] = {
    "Yield": Rejection("generators are not supported", "return a list", "generators"),
    "YieldFrom": Rejection("generators are not supported", "return a list", "generators"),
    "Await": Rejection("await is not supported", "write a plain function", "generators"),
    "GeneratorExp": Rejection(
        "a generator expression is supported only as the argument of sum, min, max, any, all, "
        "list, tuple, set, dict, sorted or str.join",
        "use a list comprehension: [...]", "generators",
    ),
}

REBOUND_CAPTURE = Rejection(
    "`{name}` is captured by the function made here but assigned again later",
    "give the later value another name, or pass `{name}` as an argument", "closure-rebinding",
)
