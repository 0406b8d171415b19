"""The cotangents of one region during its reverse sweep: first use assigns, later uses add.

A value read element by element has a buffer that the sweep owns, and reads add into it in place.
A tuple or dict with known keys has one cotangent for each entry until all are known, an instance
one for each attribute.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Call, Const, Origin, Var, unstar
from adcompiler.ops.queries import meaning
from adcompiler.runtime import add, add_at, project, zeros_like
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.inference import Inference
from adcompiler.infer.objects import NAMESPACE, make_record
from adcompiler.infer.result_types import cut_out

HAVE_STORAGE = (t.Array, t.List, t.Dict, t.Unknown)
"""Types whose values are written into in place where the sweep owns them."""


class Cotangents:
    """A table of cotangents by primal variable.

    ``inner`` holds the variables that belong to the region; cotangents of others come from
    ``parent``, through accumulators carried by the reverse loop where the region is its body.
    ``owned`` are cotangents whose storage the sweep made and nobody else holds, as far as this
    region has made them; ``handed_on`` those of regions around that are nobody's own in this one.
    """

    def __init__(
        self, s: Inference, parent: Cotangents | None = None, inner: Iterable[Var] = (),
        is_loop: bool = False,
    ) -> None:
        self.s = s
        self.parent = parent
        self.inner = frozenset(inner)
        self.is_loop = is_loop
        self.table: dict[Var, Atom] = {}
        self.parts: dict[Var, dict[Any, Atom]] = {}
        self.owned: set[Atom] = set()
        self.handed_on: set[Atom] = set()
        self.accumulators: dict[Var, Var] = {}
        self.primal: dict[Var, Atom] = {} if parent is None else parent.primal

    # -- reading -------------------------------------------------------------------------------

    def get(self, var: Var, origin: Origin) -> Atom | None:
        """Return the cotangent of ``var``, None while it is zero."""
        if var in self.parts:
            self.merge_parts(var, origin)
        if var in self.table:
            return self.table[var]
        if self.parent is None or var in self.inner:
            return None
        if not self.is_loop:
            return self.parent.get(var, origin)
        accumulator = Var(self.s.bar(var), False)
        self.s.unit.types[accumulator] = self.type_of_cotangent(var)
        self.s.unit.shapes[accumulator] = self.s.unit.shape(self.value(var))
        self.accumulators[var] = self.table[var] = accumulator
        self.own(accumulator)
        return accumulator

    def take(self, var: Var, origin: Origin) -> Atom | None:
        """Return the cotangent of ``var`` and forget it: its definition is being reversed.

        It is nobody's own from then on, as it may become the cotangent of several operands.
        """
        found = self.get(var, origin)
        self.table.pop(var, None)
        if found is not None:
            self.owned.discard(found)
            self.handed_on.add(found)
        return found

    # -- ownership -----------------------------------------------------------------------------

    def own(self, atom: Atom) -> None:
        """Note that the sweep made the storage of a cotangent, and nobody else holds it here."""
        self.owned.add(atom)
        self.handed_on.discard(atom)

    def owns(self, atom: Atom | None) -> bool:
        """Say whether this region may write into a cotangent.

        What a region around comes to own while this one is written counts too: the accumulators
        of a loop are made where its body first asks for them. What another arm owns does not.
        """
        table: Cotangents | None = self
        while table is not None and atom is not None:
            if atom in table.owned:
                return True
            if atom in table.handed_on:
                return False
            table = table.parent
        return False

    def value(self, var: Var) -> Atom:
        """Return the atom that holds the primal value of ``var``."""
        return self.primal.get(var, var)

    def type_of_cotangent(self, var: Var) -> t.Type:
        """Return the type of the cotangents of ``var``."""
        return cotangent_type(self.s.unit.type(var))

    # -- adding --------------------------------------------------------------------------------

    def accumulate(self, atom: Atom, g: Atom, origin: Origin) -> None:
        """Add ``g`` to the cotangent of ``atom``."""
        if not isinstance(atom, Var) or is_none(g):
            return
        self.trust(atom, g)
        g = self.real_where_its_value_is(atom, g, origin)
        old = self.get(atom, origin)
        if old is None or is_zero(old):
            self.table[atom] = g
            if isinstance(g, Var) and g.temporary:
                hints = self.s.unit.naming.hints if atom.temporary else self.s.unit.naming.names
                hints.setdefault(g, self.s.bar(atom))
            return
        if is_zero(g):
            return
        type_ = self.s.unit.type(atom)
        numeric = isinstance(type_, (t.Scalar, t.Array))
        total = self.s.let(
            Call(Const(operator.add if numeric else add), (old, g)),
            self.sum_type(old, g, type_, numeric), self.s.bar(atom), origin, False,
        )
        if isinstance(type_, t.Array) and type_.ndim:
            self.own(total)
        self.table[atom] = total

    def trust(self, atom: Var, g: Atom) -> None:
        """Note that a cotangent has the kind and shape of its primal value: rules promise it.

        That of what a branch or loop gives, of types that differ, has another one on each way.
        """
        unit = self.s.unit
        if not isinstance(g, Var) or g in unit.of_many_types:
            return
        wanted = cotangent_type(unit.type(atom))
        if isinstance(unit.type(g), t.Unknown):
            unit.types[g] = wanted
        if isinstance(wanted, t.Array) and isinstance(unit.type(g), t.Array):
            unit.shapes[g] = unit.shape(self.value(atom))

    def real_where_its_value_is(self, atom: Var, g: Atom, origin: Origin) -> Atom:
        """Return the real part of a cotangent that comes from a place where ``atom`` is complex.

        Such is a branch's result, or a value carried by a loop, that is complex on another way.
        """
        wanted, found = self.s.unit.type(atom), self.s.unit.type(g)
        if isinstance(wanted, t.Scalar) and isinstance(found, t.Scalar) and (
            found.kind == "complex" and wanted.kind != "complex"
        ):
            return self.s.call(Const(project), [g, atom], {}, origin, self.s.bar(atom))
        return g

    def sum_type(self, old: Atom, g: Atom, type_: t.Type, numeric: bool) -> t.Type:
        if not numeric:
            return cotangent_type(type_)
        found = self.s.types.of_call(operator.add, [old, g], {})
        return cotangent_type(type_) if isinstance(found, t.Unknown) else found

    def accumulate_item(self, obj: Atom, index: Atom, g: Atom, origin: Origin) -> None:
        """Add ``g`` to the part ``index`` of the cotangent of ``obj``."""
        if not isinstance(obj, Var) or is_none(g):
            return
        type_ = self.s.unit.type(obj)
        if isinstance(type_, (t.Tuple, t.Dict)) and isinstance(index, Const):
            key = index.value
            if isinstance(type_, t.Tuple) and isinstance(key, int):
                self.accumulate_part(obj, key % len(type_.items), g, origin)
                return
            if isinstance(type_, t.Tuple) and isinstance(key, slice):
                for k, position in enumerate(cut_out(range(len(type_.items)), key) or ()):
                    if t.may_vary(type_.items[position]):
                        part = self.s.item(g, Const(k), origin)
                        self.accumulate_part(obj, position, part, origin)
                return
            if isinstance(type_, t.Dict) and type_.keys is not None and key in type_.keys:
                self.accumulate_part(obj, key, g, origin)
                return
        inserted = axes_inserted(index, type_.ndim) if isinstance(type_, t.Array) else None
        if inserted is not None and isinstance(self.s.unit.type(g), t.Array):
            self.accumulate(obj, self.without_axes(g, inserted, self.s.bar(obj), origin), origin)
            return
        buffer = self.buffer(obj, origin)
        new = self.s.let(
            Call(Const(add_at), (buffer, index, g)), self.s.unit.type(buffer), self.s.bar(obj),
            origin, False,
        )
        self.s.unit.shapes[new] = self.s.unit.shape(buffer)
        self.own(new)
        self.table[obj] = new

    def without_axes(self, g: Atom, axes: tuple[int, ...], name: str, origin: Origin) -> Atom:
        """Write an array without some axes of one element; a sum over them does not keep them."""
        if not axes:
            return g
        made = self.s.unit.definition(g)
        if isinstance(made, Call) and meaning(made) == "sum" and len(made.args) == 1:
            summed, options = unstar(made.args[0]), dict(made.kwargs)
            known = {key: atom.value for key, atom in options.items() if isinstance(atom, Const)}
            over = {"axis": axes[0] if len(axes) == 1 else axes, "keepdims": True}
            if known == over and len(known) == len(options) and not self.owns(summed):
                return self.s.call(made.func, [summed], {"axis": options["axis"]}, origin, name)
        ndim = self.s.unit.type(g).ndim  # type: ignore[attr-defined]
        index = tuple(0 if i in axes else slice(None) for i in range(ndim))
        return self.s.item(g, Const(index), origin, name)

    def accumulate_field(self, obj: Atom, name: str, g: Atom, origin: Origin) -> None:
        """Add ``g`` to the cotangent of the attribute ``name`` of an instance."""
        if isinstance(obj, Var) and not is_none(g):
            self.accumulate_part(obj, name, g, origin)

    def part_of(self, obj: Var, g: Atom, key: Atom, origin: Origin) -> Atom:
        """Write the cotangent of the item or attribute ``key`` of ``obj``, whose own is ``g``."""
        if isinstance(self.s.unit.type(obj), t.Object):
            assert isinstance(key, Const)
            return self.s.attribute(g, key.value, origin)
        return self.s.item(g, key, origin)

    def type_of_part(self, obj: Var, key: Any, origin: Origin) -> t.Type:
        """Return the type of an item or attribute of a primal value."""
        type_ = self.s.unit.type(obj)
        if isinstance(type_, t.Object):
            return type_.field(key) or t.UNKNOWN
        return self.s.unit.type(self.s.item(self.value(obj), Const(key), origin))

    def accumulate_part(self, obj: Var, key: Any, g: Atom, origin: Origin) -> None:
        local = self.parent is None or obj in self.inner
        parts = self.parts.setdefault(obj, {})
        old = parts.get(key)
        if old is not None:
            numeric = isinstance(self.type_of_part(obj, key, origin), (t.Scalar, t.Array))
            function = operator.add if numeric else add
            g = self.s.call(Const(function), [old, g], {}, origin, self.s.bar(obj))
        parts[key] = g
        if not local:
            self.merge_parts(obj, origin)

    def merge_parts(self, obj: Var, origin: Origin) -> None:
        """Make one cotangent of the parts of a tuple or dict."""
        parts = self.parts.pop(obj)
        whole = self.structure(obj, parts, origin)
        self.accumulate(obj, whole, origin)

    def merge_all_parts(self, origin: Origin) -> None:
        """Make every cotangent whole, before regions are reversed that may read or add to it."""
        for obj in list(self.parts):
            self.merge_parts(obj, origin)

    def structure(self, obj: Var, parts: dict[Any, Atom], origin: Origin) -> Atom:
        type_ = self.s.unit.type(obj)
        if isinstance(type_, t.Object):
            return self.namespace(obj, type_, parts, origin)
        keys: tuple[Any, ...]
        if isinstance(type_, t.Dict):
            keys, items = type_.keys or (), type_.items
        else:
            assert isinstance(type_, t.Tuple)
            keys, items = tuple(range(len(type_.items))), type_.items
        values = []
        for key, item_type in zip(keys, items, strict=True):
            value = parts.get(key)
            if value is None:
                value = NONE
                if t.may_vary(item_type):
                    item = self.s.item(self.value(obj), Const(key), origin)
                    value = self.zero_of(item, item_type, origin)
            values.append(value)
        if isinstance(type_, t.Dict):
            pairs = [(Const(k), v) for k, v in zip(keys, values, strict=True)]
            return self.s.pack_dict(list(pairs), origin, self.s.bar(obj))
        return self.s.pack("tuple", tuple(values), self.s.bar(obj), origin)

    def namespace(
        self, obj: Var, type_: t.Object, parts: dict[Any, Atom], origin: Origin
    ) -> Atom:
        """Write the cotangent of an instance: those of its attributes, zeros where none is."""
        fields: dict[str, Atom] = {}
        for name, field in type_.fields:
            value = parts.get(name)
            if value is None:
                value = NONE
                if t.may_vary(field):
                    attribute = self.s.attribute(self.value(obj), name, origin)
                    value = self.zero_of(attribute, field, origin)
            fields[name] = value
        return make_record(self.s, NAMESPACE, fields, self.s.bar(obj), origin)

    # -- zeros and buffers ---------------------------------------------------------------------

    def buffer(self, obj: Var, origin: Origin) -> Atom:
        """Return the cotangent of ``obj`` as storage that the sweep owns and may write into."""
        old = self.get(obj, origin)
        value = self.value(obj)
        type_ = self.s.unit.type(obj)
        if old is not None and self.owns(old) and (
            not isinstance(type_, t.Array) or type_.ndim or self.s.unit.definition(old) is not None
        ):
            return old  # of no dimensions, what a loop or branch hands on may be a NumPy number
        if old is None or is_zero(old):
            fresh = self.zero_of(value, type_, origin)
        elif isinstance(type_, t.Array) and not type_.ndim:
            fresh = self.s.let(
                Call(Const(np.array), (old,)), cotangent_type(type_), self.s.bar(obj), origin, False
            )
        elif isinstance(self.s.unit.type(old), t.Array):
            fresh = self.s.let(
                Call(Const(np.copy), (old,)), self.s.unit.type(old), self.s.bar(obj), origin, False
            )
            self.s.unit.shapes[fresh] = self.s.unit.shape(old)
        else:
            zeros = self.zero_of(value, type_, origin)
            fresh = self.s.let(
                Call(Const(add), (zeros, old)), self.s.unit.type(zeros), self.s.bar(obj), origin,
                False,
            )
        self.own(fresh)
        return fresh

    def zero_of(self, value: Atom, type_: t.Type, origin: Origin) -> Atom:
        """Return a zero cotangent of a primal value."""
        if isinstance(type_, t.Scalar):
            return Const(0.0)
        name = self.s.bar(value) if isinstance(value, Var) else "zero"
        if value in self.s.unit.unsure:
            return self.s.let(
                Call(Const(zeros_like), (value,)), cotangent_type(type_), name, origin, False
            )
        function = np.zeros_like if isinstance(type_, t.Array) and type_.kind in (
            "float", "complex") and not self.may_hold_ints(value) else zeros_like
        if isinstance(type_, t.Tuple):
            items = [self.s.item(value, Const(i), origin) for i in range(len(type_.items))]
            return self.s.pack("tuple", tuple(
                self.zero_of(item, item_type, origin) if t.may_vary(item_type) else NONE
                for item, item_type in zip(items, type_.items, strict=True)
            ), name, origin)
        if isinstance(type_, t.Object) and isinstance(value, Var) and is_record_class(type_.cls):
            return self.namespace(value, type_, {}, origin)
        zero = self.s.let(
            Call(Const(function), (value,)), cotangent_type(type_), name, origin, False
        )
        self.s.unit.shapes[zero] = self.s.unit.shape(value)
        return zero


    def may_hold_ints(self, value: Atom) -> bool:
        """Say whether an array is made of a list in which Python ints may be, for want of floats.

        ``np.array([sum(values)])`` is an array of ints if there are no values.
        """
        rhs = self.s.unit.definition(value)
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const) or not rhs.args:
            return False
        source = unstar(rhs.args[0])
        return meaning(rhs) in ("array", "asarray") and len(rhs.args) == 1 and (
            not rhs.kwargs and self.s.unit.elements(source) is None
            and isinstance(self.s.unit.type(source), t.List)
        )


def is_none(atom: Atom) -> bool:
    """Say whether a cotangent is None: no derivative."""
    return isinstance(atom, Const) and atom.value is None


def is_zero(atom: Atom) -> bool:
    """Say whether a cotangent is the constant zero."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == 0


