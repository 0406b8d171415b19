"""Loops that LLVM compiles: the bits of the plain text, kept code, arguments of all kinds."""

from __future__ import annotations

import ctypes
import gc
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.backends.native.emit.functions import MANY
from adcompiler.backends.native.emit.llvm import llvm_ir
from adcompiler.backends.native.emit.types import NotEmitted
from adcompiler.cache.objects import Objects
from adcompiler.cache.trust import COMPILED
from adcompiler.compile.backends import BACKENDS
from adcompiler.errors import UnsupportedError
from adcompiler.runtime.machine import loops as llvm_loops
from adcompiler.runtime.machine.llvm import engine
from adcompiler.runtime.machine.loops import Loops, Source
from adcompiler.runtime.native import has_compiler, has_llvm
from adcompiler.runtime.machine.threads import Turns
from benchmarks.timing import status
from tests.lanes import one_in
from tests.native import array_programs, island_programs, list_programs, programs
from tests.native.test_backends_agree import outcome, same

pytest.importorskip("llvmlite")

VECTOR, MATRIX = ("float64", 1, True), ("float64", 2, True)
STRIDED = ("float64", 1, False)


@pytest.fixture(autouse=True)
def by_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let LLVM compile loops."""
    monkeypatch.setenv("ADCOMPILER_NATIVE", "llvm")
    llvm_loops.refused.clear()


def loops_of(text: str, name: str = "f", **names: Any) -> Any:
    """Return the loops of a text as LLVM compiles them; its functions have one decorator."""
    made: list[Loops] = []

    def compiled(function: Any) -> Any:
        made.append(Loops(function))
        return made[-1]

    found: dict[str, Any] = {"np": np, "math": math, "compiled": compiled, **names}
    exec(text, found)
    for one in made:
        one.source = Source(text, llvm_ir)
    return found[name]


def lines_of(text: str, *key: Any) -> list[str]:
    """Return the lines of the one function of a text, without what it declares."""
    found = llvm_ir(text, "f", key).text
    begin = found.index('define internal i32 @"f.0"')
    return [line.strip() for line in found[begin : found.index("\n}", begin)].split("\n")]


def test_the_text_of_a_loop() -> None:
    """A slot for each name; positions that cannot be negative are taken as they are."""
    text = (
        "@compiled\ndef f(x):\n    total = 0.0\n    for i in range(x.shape[0]):\n"
        "        total = total + x[i]\n    return True, total\n")
    lines = lines_of(text, VECTOR)
    assert lines[0] == ('define internal i32 @"f.0"(ptr readonly %x0.data, i64 %x0.n0, '
                        "ptr noalias %results) nounwind {")
    assert [line for line in lines if "alloca" in line] == [
        '%"status.1" = alloca i32', '%"x.n.1" = alloca i64', '%"x.1" = alloca ptr',
        '%"total.1" = alloca double', '%"i.1" = alloca i64', '%"i.at.1" = alloca i64']
    body = lines[lines.index("body.1:") : lines.index("next.1:")]
    assert body[1:] == [
        'store i64 %t.6, ptr %"i.1"', '%t.8 = load double, ptr %"total.1"',
        '%t.9 = load i64, ptr %"x.n.1"', '%t.10 = load ptr, ptr %"x.1"',
        '%t.11 = load i64, ptr %"i.1"',
        "%t.12 = getelementptr inbounds double, ptr %t.10, i64 %t.11",
        "%t.13 = load double, ptr %t.12, !tbaa !1", "%t.14 = fadd double %t.8, %t.13",
        'store double %t.14, ptr %"total.1"', "br label %next.1"]
    asks = lines[lines.index("block_done.1:") : lines.index("done.1:")]
    assert asks[2:6] == [
        "%t.18 = icmp slt i64 %t.17, %t.1", "br i1 %t.18, label %some_left.1, label %done.1",
        "some_left.1:", "%t.19 = call i32 @PyErr_CheckSignals()"]
    strided = lines_of(text, STRIDED)
    assert sum(" = mul i64" in line for line in strided) == 1
    from_end = lines_of(text.replace("x[i]", "x[-i]"), VECTOR)
    assert sum(" = select i1" in line and ", i64" in line for line in from_end) == 1


def test_only_storage_of_loops_that_is_handed_on_counts_references() -> None:
    text = (
        "@compiled\ndef f(x, n):\n    a = np.zeros(n)\n    b = np.zeros(n)\n"
        "    for i in range(n):\n        c = np.empty(n)\n        b = c\n        a[i] = b[0]\n"
        "    return True, a[0]\n")
    slots = [line for line in lines_of(text, VECTOR, "int64") if "alloca" in line]
    blocks = {line.split('"')[1] for line in slots if ".block" in line}
    assert blocks == {"b.block.1", "c.block.1"}
    assert sum('%"own.' in line for line in slots) == 1


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_programs_have_the_bits_of_the_plain_text(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is refused."""
    cases = [*programs.PROGRAMS.items(), *array_programs.PROGRAMS.items(),
             *list_programs.PROGRAMS.items(), *island_programs.PROGRAMS.items()]
    for program, args in cases[part::12]:
        native = value_and_grad(program, backend="native")
        got = outcome(native, *args)
        assert llvm_loops.refused == {}, program
        monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
        expected = outcome(value_and_grad(program, backend="native"), *args)
        monkeypatch.setenv("ADCOMPILER_NATIVE", "llvm")
        assert same(got, expected), program


