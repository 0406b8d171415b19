"""Arrays in LLVM IR: data, lengths and strides are values of their own, storage is counted.

An array that lies in C order has no strides: they follow from its lengths. A block of storage
begins with the number of those who refer to it; elements stand 64 bytes behind. What a parameter
refers to has no block, and outlives the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from adcompiler.backends.native.emit.code import TAGS, Code
from adcompiler.backends.native.emit.types import SIZES, STORED, ArrayType
from adcompiler.backends.native.loops import BOOL, FLOAT, SINGLE
from adcompiler.support.structs import dataclass

MOST = 2**46
"""More elements than there is memory for."""
DEFINED = '''
declare noalias ptr @adcompiler_block(i64) nounwind
declare void @adcompiler_free(ptr) nounwind

define internal void @retain(ptr %block) alwaysinline nounwind {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %some
some:
  %count = load i64, ptr %block, !tbaa !7
  %more = add i64 %count, 1
  store i64 %more, ptr %block, !tbaa !7
  br label %done
done:
  ret void
}

define internal void @release(ptr %block) alwaysinline nounwind {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %some
some:
  %count = load i64, ptr %block, !tbaa !7
  %less = sub i64 %count, 1
  store i64 %less, ptr %block, !tbaa !7
  %last = icmp eq i64 %less, 0
  br i1 %last, label %free, label %done
free:
  call void @adcompiler_free(ptr %block)
  br label %done
done:
  ret void
}
'''


@dataclass(frozen=True, slots=True)
class Num:
    """A number in a register."""

    dtype: str
    name: str


@dataclass(frozen=True, slots=True)
class Array:
    """An array. ``owned`` tells that nobody else counts the reference to its block yet."""

    dtype: str
    data: str
    shape: tuple[str, ...]
    strides: tuple[str, ...] | None = None
    block: str = "null"
    owned: bool = False

    @property
    def type(self) -> ArrayType:
        """The type of the array."""
        return ArrayType(self.dtype, len(self.shape), self.strides is None)


class Ends(Protocol):
    """What writes of arrays need of the function that they are in."""

    def give_up_if(self, test: str) -> None:
        """Leave what is computed to Python if a test is true."""

    def counted(self, count: str) -> AbstractContextManager[str]:
        """Repeat what is written meanwhile; yields the number of the iteration."""

    def kept(self, value: Array) -> Array:
        """Return an array that is released behind the statement."""


class Arrays:
    """Writes what is done with arrays."""

    def __init__(self, code: Code, frame: Ends) -> None:
        self.code, self.frame = code, frame

    def product(self, factors: Sequence[str]) -> str:
        """Return a product of integers."""
        found = "1"
        for one in factors:
            found = one if found == "1" else self.code.op(f"mul i64 {found}, {one}")
        return found

    def strides(self, of: Array) -> tuple[str, ...]:
        """Return how many elements apart neighbours along each axis are."""
        if of.strides is not None:
            return of.strides
        return tuple(self.product(of.shape[axis + 1 :]) for axis in range(len(of.shape)))

    def size(self, of: Array) -> str:
        """Return how many elements an array has."""
        return self.product(of.shape)

    # -- elements --------------------------------------------------------------------------------

    def place(self, of: Array, positions: Sequence[str]) -> str:
        """Return a pointer to an element; positions are from zero on."""
        code = self.code
        if of.strides is None:
            at = positions[0]
            for length, position in zip(of.shape[1:], positions[1:], strict=True):
                at = code.op(f"mul i64 {at}, {length}")
                at = code.op(f"add i64 {at}, {position}")
        else:
            terms = [code.op(f"mul i64 {position}, {stride}")
                     for position, stride in zip(positions, of.strides, strict=True)]
            at = terms[0]
            for term in terms[1:]:
                at = code.op(f"add i64 {at}, {term}")
        return code.op(f"getelementptr inbounds {STORED[of.dtype]}, ptr {of.data}, i64 {at}")

    def read(self, dtype: str, place: str) -> Num:
        """Return an element."""
        kind = STORED[dtype]
        found = self.code.op(f"load {kind}, ptr {place}, {TAGS.get(kind, 'align 1')}")
        if dtype == BOOL:
            found = self.code.op(f"icmp ne i8 {found}, 0")
        if dtype == SINGLE:
            return Num(FLOAT, self.code.op(f"fpext float {found} to double"))
        return Num(dtype, found)

    def write(self, dtype: str, place: str, value: str) -> None:
        """Store an element."""
        kind = STORED[dtype]
        if dtype == BOOL:
            value = self.code.op(f"zext i1 {value} to i8")
        if dtype == SINGLE:
            value = self.code.op(f"fptrunc double {value} to float")
        self.code.do(f"store {kind} {value}, ptr {place}, {TAGS.get(kind, 'align 1')}")

    def offset(self, of: Array, at: str) -> str:
        """Return the data of an array from an element on."""
        return of.data if at == "0" else self.code.op(
            f"getelementptr {STORED[of.dtype]}, ptr {of.data}, i64 {at}")

    # -- new arrays ------------------------------------------------------------------------------

    def make(self, dtype: str, shape: Sequence[str]) -> Array:
        """Return a new array with any content; gives up where there is no memory for it."""
        code, size = self.code, shape[0]
        for length in shape:
            self.frame.give_up_if(code.op(f"icmp ugt i64 {length}, {MOST}"))
        for length in shape[1:]:
            pair = code.op(
                f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {size}, i64 {length})")
            self.frame.give_up_if(code.op(f"extractvalue {{ i64, i1 }} {pair}, 1"))
            size = code.op(f"extractvalue {{ i64, i1 }} {pair}, 0")
        if len(shape) > 1:
            self.frame.give_up_if(code.op(f"icmp ugt i64 {size}, {MOST}"))
        count = size if SIZES[dtype] == 1 else code.op(f"mul i64 {size}, {SIZES[dtype]}")
        block = code.op(f"call noalias ptr @adcompiler_block(i64 {count})")
        self.frame.give_up_if(code.op(f"icmp eq ptr {block}, null"))
        data = code.op(f"getelementptr inbounds i8, ptr {block}, i64 64")
        return Array(dtype, data, tuple(shape), None, block, True)

    def clear(self, of: Array) -> None:
        """Make all bytes of a new array zero."""
        count = self.code.op(f"mul i64 {self.size(of)}, {SIZES[of.dtype]}")
        self.code.do(
            f"call void @llvm.memset.p0.i64(ptr align 8 {of.data}, i8 0, i64 {count}, i1 false)")

    def fill(self, of: Array, value: str) -> None:
        """Let all elements of a new array be a number."""
        with self.frame.counted(self.size(of)) as at:
            self.write(of.dtype, self.place(Array(of.dtype, of.data, ("",)), [at]), value)

    def copy(self, of: Array) -> Array:
        """Return a new array in C order with the same elements."""
        new = self.make(of.dtype, of.shape)
        self.fill_from(new, of)
        return new

    def fill_from(self, new: Array, of: Array) -> None:
        """Copy elements to a new array in C order."""
        code = self.code
        if of.strides is None:
            count = code.op(f"mul i64 {self.size(of)}, {SIZES[of.dtype]}")
            code.do("call void @llvm.memcpy.p0.p0.i64("
                    f"ptr align 8 {new.data}, ptr {of.data}, i64 {count}, i1 false)")
            return
        kind = STORED[of.dtype]

        def along(axes: Sequence[str], positions: list[str]) -> None:
            if axes:
                with self.frame.counted(axes[0]) as at:
                    along(axes[1:], [*positions, at])
                return
            found = code.op(f"load {kind}, ptr {self.place(of, positions)}, align 1")
            code.do(f"store {kind} {found}, ptr {self.place(new, positions)}")

        along(of.shape, [])

    # -- views -----------------------------------------------------------------------------------

    def in_a_row(self, of: Array) -> Array:
        """Return the elements of an array in a row: in its storage if they lie so there."""
        size = (self.size(of),)
        if of.strides is None:
            return Array(of.dtype, of.data, size, None, of.block, of.owned)
        code, frame = self.code, self.frame
        test, step = "true", "1"
        for length, stride in list(zip(of.shape, of.strides, strict=True))[::-1]:
            short = code.op(f"icmp eq i64 {length}, 1")
            fits = code.op(f"icmp eq i64 {stride}, {step}")
            test = code.op(f"and i1 {test}, {code.op(f'or i1 {short}, {fits}')}")
            step = self.product((step, length))
        data, block = code.slot("ptr", "row"), code.slot("ptr", "row_block")
        there, not_there, done = (
            code.fresh(one) for one in ("in_a_row", "not_in_a_row", "row_done"))
        code.branch(test, there, not_there)
        code.start(there)
        code.do(f"call void @retain(ptr {of.block})")
        code.store("ptr", of.data, data)
        code.store("ptr", of.block, block)
        code.jump(done)
        code.start(not_there)
        new = self.copy(of)
        code.store("ptr", new.data, data)
        code.store("ptr", new.block, block)
        code.start(done)
        return frame.kept(Array(
            of.dtype, code.load("ptr", data), size, None, code.load("ptr", block), True))

    def turned(self, of: Array, axes: Sequence[int]) -> Array:
        """Return an array with its axes in another order."""
        strides = self.strides(of)
        return Array(of.dtype, of.data, tuple(of.shape[axis] for axis in axes),
                     tuple(strides[axis] for axis in axes), of.block)

    def sliced(
        self, length: str, lower: str | None, upper: str | None, step: str | None,
        signs: tuple[bool, bool],
    ) -> tuple[str, str]:
        """Return where a slice of an axis begins, and how long it is; as Python counts.

        ``signs`` tell of the ends whether they are known not to be negative.
        """
        if step is not None:
            return self.stepped(length, lower, upper, step)
        first = "0" if lower is None else self.clipped(length, lower, signs[0])
        last = length if upper is None else self.clipped(length, upper, signs[1])
        if first == "0":
            return first, last
        count = self.code.op(f"sub nsw i64 {last}, {first}")
        return first, self.code.op(f"call i64 @llvm.smax.i64(i64 {count}, i64 0)")

    def clipped(self, length: str, end: str, is_positive: bool) -> str:
        """Return an end of a slice, counted from the front and within the axis."""
        code = self.code
        if not is_positive:
            below = code.op(f"icmp slt i64 {end}, 0")
            moved = code.op(f"add i64 {end}, {length}")
            end = code.op(f"select i1 {below}, i64 {moved}, i64 {end}")
            end = code.op(f"call i64 @llvm.smax.i64(i64 {end}, i64 0)")
        return code.op(f"call i64 @llvm.smin.i64(i64 {end}, i64 {length})")

    def stepped(
        self, length: str, lower: str | None, upper: str | None, step: str
    ) -> tuple[str, str]:
        """Return where a slice with a step begins, and how long it is."""
        code = self.code
        self.frame.give_up_if(code.op(f"icmp eq i64 {step}, 0"))
        back = code.op(f"icmp slt i64 {step}, 0")
        least = code.op(f"select i1 {back}, i64 -1, i64 0")
        most = code.op(f"add i64 {length}, {least}")

        def end(given: str | None, forwards: str, backwards: str) -> str:
            if given is None:
                return code.op(f"select i1 {back}, i64 {backwards}, i64 {forwards}")
            below = code.op(f"icmp slt i64 {given}, 0")
            moved = code.op(f"add i64 {given}, {length}")
            at = code.op(f"select i1 {below}, i64 {moved}, i64 {given}")
            at = code.op(f"call i64 @llvm.smax.i64(i64 {at}, i64 {least})")
            return code.op(f"call i64 @llvm.smin.i64(i64 {at}, i64 {most})")

        first, last = end(lower, "0", most), end(upper, length, "-1")
        ahead, behind = code.op(f"sub i64 {last}, {first}"), code.op(f"sub i64 {first}, {last}")
        span = code.op(f"select i1 {back}, i64 {behind}, i64 {ahead}")
        by = code.op(f"call i64 @llvm.abs.i64(i64 {step}, i1 false)")
        whole = code.op(f"add i64 {span}, {code.op(f'sub i64 {by}, 1')}")
        count = code.op(f"udiv i64 {code.op(f'call i64 @llvm.smax.i64(i64 {whole}, i64 0)')}, {by}")
        some = code.op(f"icmp sgt i64 {span}, 0")
        return first, code.op(f"select i1 {some}, i64 {count}, i64 0")
