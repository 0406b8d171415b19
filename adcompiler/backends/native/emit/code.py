"""Lines of LLVM IR of one function: fresh names, slots in the stack, labels and branches."""

from __future__ import annotations

import struct

TAGS = {"double": "!tbaa !1", "i64": "!tbaa !2", "i8": "!tbaa !3", "float": "!tbaa !10"}
"""Metadata by which loads and stores of elements of different types are known not to meet."""
METADATA = '''
!0 = !{!"elements"}
!1 = !{!4, !4, i64 0}
!2 = !{!5, !5, i64 0}
!3 = !{!6, !6, i64 0}
!4 = !{!"floats", !0, i64 0}
!5 = !{!"integers", !0, i64 0}
!6 = !{!"truths", !0, i64 0}
!7 = !{!8, !8, i64 0}
!8 = !{!"counts", !0, i64 0}
!9 = !{!"branch_weights", i32 1, i32 2000}
!10 = !{!11, !11, i64 0}
!11 = !{!"short floats", !0, i64 0}
'''


class Code:
    """The lines of a function; each name and label is taken once."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.taken: dict[str, int] = {}
        self.is_open = True

    def fresh(self, hint: str) -> str:
        """Return a name that is not taken."""
        count = self.taken[hint] = self.taken.get(hint, 0) + 1
        return f"{hint}.{count}"

    def do(self, text: str) -> None:
        """Write an instruction that gives nothing."""
        if not self.is_open:
            self.start(self.fresh("unreached"))
        self.lines.append(f"  {text}")

    def op(self, text: str) -> str:
        """Write an instruction, and return the name of what it gives."""
        if not self.is_open:
            self.start(self.fresh("unreached"))
        name = f"%{self.fresh('t')}"
        self.lines.append(f"  {name} = {text}")
        return name

    def slot(self, type_: str, hint: str, first: str | None = None) -> str:
        """Return a new variable of the stack, with its value at first."""
        name = f'%"{self.fresh(hint)}"'
        self.slots.append(f"  {name} = alloca {type_}")
        if first is not None:
            self.slots.append(f"  store {type_} {first}, ptr {name}")
        return name

    def load(self, type_: str, place: str) -> str:
        """Return what a variable holds."""
        return self.op(f"load {type_}, ptr {place}")

    def store(self, type_: str, value: str, place: str) -> None:
        """Let a variable hold a value."""
        self.do(f"store {type_} {value}, ptr {place}")

    # -- blocks ----------------------------------------------------------------------------------

    def start(self, label: str) -> None:
        """Begin a block; the one before goes on there unless it has its end."""
        if self.is_open:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.is_open = True

    def jump(self, label: str) -> None:
        """End a block with a jump."""
        self.do(f"br label %{label}")
        self.is_open = False

    def branch(self, test: str, then: str, orelse: str, rare: bool = False) -> None:
        """End a block with a jump to one label or the other; the first one may be rare."""
        self.do(f"br i1 {test}, label %{then}, label %{orelse}" + (", !prof !9" if rare else ""))
        self.is_open = False


def float_text(value: float) -> str:
    """Return a float as LLVM writes it: its bits."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"0x{bits:016X}"
