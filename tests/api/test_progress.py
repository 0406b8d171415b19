"""What takes long is shown on a terminal: compilations, sweeps, checkpoints, parallel work."""

from __future__ import annotations

import io
import pickle
import re
import threading
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import adcompiler as ad
from adcompiler import parallel
from adcompiler.dispatch import terminal as terminal_line
from adcompiler.compile.pipeline import Request, compile_request
from adcompiler.ir import types as t
from adcompiler.runtime import progress
from adcompiler.runtime.progress import Progress, counted, showing
from adcompiler.support.budget import Budget


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """All that stood in the line, one after the other."""
        plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", self.getvalue())
        return [" ".join(line.split()) for line in plain.split("\r") if line.strip()]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    found = Terminal()
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=found))
    monkeypatch.setattr(progress, "EVERY", 0.001)
    monkeypatch.setattr(progress, "columns", lambda: 200)
    monkeypatch.setattr(progress, "drawers", [])
    monkeypatch.setenv("ADCOMPILER_QUIET", "0")
    before = threading.active_count()
    yield found
    assert threading.active_count() == before
    assert progress._shown.get() is None
    assert not progress._screen.locked()
    text = found.getvalue()
    assert not text or text.endswith("\r\x1b[K")  # the line is gone


def loop(x: Any, n: int) -> Any:
    for _ in range(n):
        for _ in range(2):
            x = np.sin(x @ np.eye(len(x)))
    return np.sum(x)


def told(terminal: Terminal, pattern: str) -> list[float]:
    """Return the percentages of the lines that match, as they follow one another."""
    found = [re.search(pattern, line) for line in terminal.lines]
    return [float(one[1]) for one in found if one]


def test_a_gradient_with_progress_shows_loops_forward_and_reverse(terminal: Terminal) -> None:
    g = ad.grad(loop, progress=True)
    x = np.linspace(0.0, 1.0, 300)
    assert np.array_equal(g(x, 400), ad.grad(loop)(x, 400))
    forward = told(terminal, r"(\d+) %, [^:]*: grad of loop.*: forward pass, test_progress.py:\d+")
    reverse = told(terminal, r"(\d+) %, [^:]*: grad of loop.*: reverse sweep, test_progress.py:\d+")
    assert forward and forward == sorted(forward)
    assert reverse and reverse == sorted(reverse)
    assert "in counted(range(n)," in g.source and "in counted(reversed(tapes)," in g.source
    assert g.source.count("counted(") == 2  # those loops that are outermost


def test_without_it_nothing_is_counted_or_shown(terminal: Terminal) -> None:
    g = ad.grad(loop)
    g(np.ones(3), 3)
    assert "counted" not in g.source
    assert terminal.getvalue() == ""
    assert list(counted([1, 2])) == [1, 2]
    items = range(3)
    assert counted(items) is items


@pytest.mark.parametrize("quiet", ["1", "yes"])
def test_a_variable_turns_it_off(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, quiet: str
) -> None:
    monkeypatch.setenv("ADCOMPILER_QUIET", quiet)
    ad.grad(loop, progress=True)(np.ones(30), 50)
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_QUIET", "0")
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))
        with showing("work"):
            time.sleep(0.01)
        assert stream is None or stream.getvalue() == ""


def test_short_work_is_not_shown(terminal: Terminal) -> None:
    with showing("work", 10.0):
        pass
    assert terminal.getvalue() == ""


def test_work_inside_of_other_work_is_a_part_of_it(terminal: Terminal) -> None:
    with showing("outer") as outer:
        with showing("inner") as inner:
            assert inner is outer
            assert list(counted([1, 2, 3], "items")) == [1, 2, 3]
        for _ in counted(range(4), "steps"):
            assert outer.stage == "steps" and outer.total == 4
            list(counted(iter(()), "nothing"))
            assert outer.stage == "steps"
        time.sleep(0.02)
    assert any("outer" in line for line in terminal.lines)
    assert not any("inner" in line for line in terminal.lines)


def test_other_threads_work_meanwhile_without_a_line(terminal: Terminal) -> None:
    found: list[Progress] = []

    def other() -> None:
        with showing("other") as work:
            found.append(work)
            list(counted(range(3)))

    with showing("first") as work:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        time.sleep(0.02)
    assert found[0] is not work
    assert not any("other" in line for line in terminal.lines)


