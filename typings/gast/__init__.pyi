"""gast's nodes: those of Python's ast, where names of parameters and handlers are ``Name``."""

from ast import (
    AST as AST,
    boolop as boolop,
    cmpop as cmpop,
    excepthandler as excepthandler,
    expr as expr,
    expr_context as expr_context,
    mod as mod,
    operator as operator,
    pattern as pattern,
    stmt as stmt,
    unaryop as unaryop,
    copy_location as copy_location,
    fix_missing_locations as fix_missing_locations,
    iter_child_nodes as iter_child_nodes,
    iter_fields as iter_fields,
    walk as walk,
)
from typing import Any


class NodeVisitor:  # whose methods take gast's nodes
    def visit(self, node: AST) -> Any: ...
    def generic_visit(self, node: AST) -> Any: ...

class NodeTransformer(NodeVisitor):
    def generic_visit(self, node: AST) -> AST: ...


class Add(operator):
    ...

class And(boolop):
    ...

class AnnAssign(stmt):
    target: Name | Attribute | Subscript
    annotation: expr
    value: expr | None
    simple: int
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Assert(stmt):
    test: expr
    msg: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Assign(stmt):
    targets: list[expr]
    value: expr
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class AsyncFor(stmt):
    target: expr
    iter: expr
    body: list[stmt]
    orelse: list[stmt]
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class AsyncFunctionDef(stmt):
    name: str
    args: arguments
    body: list[stmt]
    decorator_list: list[expr]
    returns: expr | None
    type_comment: str | None
    type_params: list[Any]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class AsyncWith(stmt):
    items: list[withitem]
    body: list[stmt]
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Attribute(expr):
    value: expr
    attr: str
    ctx: expr_context
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class AugAssign(stmt):
    target: Name | Attribute | Subscript
    op: operator
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class AugLoad(expr_context):
    ...

class AugStore(expr_context):
    ...

class Await(expr):
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class BinOp(expr):
    left: expr
    op: operator
    right: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class BitAnd(operator):
    ...

class BitOr(operator):
    ...

class BitXor(operator):
    ...

class BoolOp(expr):
    op: boolop
    values: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Break(stmt):
    ...

class Call(expr):
    func: expr
    args: list[expr]
    keywords: list[keyword]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class ClassDef(stmt):
    name: str
    bases: list[expr]
    keywords: list[keyword]
    body: list[stmt]
    decorator_list: list[expr]
    type_params: list[Any]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Compare(expr):
    left: expr
    ops: list[cmpop]
    comparators: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Constant(expr):
    value: Any
    kind: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Continue(stmt):
    ...

class Del(expr_context):
    ...

class Delete(stmt):
    targets: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Dict(expr):
    keys: list[expr | None]
    values: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class DictComp(expr):
    key: expr
    value: expr
    generators: list[comprehension]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Div(operator):
    ...

class Eq(cmpop):
    ...

class ExceptHandler(excepthandler):
    type: expr | None
    name: Name | None
    body: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Exec(stmt):
    body: Any
    globals: Any
    locals: Any
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Expr(stmt):
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Expression(mod):
    body: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class FloorDiv(operator):
    ...

class For(stmt):
    target: expr
    iter: expr
    body: list[stmt]
    orelse: list[stmt]
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class FormattedValue(expr):
    value: expr
    conversion: int
    format_spec: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class FunctionDef(stmt):
    name: str
    args: arguments
    body: list[stmt]
    decorator_list: list[expr]
    returns: expr | None
    type_comment: str | None
    type_params: list[Any]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class FunctionType(mod):
    argtypes: list[expr]
    returns: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class GeneratorExp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Global(stmt):
    names: list[str]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Gt(cmpop):
    ...

class GtE(cmpop):
    ...

class If(stmt):
    test: expr
    body: list[stmt]
    orelse: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class IfExp(expr):
    test: expr
    body: expr
    orelse: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Import(stmt):
    names: list[alias]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class ImportFrom(stmt):
    module: str | None
    names: list[alias]
    level: int
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class In(cmpop):
    ...

class Interactive(mod):
    body: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Interpolation(expr):
    value: expr
    str: str
    conversion: int
    format_spec: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Invert(unaryop):
    ...

class Is(cmpop):
    ...

class IsNot(cmpop):
    ...

class JoinedStr(expr):
    values: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class LShift(operator):
    ...