def cotangent_type(type_: t.Type) -> t.Type:
    """Return the type of the cotangents of values of ``type_``: floats where those are floats."""
    match type_:
        case t.Scalar(kind, _) if kind in ("bool", "int"):
            return t.FLOAT
        case t.Scalar():
            return t.widest(type_)
        case t.Array(_, ndim) if type_.kind in ("bool", "int"):
            return t.Array("float64", ndim)
        case t.Tuple(items):
            return t.Tuple(tuple(
                cotangent_type(i) if t.may_vary(i) else t.NONE_TYPE for i in items
            ))
        case t.List(item):
            return t.List(cotangent_type(item))
        case t.Dict(keys, items):
            return t.Dict(keys, tuple(map(cotangent_type, items)))
        case t.Object(cls, fields) if fields and is_record_class(cls):
            return t.Object(NAMESPACE, tuple(
                (name, cotangent_type(f) if t.may_vary(f) else t.NONE_TYPE) for name, f in fields
            ))
        case t.Bottom() | t.Static():
            return t.UNKNOWN
    return type_


def axes_inserted(index: Atom, ndim: int) -> tuple[int, ...] | None:
    """Return the new axes of ``x[index]`` of an array, None where it is more than all of it."""
    if not isinstance(index, Const):
        return None
    items = index.value if isinstance(index.value, tuple) else (index.value,)
    if any(not (one is None or one is Ellipsis or isinstance(one, slice)) for one in items) or any(
        isinstance(one, slice) and one != slice(None) for one in items
    ):
        return None
    given = sum(isinstance(one, slice) for one in items)
    axes: list[bool] = []
    for one in items:
        axes += [False] * (ndim - given) if one is Ellipsis else [one is None]
    return tuple(i for i, new in enumerate(axes) if new)