def test_an_exception_takes_the_line_away(terminal: Terminal) -> None:
    with pytest.raises(ValueError, match="enough"), showing("work"):
        time.sleep(0.02)
        raise ValueError("enough")
    assert terminal.lines


def test_compilations_show_the_users_function_stage_and_share(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adcompiler.dispatch import specialisations

    monkeypatch.setattr(specialisations, "PATIENCE", 0.0)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")

    def users_own(x: Any) -> Any:
        for k in range(3):
            x = np.where(x > 0.0, np.tanh(x) * k, np.exp(x)) + np.sum(x)
        return np.sum(x)

    ad.grad(lambda x: np.sum(ad.grad(users_own)(x)))(np.ones(3))
    ad.grad(users_own)(np.ones(3))
    ad.jacobian(ad.grad(users_own))(np.ones(3))
    ad.grad(ad.grad(lambda x: x**3))(2.0)
    shown = [line for line in terminal.lines if "compiling the derivative of" in line]
    assert all("_grad" not in line for line in shown)
    assert all(re.search(r"\d+\.\d s", line) for line in shown)
    stages = {
        (found[2], int(found[1])) for line in shown
        if (found := re.search(r"(\d+) %, .*: compiling the derivative of users_own: (\w+)", line))}
    assert len(stages) > 1
    assert stages <= {
        ("reading", 0), ("types", 1), ("differentiating", 35), ("optimising", 85), ("writing", 92)}


def test_stages_of_a_compile_begin_in_order() -> None:
    reached: list[tuple[str, float]] = []
    budget = Budget()
    budget.reached = lambda stage, share: reached.append((stage, share))
    compile_request(Request(loop, (t.Array("float64", 1), t.INT), wrt=(0,), budget=budget))
    stages, shares = zip(*reached, strict=True)
    assert stages == ("reading", "types", "differentiating", "optimising", "writing")
    assert list(shares) == sorted(shares) and shares[0] >= 0.0 and shares[-1] < 1.0


def waited(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes longer in each call, outside of what is compiled."""
    def call(*args: Any) -> Any:
        time.sleep(0.004)
        return f(*args)

    return call


def test_checkpointed_loops_show_the_steps_that_are_reversed(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adcompiler.runtime import checkpoints

    monkeypatch.setattr(checkpoints, "advance", waited(checkpoints.advance))

    def by_slots(x: Any, n: int) -> Any:
        return np.sum(ad.checkpoint_loop(np.sin, x, n, slots=3))

    def in_blocks(x: Any, n: int) -> Any:
        return np.sum(ad.checkpoint_loop(np.sin, x, n))

    x = np.linspace(0.1, 1.0, 5)
    found = ad.grad(by_slots, progress=True)(x, 20)
    assert found == pytest.approx(ad.grad(in_blocks)(x, 20))
    shares = told(terminal, r"(\d+) %, [^:]*: .*: steps reversed")
    assert len(set(shares)) > 3 and shares == sorted(shares)
    assert np.array_equal(ad.grad(in_blocks, progress=True)(x, 20), ad.grad(in_blocks)(x, 20))


def vector(x: Any) -> Any:
    return np.sin(x) * x[::-1]


def neighbours(x: Any) -> Any:
    return x[1:] * x[:-1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_show_their_sweeps(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    from adcompiler.api import jacobians

    monkeypatch.setattr(jacobians, "seeds_at_once", lambda count: 2)
    monkeypatch.setattr(jacobians, "MAX_UNITS", 2)
    monkeypatch.setattr(jacobians, "assembled", waited(jacobians.assembled))
    x = np.linspace(0.1, 1.0, 9)
    J = ad.jacobian(vector, mode=mode, progress=True)
    batches: list[int] = []
    real = jacobians.counted

    def counting(items: Any, stage: str, total: Any = None) -> Any:
        for item in real(items, stage, total):
            batches.append(total)
            time.sleep(0.003)
            yield item

    monkeypatch.setattr(jacobians, "counted", counting)
    assert np.array_equal(J(x), ad.jacobian(vector, mode=mode)(x))
    assert batches[:5] == [5] * 5
    shares = told(terminal, r"(\d+) %, [^:]*: jacobian of vector.*: sweeps")
    assert len(set(shares)) > 1 and shares == sorted(shares)
    assert pickle.loads(pickle.dumps(J)).progress


def test_sparse_jacobians_show_their_sweeps(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.linspace(0.1, 1.0, 9)
    for make in (ad.sparse_jacobian, ad.value_and_sparse_jacobian):
        found = make(neighbours, progress=True)(x)
        wanted = make(neighbours)(x)
        one, other = (found, wanted) if make is ad.sparse_jacobian else (found[1], wanted[1])
        assert np.array_equal(one.toarray(), other.toarray())

    def chain(x: Any) -> Any:
        return np.sum(x[1:] ** 2 * x[:-1])

    H = ad.sparse_hessian(chain, progress=True)
    assert np.array_equal(H(x).toarray(), ad.sparse_hessian(chain)(x).toarray())
    assert any("sparse_jacobian of neighbours" in line for line in terminal.lines)


def loss(w: Any, data: Any) -> Any:
    return np.sum((data - w) ** 2)


def mean_of(w: Any, draws: Any) -> Any:
    return np.mean((w - draws) ** 2)


def draw(rng: np.random.Generator, n: int) -> Any:
    time.sleep(0.003)
    return rng.normal(size=n)


def test_parallel_work_shows_what_is_done(terminal: Terminal) -> None:
    with ThreadPoolExecutor(2) as pool:
        parts = [np.full(3, float(k)) for k in range(6)]
        assert parallel.value_and_grad(loss, pool, progress=True)(1.0, parts) == (
            parallel.value_and_grad(loss, pool)(1.0, parts))
        x = np.linspace(0.1, 1.0, 9)
        for make, f in ((parallel.jacobian, vector), (parallel.sparse_jacobian, neighbours)):
            found, wanted = make(f, pool, progress=True)(x), make(f, pool)(x)
            assert np.array_equal(np.asarray(getattr(found, "toarray", lambda f=found: f)()),
                                  np.asarray(getattr(wanted, "toarray", lambda w=wanted: w)()))
        given = {"paths": 40, "seed": 1, "batch": 4}
        shown = parallel.monte_carlo(mean_of, draw, pool, progress=True, **given)(2.0)
        assert shown == parallel.monte_carlo(mean_of, draw, pool, **given)(2.0)
        starts = [np.array([k * 1.0]) for k in range(3)]
        best = parallel.multi_start(
            lambda x: np.sum((x - 1.0) ** 2), starts, pool, progress=True).best
        assert best.x == pytest.approx(1.0)
    shares = told(terminal, r"(\d+) %, [^:]*: value_and_grad of mean_of.*: batches")
    assert len(set(shares)) > 3 and shares == sorted(shares)


def test_lines_are_as_wide_as_the_terminal(terminal: Terminal) -> None:
    work = Progress("x" * 500)
    work.at("stage", 1.0, 4.0)
    progress.plain_line(work)
    assert len(terminal.lines[0]) < 200
    assert work.share == 0.25
    work.start -= 125.0
    assert re.fullmatch(r"2 min \d s", work.elapsed)
    print("\r\x1b[K", end="", file=terminal)


def test_rich_draws_a_bar(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(terminal_line, "sys", types.SimpleNamespace(stderr=terminal))
    draw = terminal_line.line_of_rich()
    assert draw is not None
    work = Progress("compiling [red]")
    work.at("types", 0.5, 1.0)
    draw(work)
    draw(Progress("y" * 300))
    first, second = terminal.lines
    assert "compiling [red]: types" in first and "50 %" in first and "━" in first
    assert len(second) <= 100
    print("\r\x1b[K", end="", file=terminal)


def test_inside_of_what_is_differentiated_it_changes_nothing(terminal: Terminal) -> None:
    def outer(x: Any) -> Any:
        return np.sum(ad.grad(loop, progress=True)(x, 3) ** 2)

    def plain(x: Any) -> Any:
        return np.sum(ad.grad(loop)(x, 3) ** 2)

    x = np.linspace(0.1, 0.9, 4)
    assert np.array_equal(ad.grad(outer)(x), ad.grad(plain)(x))


def test_progress_is_kept_by_pickles_and_is_in_the_signature() -> None:
    g = pickle.loads(pickle.dumps(ad.grad(loop, progress=True)))
    assert g.options.progress
    assert ad.value_and_grad(progress=True)(loop).options.progress