class Lambda(expr):
    args: arguments
    body: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class List(expr):
    elts: list[expr]
    ctx: expr_context
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class ListComp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Load(expr_context):
    ...

class Lt(cmpop):
    ...

class LtE(cmpop):
    ...

class MatMult(operator):
    ...

class Match(stmt):
    subject: expr
    cases: list[match_case]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchAs(pattern):
    pattern: pattern | None
    name: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchClass(pattern):
    cls: expr
    patterns: list[pattern]
    kwd_attrs: list[str]
    kwd_patterns: list[pattern]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchMapping(pattern):
    keys: list[expr]
    patterns: list[pattern]
    rest: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchOr(pattern):
    patterns: list[pattern]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchSequence(pattern):
    patterns: list[pattern]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchSingleton(pattern):
    value: bool | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchStar(pattern):
    name: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class MatchValue(pattern):
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Mod(operator):
    ...

class Module(mod):
    body: list[stmt]
    type_ignores: list[Any]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Mult(operator):
    ...

class Name(expr):
    id: str
    ctx: expr_context
    annotation: expr | None
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class NamedExpr(expr):
    target: Name
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Nonlocal(stmt):
    names: list[str]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Not(unaryop):
    ...

class NotEq(cmpop):
    ...

class NotIn(cmpop):
    ...

class Or(boolop):
    ...

class Param(expr_context):
    ...

class ParamSpec(AST):
    name: str
    default_value: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Pass(stmt):
    ...

class Pow(operator):
    ...

class Print(stmt):
    dest: Any
    values: Any
    nl: Any
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class RShift(operator):
    ...

class Raise(stmt):
    exc: expr | None
    cause: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Repr(expr):
    value: Any
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Return(stmt):
    value: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Set(expr):
    elts: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class SetComp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Slice(slice):
    lower: expr | None
    upper: expr | None
    step: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Starred(expr):
    value: expr
    ctx: expr_context
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Store(expr_context):
    ...

class Sub(operator):
    ...

class Subscript(expr):
    value: expr
    slice: expr
    ctx: expr_context
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Suite(mod):
    body: Any
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class TemplateStr(expr):
    values: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Try(stmt):
    body: list[stmt]
    handlers: list[ExceptHandler]
    orelse: list[stmt]
    finalbody: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class TryStar(stmt):
    body: list[stmt]
    handlers: list[ExceptHandler]
    orelse: list[stmt]
    finalbody: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Tuple(expr):
    elts: list[expr]
    ctx: expr_context
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class TypeAlias(stmt):
    name: Name
    type_params: list[Any]
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class TypeVar(AST):
    name: str
    bound: expr | None
    default_value: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class TypeVarTuple(AST):
    name: str
    default_value: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class UAdd(unaryop):
    ...

class USub(unaryop):
    ...

class UnaryOp(expr):
    op: unaryop
    operand: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class While(stmt):
    test: expr
    body: list[stmt]
    orelse: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class With(stmt):
    items: list[withitem]
    body: list[stmt]
    type_comment: str | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class Yield(expr):
    value: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class YieldFrom(expr):
    value: expr
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class alias(AST):
    name: str
    asname: str | None
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class arguments(AST):
    args: list[Name]
    posonlyargs: list[Name]
    vararg: Name | None
    kwonlyargs: list[Name]
    kw_defaults: list[expr | None]
    kwarg: Name | None
    defaults: list[expr]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class comprehension(AST):
    target: expr
    iter: expr
    ifs: list[expr]
    is_async: int
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class keyword(AST):
    arg: str | None
    value: expr
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class match_case(AST):
    pattern: pattern
    guard: expr | None
    body: list[stmt]
    def __init__(self, *fields: Any, **named: Any) -> None: ...

class type_ignore(AST):
    ...

class type_param(AST):
    ...

class withitem(AST):
    context_expr: expr
    optional_vars: expr | None
    def __init__(self, *fields: Any, **named: Any) -> None: ...

def get_docstring(node: AST, clean: bool = ...) -> str | None: ...
def parse(source: str | bytes, *args: Any, **kwargs: Any) -> Module: ...
def unparse(tree: AST) -> str: ...
def gast_to_ast(node: AST) -> Any: ...
def ast_to_gast(node: AST) -> Any: ...
def literal_eval(node: AST | str) -> Any: ...
def dump(node: AST, *args: Any, **kwargs: Any) -> str: ...