WRONG = '''
@compiled
def f(a, b, x, n):
    no_float64_1d = np.empty(0)
    if n < 0:
        return False, 0, 0, 0, 0, no_float64_1d
    return True, a // b, a % b, int(x), np.left_shift(a, b), np.zeros(n)
'''


def test_what_c_lets_happen_does_not_happen() -> None:
    f = loops_of(WRONG)
    least, most = -2**63, 2**63 - 1
    cases: list[tuple[Any, ...]] = [
        (7, 2, 1.5), (-7, 2, -1.5), (7, -2, 0.0), (5, 0, 1e300), (least, -1, -1e300),
        (least, 0, math.nan), (most, 1, math.inf), (-6, -1, 1.0), (1, 64, 2.0), (1, 70, 2.0),
    ]
    for a, b, x in cases:
        done, quotient, rest, whole, _, zeros = f(a, b, x, 3)
        assert done and zeros.tolist() == [0.0] * 3
        if b not in (0, -1):
            assert (quotient, rest) == (a // b, a % b)
        limited = 0 if x != x else max(least, min(most, int(max(min(x, 1e19), -1e19))))
        assert whole == limited
    assert f(1, 1, 1.0, -1) == (False,) + (None,) * 5
    assert f(1, 1, 1.0, 2**60)[0] is False  # there is no such memory


KINDS = '''
@compiled
def f(x, k, flag, A):
    total = 0.0
    for i in range(x.shape[0]):
        total = total + x[i] * k
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if flag:
                total = total + A[i, j]
    return True, total, k, flag
'''


def test_arguments_of_all_kinds() -> None:
    f = loops_of(KINDS)
    x, A = np.arange(6.0), np.arange(6.0).reshape(2, 3)
    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    read_only = x.copy()
    read_only.flags.writeable = False
    for one in (x, x[::2], x[::-1], x.astype(">f8"), misaligned, read_only, x[:0]):
        for k in (2, 2.0, np.int64(2), np.float64(2.0), -(2**62)):
            for flag in (True, np.False_):
                for B in (A, A.T, A[:, ::2], np.asfortranarray(A)):
                    total = 0.0
                    for item in one:
                        total += item * k
                    for item in B.ravel() if flag else ():
                        total += item
                    assert f(one, k, flag, B) == (True, total, k, bool(flag))
    with pytest.raises(OverflowError):
        f(x, 2**63, True, A)


EXCHANGED = '''
@compiled
def f(x, n):
    u = np.zeros(x.shape[0])
    v = np.full(x.shape[0], 1.0)
    for k in range(n):
        u, v = v, u
        w = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            w[i] = u[i] + x[i]
        v = w
    return True, u, v[1:], x[::2]
'''


def test_storage_that_is_handed_on_lives_as_long_as_it_is_referred_to() -> None:
    f = loops_of(EXCHANGED)
    x = np.arange(5000.0)
    kept = []
    for n in (0, 1, 2, 7):
        done, u, v, taken = f(x, n)
        a, b = np.zeros(5000), np.ones(5000)
        for _ in range(n):
            a, b = b, b + x
        assert done
        kept.append(((u, v, taken), (a, b[1:], x[::2])))
        gc.collect()
    for got, expected in kept:
        assert all(map(np.array_equal, got, expected))
    assert not np.may_share_memory(kept[0][0][2], x)  # a part of an argument is copied


def test_an_argument_that_is_returned_is_that_very_object() -> None:
    text = """
@compiled
def f(x, y, n):
    out = x
    if n == 1:
        out = y
    if n == 2:
        out = np.zeros(x.shape[0])
    return True, out, y, y[1:]
"""
    f = loops_of(text)
    x, y = np.arange(3.0), np.arange(4.0)
    y.flags.writeable = False
    for n, expected in ((0, x), (1, y)):
        _, first, second, part = f(x, y, n)
        assert first is expected and second is y and not np.may_share_memory(part, y)
        assert part.tolist() == [1.0, 2.0, 3.0]
    assert f(x, y, 2)[1].tolist() == [0.0] * 3


def test_what_compiles_is_chosen_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of each compiler has a place of its own in the cache."""
    found = {}
    for name in ("", "llvm", "plain"):
        monkeypatch.setenv("ADCOMPILER_NATIVE", name)
        found[name] = has_compiler(), BACKENDS["native"].state()
    assert found[""] == found["llvm"] == (has_llvm(), "llvm" if has_llvm() else "nothing")
    assert found["plain"] == (False, "plain")


def test_a_forked_process_waits_for_nobody() -> None:
    turns, held, done = Turns(), threading.Event(), threading.Event()

    def hold(lock: Any = turns.lock) -> None:
        with lock:
            held.set()
            done.wait(30.0)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30.0)
    assert not turns.lock.acquire(blocking=False)
    turns.renew()  # as it is after a fork
    with turns:
        done.set()
    thread.join()


def test_threads_share_what_is_compiled() -> None:
    x = np.linspace(0.0, 1.0, 9)
    native = value_and_grad(array_programs.relax, backend="native")
    f = np.sin(x)
    expected = value_and_grad(array_programs.relax)(x, f)
    barrier = threading.Barrier(4)

    def run(_: int) -> bool:
        barrier.wait()
        return all(same(native(x, f), expected) for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


def test_code_is_kept_and_damaged_code_is_made_again(tmp_path: Any) -> None:
    entry = tmp_path / "ab" / "module.py"
    entry.parent.mkdir()
    store, written = Objects(entry), list[str]()

    def emit(*given: Any) -> Any:
        written.append(given[1])
        return llvm_ir(*given)

    def run() -> Any:
        f = loops_of(KINDS)
        f.source = Source(KINDS, emit, store)
        return f(np.arange(3.0), 2, True, np.ones((2, 2)))

    expected = (True, 10.0, 2, True)
    assert run() == expected and run() == expected and written == ["f"]
    (file,) = (entry.parent / COMPILED).glob("*.f-*")
    assert file.name.startswith("adcompiler_loops_module.f-")
    content = file.read_bytes()
    for damaged in (b"", content[:-100], content[:200] + b"\0" + content[201:], b"\n\n" * 60):
        file.write_bytes(damaged)
        before = len(written)
        assert run() == expected and len(written) == before + 1
        assert file.read_bytes() == content
    other = file.with_name(file.name.replace(".f-", ".g-"))
    file.rename(other)
    assert store.read(other.name.split(".")[1]) is None  # the checksum covers the name


def test_what_a_call_in_python_raises_comes_through() -> None:
    text = '''
@compiled
def called(x):
    return answer_of(inner, "float64[::1]", False, x)


@compiled
def f(x):
    no_float64_1d = np.empty(0)
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0
    answer = called(y[1:])
    if not answer[0]:
        return False, no_float64_1d
    z = answer[1]
    return True, z
'''
    seen: list[Any] = []

    def inner(x: Any) -> Any:
        seen.append(x)
        if x[0] > 10.0:
            raise KeyboardInterrupt
        return x + 1.0 if x[0] > 0.0 else None

    from adcompiler.runtime.native import answer_of

    whole = text.replace("called(y[1:])", "called(x)")
    x = np.ones(3)
    given = loops_of(whole, inner=inner, answer_of=answer_of)
    before = sys.getrefcount(x)
    assert given(x)[1].tolist() == [2.0] * 3
    assert np.may_share_memory(seen.pop(), x)  # storage of an argument is not copied
    gc.collect()
    assert sys.getrefcount(x) == before
    f = loops_of(text, inner=inner, answer_of=answer_of)
    assert f(np.ones(3))[1].tolist() == [3.0, 3.0]
    assert f(-np.ones(3)) == (False, None)
    with pytest.raises(KeyboardInterrupt):
        f(np.full(3, 6.0))
    gc.collect()
    assert [one.tolist() for one in seen] == [[2.0] * 2, [-2.0] * 2, [12.0] * 2]


def test_storage_is_kept_between_calls_up_to_a_limit() -> None:
    text = "@compiled\ndef f(n):\n    a = np.empty(n)\n    a[0] = 1.0\n    return True, a\n"
    f = loops_of(text)

    def address() -> int:
        made: np.ndarray[Any, Any] = f(100_000)[1]
        return made.ctypes.data

    first = address()
    assert address() == first  # nobody refers to the first one any more
    held = f(100_000)[1]
    assert address() != held.ctypes.data
    drain = ctypes.CFUNCTYPE(None)(engine().symbols["adcompiler_drain"])
    drain()
    assert f(100_000)[1][0] == 1.0


def test_what_is_not_emitted_is_refused() -> None:
    for text in ("    y = [1]\n    return True, 1.0\n", "    return True, np.sort(x)\n",
                 "    x[0:2] = 1.0\n    return True, 1.0\n", "    return 1.0\n"):
        with pytest.raises(NotEmitted):
            llvm_ir(f"@compiled\ndef f(x):\n{text}", "f", (VECTOR,))


def test_what_is_not_emitted_is_python_or_told(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    from adcompiler.dispatch import native_source

    def refusing(*given: Any) -> Any:
        tries.append(given)
        raise NotEmitted("nothing is emitted")

    tries: list[Any] = []
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    monkeypatch.setattr(native_source, "emit", refusing)
    A = np.ones((3, 4))
    expected = value_and_grad(array_programs.over_rows)(A)
    auto = value_and_grad(array_programs.over_rows, backend="auto")
    for _ in range(3):
        assert same(auto(A), expected)
    told = "LLVM does not compile it (NotEmitted: nothing is emitted)"
    assert told in auto.explain(A).backend and len(tries) == 1
    with pytest.raises(UnsupportedError, match="LLVM does not compile it"):
        value_and_grad(array_programs.over_rows, backend="native")(A)


@pytest.mark.parametrize("count", [MANY // 2, MANY, MANY + 6, 3 * MANY])
def test_any_number_of_blocks_is_released_wherever_a_function_ends(count: int) -> None:
    """As many are made again in each iteration; every third one is a part of the one before."""
    made = "".join(
        f"        a{k} = a{k - 1}[1:]\n" if k % 3 == 2 else
        f"        a{k} = np.full(n, {k}.0 + i)\n" for k in range(count))
    text = (
        f"@compiled\ndef f(n, stop):\n    total = 0.0\n    for i in range(3):\n{made}"
        f"        total += {' + '.join(f'a{k}[0]' for k in range(count))}\n"
        f"        if i == stop:\n            return False, total, a0\n"
        f"    return True, total, a{count - 1}\n")
    lines = lines_of(text, "int64", "int64")
    assert any("%owners = alloca" in line for line in lines) is (count > MANY)
    f = loops_of(text)
    wanted = sum(k - (k % 3 == 2) + i for i in range(3) for k in range(count))
    size = 20_000
    for _ in range(20):
        done, total, last = f(size, -1)
        assert done is True and total == wanted and last[0] == count - 1 - (
            (count - 1) % 3 == 2) + 2.0
        assert f(size, 1)[0] is False
    if sys.platform != "linux":
        return
    before = status("VmRSS")
    for _ in range(200):
        f(size, -1), f(size, 0), f(size, 2)
    assert status("VmRSS") - before < 40 * 8 * size
