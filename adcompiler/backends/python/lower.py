"""Lowers IR functions to plain ``ast``: regions become blocks, values part of their uses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from adcompiler.analyses.purity import Purity, is_destructive
from adcompiler.backends.python.free_names import nodes_of
from adcompiler.backends.python.lower_expressions import Expressions, as_value, negated
from adcompiler.backends.python.lower_updates import Updates
from adcompiler.backends.python.printer.depth import shallow
from adcompiler.backends.python.printer.layout import BlankLine, Comment
from adcompiler.backends.python.references import References
from adcompiler.backends.python.sums_in_place import SumsInPlace
from adcompiler.backends.python.tapes import Tape, saved_at
from adcompiler.backends.python.unbound import marked_unbound, read_unbound
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Function, If, Item, Let, Loop, Origin, Raise, Rhs, Statement, Try,
    Undefined, Update, Var, With, unstar,
)
from adcompiler.ir.visit import is_short_circuit
from adcompiler.runtime import Unassigned, evaluated, unpack
from adcompiler.runtime.progress import counted
from adcompiler.typed.unit import Unit


class FunctionLowering:
    """Lowers one function; ``expr`` lowers its expressions and ``updates`` its writes."""

    def __init__(
        self, function: Function, unit: Unit, references: References, purity: Purity,
        keeps_parameters: bool = False, sums_in_place: bool = True,
    ) -> None:
        self.function, self.unit, self.references = function, unit, references
        self.expr = expr = Expressions(function, unit, references, purity, keeps_parameters)
        self.updates = Updates(expr, unit, references)
        self.tapes, self.fusion, self.names, self.uses = (
            expr.tapes, expr.fusion, expr.names, expr.uses)
        self.sums = SumsInPlace(function, unit, self.fusion, sums_in_place)
        self.read_unbound = read_unbound(function.body, self.hands_on)
        self.marked_unbound = marked_unbound(function.body)
        self.out: list[ast.stmt] = []
        self.place: tuple[str, int, bool] | None = None
        self.inside = 0

    def lower(self, doc: str = "") -> ast.FunctionDef:
        """Return the function definition."""
        arguments = ast.arguments(
            [], [ast.arg(self.names[p.var]) for p in self.function.params], None, [], [], None, []
        )
        if doc:
            self.out.append(ast.Expr(ast.Constant(doc)))
        self.tail(self.function.body)
        body = shallow(self.out or [ast.Pass()], set(self.names.names.values()))
        node = ast.FunctionDef(self.function.name, arguments, body, [], None, None)
        if "type_params" in ast.FunctionDef._fields:
            node.type_params = []  # type: ignore[attr-defined, unused-ignore]
        return node

    # -- blocks --------------------------------------------------------------------------------

    def tail(self, block: Block) -> None:
        """Lower a block whose yields are what the function returns."""
        statements = list(block.statements)
        last = statements[-1] if statements else None
        if isinstance(last, If) and self.returns_results(last, block):
            self.statements(statements[:-1])
            self.comment(last.origin)
            mapping = dict(zip(last.results, range(len(last.results)), strict=True))
            arms = []
            for arm in (last.then, last.orelse):
                yields = tuple(
                    arm.yields[mapping[a]] if isinstance(a, Var) and a in mapping else a
                    for a in block.yields
                )
                arms.append(Block(arm.statements, yields, arm.diverges))
            then = self.sub(lambda: self.tail(arms[0]))
            self.out.append(ast.If(self.expr.atom(last.condition), then, []))
            self.tail(arms[1])
            return
        self.statements(statements)
        if not block.diverges:
            self.place_return(block)

    def returns_results(self, last: If, block: Block) -> bool:
        if last in self.fusion.conditionals and is_short_circuit(last):
            return False  # its condition is written once, as the result and as what is tested
        return bool(last.results) and any(a in last.results for a in block.yields) and all(
            self.uses.get(result, 0) == 1 for result in last.results
        ) and not any(
            isinstance(a, Var) and a not in last.results and self.fusion.is_fused(a)
            for a in block.yields
        )

    def place_return(self, block: Block) -> None:
        values = [self.expr.atom(a) for a in block.yields]
        value = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
        self.out.append(ast.Return(value))

    def sub(self, lower: Callable[[], None]) -> list[ast.stmt]:
        """Return the statements that ``lower`` writes."""
        before, self.out = self.out, []
        place = self.place
        try:
            lower()
            return self.out or [ast.Pass()]
        finally:
            self.out = before
            self.place = place

    def statements(self, statements: Sequence[Statement]) -> None:
        """Lower statements; single-use temporaries wait to become part of their use."""
        position = 0
        while position < len(statements):
            opened = self.opened(statements, position)
            if opened == 0:
                self.statement(statements[position])
            position += max(opened, 1)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let(target, rhs, origin):
                self.let(target, rhs, origin)
            case Do(Call(Const(function), (atom,)), origin) if function is evaluated:
                value = self.expr.atom(unstar(atom))
                if not isinstance(value, (ast.Name, ast.Constant)):  # computed above
                    self.comment(origin)
                    self.out.append(ast.Expr(value))
            case Do(rhs, origin):
                self.comment(origin)
                self.out.append(self.updates.stored(rhs) or ast.Expr(self.expr.rhs(rhs)))
            case Raise(exception, cause, origin):
                self.comment(origin)
                self.out.append(ast.Raise(*(
                    None if isinstance(part, Const) and part.value is None else self.expr.atom(part)
                    for part in (exception, cause))))
            case If():
                self.branch(statement)
            case Loop():
                self.loop(statement)
            case With():
                self.context(statement)
            case Try():
                self.attempt(statement)

    def comment(self, origin: Origin) -> None:
        """Write the origin of what follows, when it changes."""
        reverse = origin.reverse
        origin = origin.via or origin
        if reverse:
            origin = origin.reversed()
        place = (origin.file, origin.line, reverse)
        if place == self.place:
            return
        crossed = self.place is not None and reverse and not self.place[2]
        self.place = place
        where = origin.where
        if reverse:
            if crossed:
                self.out.append(BlankLine())
            self.out.append(Comment(f"reverse of {where}", origin))
        else:
            self.out.append(Comment(f"{where}  {origin.text.strip()}".rstrip(), origin))

    # -- assignments ---------------------------------------------------------------------------

    def let(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        if isinstance(rhs, Update):
            self.comment(origin)
            self.copies([target], [rhs.obj])
            self.out.append(self.updates.update(target, rhs))
            return
        if is_destructive(rhs):
            assert isinstance(rhs, Call)
            self.comment(origin)
            self.copies([target], [unstar(rhs.args[0])])
            self.out.append(self.updates.in_place(target, rhs))
            return
        if target in self.sums.moved:
            self.copies([target], [self.sums.moved[target]])
            return
        expression = self.expr.value(rhs, origin)
        if self.fusion.is_fused(target):
            self.expr.waiting[target] = expression
            return
        self.comment(origin)
        self.out.append(self.added(target, expression) or ast.Assign(
            [self.expr.store(target)], as_value(expression)))

    def added(self, target: Var, sum_: ast.expr) -> ast.stmt | None:
        """Return a sum or product as it is written into the array that it begins with, or None."""
        into = self.sums.into.get(target)
        if into is None or self.fusion.is_fused(into) or self.expr.names_differ(target, into) or (
            not isinstance(sum_, ast.BinOp)
        ):
            return None
        operands, name = [sum_.left, sum_.right], self.names[target]
        if isinstance(sum_.op, ast.Add | ast.Mult) and isinstance(sum_.right, ast.Name) and (
            sum_.right.id == name
        ):
            operands.reverse()
        first, other = operands
        if not isinstance(first, ast.Name) or first.id != name:
            return None
        return ast.AugAssign(ast.Name(name, ast.Store()), sum_.op, other)

    def opened(self, statements: Sequence[Statement], position: int) -> int:
        """Write a tuple and the reads of its elements as one assignment; return how many went."""
        first = statements[position]
        if not isinstance(first, Let):
            return 0
        rhs = first.rhs
        source = rhs.obj if isinstance(rhs, Item) else first.target
        start = position if isinstance(rhs, Item) else position + 1
        if source not in self.unit.naming.opened or not isinstance(source, Var):
            return 0
        count = self.unit.naming.opened[source]
        read: dict[int, Var] = {}
        for statement in statements[start:]:
            if not (
                isinstance(statement, Let) and isinstance(statement.rhs, Item)
                and statement.rhs.obj is source and isinstance(statement.rhs.index, Const)
                and not self.fusion.is_fused(statement.target)
            ):
                break
            place = statement.rhs.index.value
            if type(place) is not int or place not in range(count) or place in read:
                break
            read[place] = statement.target
        found = len(read)
        if found and source in self.expr.entries:
            return found  # the loop has them as its targets
        again = self.uses.get(source, 0) != found
        if not found or (again and (start > position or found < count)):
            return 0
        targets: list[ast.expr] = [
            self.expr.store(read[place]) if place in read else self.expr.discard()
            for place in range(count)]
        self.comment(first.origin)
        value = self.expr.atom(source) if start == position else self.unpacked(rhs)
        self.out.append(ast.Assign([ast.Tuple(targets, ast.Store())], value))
        return found + start - position

    def unpacked(self, rhs: Rhs) -> ast.expr:
        """Return what is assigned to several targets: what ``unpack`` takes apart, or the tuple."""
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is unpack:
            star = rhs.args[2]
            if isinstance(star, Const) and star.value < 0:
                return self.expr.atom(rhs.args[0])
        return as_value(self.expr.rhs(rhs))

    def copies(self, targets: Sequence[Var], values: Sequence[Atom]) -> None:
        """Write the assignments that hand ``values`` to ``targets``, all at once if they cross."""
        pairs = []
        for target, value in zip(targets, values, strict=False):
            if isinstance(value, Const) and isinstance(value.value, Undefined):
                if target in self.marked_unbound:
                    value = Const(Unassigned)
                elif target not in self.read_unbound:
                    continue
            if isinstance(value, Var) and value not in self.expr.waiting and not (
                self.expr.names_differ(target, value)
            ):
                continue
            pairs.append((target, value))
        if not pairs:
            return
        if len(pairs) > 1 and self.crossing(pairs):
            stores = [self.expr.store(target) for target, _ in pairs]
            loads = [self.expr.atom(value) for _, value in pairs]
            self.out.append(ast.Assign(
                [ast.Tuple(stores, ast.Store())], ast.Tuple(loads, ast.Load())
            ))
            return
        nothing: list[ast.expr] = []
        for target, value in pairs:
            if isinstance(value, Const) and value.value is None:
                nothing.append(self.expr.store(target))
            else:
                self.out.append(ast.Assign([self.expr.store(target)], self.expr.atom(value)))
        if nothing:
            self.out.append(ast.Assign(nothing, ast.Constant(None)))

    def crossing(self, pairs: Sequence[tuple[Var, Atom]]) -> bool:
        """Say whether an earlier copy would overwrite what a later one reads."""
        written: set[str] = set()
        for target, value in pairs:
            if isinstance(value, Var) and any(
                self.names[v] in written for v in self.fusion.read_through((value,))
            ):
                return True
            written.add(self.names[target])
        return False

    def hands_on(self, target: Var, value: Var) -> bool:
        """Say whether handing ``value`` to ``target`` takes an assignment."""
        written = not any(self.fusion.is_fused(v) for v in (target, value))
        return written and self.expr.names_differ(target, value)

    # -- branches ------------------------------------------------------------------------------

    def branch(self, node: If) -> None:
        if node in self.fusion.conditionals:
            result = node.results[0]
            expression = self.expr.conditional(node)
            if self.fusion.is_fused(result):
                self.expr.waiting[result] = expression
                return
            self.comment(node.origin)
            self.out.append(ast.Assign([self.expr.store(result)], expression))
            return
        self.comment(node.origin)
        condition = self.expr.atom(node.condition)
        then = self.sub(lambda: self.arm(node, node.then))
        orelse = self.sub(lambda: self.arm(node, node.orelse))
        if is_nothing(orelse):
            orelse = []
        if is_nothing(then) and orelse:
            condition, then, orelse = negated(condition), orelse, []
        if is_nothing(then) and not orelse:
            return
        if node.then.diverges and orelse:
            self.out.append(ast.If(condition, then, []))
            self.out.extend(orelse)
            return
        if node.orelse.diverges and not is_nothing(orelse):
            self.out.append(ast.If(negated(condition), orelse, []))
            if not is_nothing(then):
                self.out.extend(then)
            return
        self.out.append(ast.If(condition, then, orelse))

    def arm(self, node: If, arm: Block) -> None:
        self.statements(arm.statements)
        if not arm.diverges:
            self.copies(node.results, arm.yields)

    # -- with and try --------------------------------------------------------------------------

    def context(self, node: With) -> None:
        self.comment(node.origin)
        named = node.target is not None and self.uses.get(node.target, 0)
        target = self.expr.store(node.target) if node.target is not None and named else None
        item = ast.withitem(self.expr.atom(node.context), target)
        body = self.sub(lambda: self.region_arm(node.results, node.body))
        self.out.append(ast.With([item], body))

    def attempt(self, node: Try) -> None:
        kept = list(node.handlers)
        while kept and raises_again(kept[-1].body):
            kept.pop()
        if not kept:
            self.region_arm(node.results, node.body)
            return
        self.comment(node.origin)
        body = self.sub(lambda: self.region_arm(node.results, node.body))
        handlers = []
        for handler in kept:
            named = handler.name is not None and self.uses.get(handler.name, 0)
            name = self.names[handler.name] if handler.name is not None and named else None
            kind = self.expr.atom(handler.exception)
            block = handler.body
            inside = self.sub(partial(self.region_arm, node.results, block))
            handlers.append(ast.ExceptHandler(kind, name, inside))
        self.out.append(ast.Try(body, handlers, [], []))

    def region_arm(self, results: Sequence[Var], arm: Block) -> None:
        self.statements(arm.statements)
        if not arm.diverges:
            self.copies(results, arm.yields)

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Loop) -> None:
        self.comment(node.origin)
        self.copies(node.params, node.inits)
        if node in self.fusion.comprehensions:
            items = self.expr.comprehension(node)
            self.out.append(ast.Assign([self.expr.store(node.collects[0])], items))
            return
        tapes = self.tapes.of_loop[node]
        for tape in tapes:
            self.out.append(ast.Assign([self.expr.store(tape.name)], ast.List([], ast.Load())))
        test_block = node.condition
        if test_block is None:
            target = self.expr.loop_target(node)
            iterable = self.expr.loop_iterable(node)
            if self.unit.settings.options.progress and not self.inside:
                phase = "reverse sweep" if node.origin.reverse else "forward pass"
                stage = ast.Constant(f"{phase}, {node.origin.where}")
                iterable = ast.Call(self.references.expression(counted), [iterable, stage], [])
            taken = self.taken_off(node)
            self.inside += 1
            body = self.sub(lambda: self.loop_body(node))
            self.inside -= 1
            if taken is None:
                self.out.append(ast.For(target, iterable, body, []))
                return self.copies(node.results, node.params)
            last = ast.Call(ast.Attribute(self.expr.load(taken), "pop", ast.Load()), [], [])
            body = [ast.Assign([target], last), *body]
            self.out.append(ast.While(self.expr.load(taken), body, []))
        else:
            test = self.sub(lambda: self.statements(test_block.statements))
            condition = self.expr.atom(test_block.yields[0])
            body = self.sub(lambda: self.loop_body(node))
            if not is_nothing(test):
                leave = ast.If(negated(condition), [ast.Break()], [])
                body = [*test, leave, *body]
                condition = ast.Constant(True)
            self.out.append(ast.While(condition, body, []))
        self.copies(node.results, node.params)

    def taken_off(self, node: Loop) -> Var | None:
        """Return the tape that a sweep takes its values off, which itself keeps others; or None.

        So it need not keep both. The tape was made where the sweep is, and nothing else reads it.
        """
        if not node.collects or self.inside or len(node.iterables) != 1 or (
            self.unit.settings.options.progress
        ):
            return None
        (turned,) = node.iterables
        tape = self.tapes.source(turned)
        once = tape in self.tapes.of_collect and isinstance(turned, Var) and (
            self.fusion.is_fused(turned) and self.uses.get(tape) == 1)
        return tape if once else None

    def loop_body(self, node: Loop) -> None:
        statements = node.body.statements
        collected = dict(zip(node.collects, node.collected(), strict=True))
        places = saved_at(node, self.tapes.of_loop[node])
        stop = node.stop()
        start = 0
        for end in sorted({*places, len(statements)}):
            self.statements(statements[start:end])
            for tape in places.get(end, ()):
                self.append_to_tape(tape, collected)
            start = end
        if node.body.diverges:
            return
        if stop is None:
            self.copies(node.params, node.next_values())
            return
        condition = self.expr.atom(stop)
        copies = self.sub(lambda: self.copies(node.params, node.next_values()))
        copies = [] if is_nothing(copies) else copies
        if isinstance(stop, Const):
            self.out += [*copies, ast.Break()] if stop.value else copies
        elif overwrites(copies, condition):
            self.out += [ast.If(condition, [*copies, ast.Break()], []), *copies]
        else:
            self.out += [*copies, ast.If(condition, [ast.Break()], [])]

    def append_to_tape(self, tape: Tape, collected: dict[Var, Atom]) -> None:
        values = [self.expr.atom(collected[c]) for c in tape.collects]
        value = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
        target = ast.Attribute(self.expr.load(tape.name), "append", ast.Load())
        self.out.append(ast.Expr(ast.Call(target, [value], [])))


def overwrites(statements: Sequence[ast.stmt], expression: ast.expr) -> bool:
    """Say whether statements assign to a name that an expression reads."""
    read = {node.id for node in nodes_of(expression) if isinstance(node, ast.Name)}
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in read
        for statement in statements for node in nodes_of(statement)
    )


def is_nothing(statements: Sequence[ast.stmt]) -> bool:
    """Say whether a block does nothing."""
    return all(isinstance(s, (ast.Pass, Comment, BlankLine)) for s in statements)


def raises_again(block: Block) -> bool:
    """Say whether a handler does nothing but raise what it caught."""
    match block.statements:
        case (Raise(exception=Const(value=None)),):
            return True
    return False
