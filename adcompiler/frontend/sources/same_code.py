"""Tells whether a tree from a source text is the code of a live function.

The tree is compiled alone, in a scope like the one where the live code was compiled, and the
results are compared: bytecode, names and constants, but not positions.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import itertools
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

_VARARGS, _VARKEYWORDS = 0x04, 0x08
_SIGNATURE_FLAGS = _VARARGS | _VARKEYWORDS | 0x20 | 0x80 | 0x200  # generator, coroutine, both
_NEWLOCALS = 0x02  # functions have it, bodies of classes do not
_HAS_ATTR_BIT = sys.version_info >= (3, 12)
_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    # The flags of the ancient features are reused by CPython for other things (CO_NESTED).
    _flag = getattr(__future__, _feature).compiler_flag
    _FUTURE_FLAGS |= _flag if _flag > 0xFFFF else 0


def compiles_to(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    live: CodeType,
    module: dict[str, Any],
) -> bool:
    """Whether the node, compiled where the live code was, gives the live code.

    Decorators, defaults and annotations run outside the function: they are not its code. The
    node's lines are those of the file. CPython compiles ``name.method()`` in another way when the
    module imports ``name``, and ``super()`` when the module mentions it outside functions: both
    are first guessed, then read off the bytecode. Asserts that pytest rewrote when it imported the
    module are rewritten by it here, too.
    """
    bare, rewritten = _without_outside(node), _is_rewritten_by_pytest(live)
    for surroundings in (_guessed_module, _revealed_module):
        code = _compiled(bare, live, surroundings(live, module))
        if code is None:
            return False
        if same_code(code, live):
            return True
        if rewritten:
            code = _compiled(bare, live, surroundings(live, module), True)
            if code is not None and same_code(code, live):
                return True
    return False


def has_signature_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, live: CodeType
) -> bool:
    """Whether the node takes the live code's arguments: all that is asked after another proof."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += [each for each in (node.args.vararg, node.args.kwarg) if each]
    counts = (len(node.args.posonlyargs), len(node.args.kwonlyargs))
    return (
        counts == (live.co_posonlyargcount, live.co_kwonlyargcount)
        and all(name == each.arg or name.endswith(each.arg)  # a private one follows its class
                for name, each in zip(live.co_varnames, arguments, strict=False))
        and bool(node.args.vararg) == bool(live.co_flags & _VARARGS)
        and bool(node.args.kwarg) == bool(live.co_flags & _VARKEYWORDS)
    )


