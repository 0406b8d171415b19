"""Forms outside the accepted language: what each is called, why, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Rejection(NamedTuple):
    """Why a form is rejected; ``anchor`` is a section of ``docs/limitations.md``."""

    problem: str
    hint: str
    anchor: str


ATTRIBUTE_DELETION = Rejection(
    "deleting an attribute is not supported", "assign None to it", "attributes",
)
GLOBAL_DELETION = Rejection(
    "deleting a global variable is not supported", "assign None to it", "global-nonlocal",
)
OUTER_NONLOCAL = Rejection(
    "`{name}` belongs to a function outside of what is compiled, and is assigned here",
    "pass the value as an argument and return its new value", "global-nonlocal",
)
ESCAPING_STATE = Rejection(
    "a function that assigns `{name}` of the function around it is used other than by calling it "
    "by its name",
    "call it by its name, below its definition; or pass the value as an argument and return its "
    "new value", "global-nonlocal",
)
CHANGED_BEFORE_EXCEPTION = Rejection(
    "`{name}` is changed by a function called in this `try`, and read after an exception",
    "assign it in the handler, or return the new value from the function", "try",
)
ASSIGNED_AND_RAISED = Rejection(
    "`{name}` is assigned in this statement of a `try`, of which more may raise after that",
    "assign it in a statement of its own", "try",
)
GENERATOR_AGAIN = Rejection(
    "this generator is used where its elements may be asked for later, or a second time",
    "use a list comprehension: [...]", "generators",
)
GENERATOR_LEFT = Rejection(
    "a generator function whose `while` need not end is run through in pieces, or left by `break`",
    "write the loop where it is used, or let the function return a list", "generators",
)
GENERATOR_OF_ARRAYS = Rejection(
    "a loop runs over what a generator function yields, which it may write into meanwhile",
    "make a list of it first: list(...)", "generators",
)
GENERATOR_OF_GLOBAL = Rejection(
    "a generator function reads the global `{name}`, which is assigned while its items are used",
    "make a list of it first: list(...)", "generators",
)
REBOUND_GENERATOR = Rejection(
    "`{name}` is read by the generator expression made here, and assigned again later",
    "use a list comprehension: [...]", "generators",
)

STATEMENTS: dict[str, Rejection] = {
    "TryStar": Rejection(
        "except* is not supported",
        "use except", "try",
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
}

REBOUND_CAPTURE = Rejection(
    "`{name}` is read by the function made here, and assigned again later",
    "give the later value another name, or pass `{name}` as an argument", "closure-rebinding",
)

CALL_ONE_ANOTHER = Rejection(
    "`{name}` calls a function made beside it, which calls `{name}` again",
    "define both outside of this function, with what they read as arguments", "call-one-another",
)
OTHER_SYNTAX = Rejection(
    "{name} is not supported", "define it in the module", "classes",
)

CLASS_WITH_EFFECTS = Rejection(
    "the class `{name}`, defined inside of a function, has more in its body than methods and "
    "literals, or keywords", "define the class in the module", "classes",
)

LEAVING_ELSE = Rejection(
    "`break` or `continue` in the `else` of a `while` whose test uses `:=`",
    "assign in front of the loop and at its end instead of in the test", "walrus-else",
)