def _compiled(
    node: ast.stmt, live: CodeType, module: list[ast.stmt], rewritten: bool = False
) -> CodeType | None:
    """Return the code of the node compiled in the live code's scope, None when it cannot be.

    Its asserts may be ``rewritten`` by pytest.
    """
    wrapper, place, depth = scope_of(live)
    wrapper.body[:0] = module
    ast.fix_missing_locations(wrapper)  # before the node is in it, which has its locations
    place.append(copy.deepcopy(node) if rewritten else node)
    if rewritten and not _rewrite_asserts(wrapper, live.co_filename):
        return None
    flags = live.co_flags & _FUTURE_FLAGS
    try:
        code: CodeType = compile(wrapper, live.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    for _ in range(depth + 1):
        code = next(const for const in code.co_consts if isinstance(const, CodeType))
    return code


def _rewrite_asserts(module: ast.Module, file: str) -> bool:
    """Rewrite the asserts of a module as pytest does; return False where that is not loaded."""
    pytest = sys.modules.get("_pytest.assertion.rewrite")
    if pytest is None:
        return False
    try:
        pytest.rewrite_asserts(module, b"", file)
    except Exception:  # another version of pytest, with another interface
        return False
    return True


def _guessed_module(live: CodeType, module: dict[str, Any]) -> list[ast.stmt]:
    """Return imports of the names of modules among the live code's globals."""
    names = itertools.chain.from_iterable(code.co_names for code in codes(live))
    return _imports({name for name in names if issubclass(type(module.get(name)), ModuleType)})


def _revealed_module(live: CodeType, module: dict[str, Any]) -> list[ast.stmt]:
    """Return what the module must hold for the live code to be as it is."""
    operations = {each.opname for code in codes(live) for each in dis.get_instructions(code)}
    mentions = [] if "LOAD_SUPER_ATTR" in operations else ast.parse("super").body
    return _imports(_imported_names(live)) + mentions


def _imports(names: set[str]) -> list[ast.stmt]:
    return [ast.Import([ast.alias(name)]) for name in sorted(names)]


def _imported_names(live: CodeType) -> set[str]:
    """Return the names whose attributes the live code never loads as methods."""
    plain: set[str] = set()
    methods: set[str] = set()
    for code in codes(live):
        name = None
        for instruction in dis.get_instructions(code):
            is_method = instruction.opname == "LOAD_METHOD"
            if name and (is_method or instruction.opname == "LOAD_ATTR"):
                # From 3.12 on there is one instruction, and a bit tells them apart.
                is_method = is_method or bool(_HAS_ATTR_BIT and (instruction.arg or 0) & 1)
                (methods if is_method else plain).add(name)
            name = _loaded_name(instruction)
    return plain - methods


def _loaded_name(instruction: dis.Instruction) -> str | None:
    if not instruction.opname.startswith("LOAD_") or instruction.opname == "LOAD_CONST":
        return None
    loaded = instruction.argval  # 3.13 loads two variables by one instruction
    name = loaded[-1] if isinstance(loaded, tuple) else loaded
    return name if isinstance(name, str) and name.isidentifier() else None


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code and the codes inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from codes(const)


def _without_outside(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> ast.stmt:
    arguments = ast.arguments(
        posonlyargs=[ast.arg(each.arg) for each in node.args.posonlyargs],
        args=[ast.arg(each.arg) for each in node.args.args],
        vararg=ast.arg(node.args.vararg.arg) if node.args.vararg else None,
        kwonlyargs=[ast.arg(each.arg) for each in node.args.kwonlyargs],
        kw_defaults=[None for _ in node.args.kwonlyargs],
        kwarg=ast.arg(node.args.kwarg.arg) if node.args.kwarg else None,
        defaults=[],
    )
    ast.fix_missing_locations(arguments)
    if isinstance(node, ast.Lambda):
        bare = ast.copy_location(ast.Lambda(arguments, node.body), node)
        return ast.copy_location(ast.Expr(bare), node)
    fields = {field: getattr(node, field) for field in node._fields}
    fields |= {"args": arguments, "decorator_list": [], "returns": None}
    if "type_params" in fields:
        fields["type_params"] = []
    return ast.copy_location(type(node)(**fields), node)


def scope_of(live: CodeType) -> tuple[ast.Module, list[ast.stmt], int]:
    """Return a module, the body in it that stands for the live code's scope, and its depth.

    A function around it binds its free variables; a class around it gives ``__name`` its mangling.
    """
    cls = class_around(live)
    wrapper = ast.Module(body=[], type_ignores=[])
    place, depth = wrapper.body, 0
    if live.co_freevars:
        free = [ast.arg(name) for name in live.co_freevars if name.isidentifier()]
        [outer] = ast.parse("def outer(): pass").body
        assert isinstance(outer, ast.FunctionDef)
        outer.args.args, outer.body = free, []
        if cls and cls not in live.co_freevars:
            outer.body.append(ast.Global([cls]))
        place.append(outer)
        place, depth = outer.body, depth + 1
    if cls:
        [around] = ast.parse("class Around: pass").body
        assert isinstance(around, ast.ClassDef)
        around.name, around.body = cls, []
        place.append(around)
        place, depth = around.body, depth + 1
    return wrapper, place, depth


def class_around(live: CodeType) -> str:
    """Return the name of the innermost class in whose text the code stands, or ""."""
    path = live.co_qualname.split(".")
    classes = [
        part
        for part, inner in itertools.pairwise(path)
        if part != "<locals>" and inner != "<locals>"
    ]
    return classes[-1] if classes else ""


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two codes are the same but for their positions."""
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and _signature(one) == _signature(other)
        and one.co_varnames == other.co_varnames
        and one.co_cellvars == other.co_cellvars
        and one.co_freevars == other.co_freevars
        and one.co_exceptiontable == other.co_exceptiontable
        and _same_constant(_constants(one), _constants(other))
    )


def _constants(code: CodeType) -> tuple[object, ...]:
    """Return the constants of a code; those of a class's body without the name of where it is."""
    if code.co_flags & _NEWLOCALS:
        return code.co_consts
    return tuple(None if const == code.co_qualname else const for const in code.co_consts)


def _signature(code: CodeType) -> tuple[object, ...]:
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & _SIGNATURE_FLAGS,
    )


def _same_constant(one: object, other: object) -> bool:
    """Whether two constants are the same: 1, 1.0 and True are not, nor 0.0 and -0.0; nan is nan."""
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return {repr(each) for each in one} == {repr(each) for each in other}
    return one is other or repr(one) == repr(other)


def _is_rewritten_by_pytest(code: CodeType) -> bool:
    """Whether pytest rewrote the asserts of the code: `@` cannot stand in a user's name."""
    return any("@pytest_ar" in each.co_names for each in codes(code))
