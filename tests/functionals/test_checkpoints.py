"""Checkpoints: what the sweep computes again, how often, and in how much memory."""

import math
import tracemalloc
import warnings

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, checkpoint, checkpoint_loop, grad, source, value_and_grad, vjp,
)
from adcompiler.runtime import checkpoints
from adcompiler.runtime.functionals import Halves
from tests.language.check import check

SINES, SLOPE = 0.3524164167851707, -0.02935729892773222
RATE = 2.0
WEIGHTS = np.array([1.0, 0.5, -1.0])


def four_sines(x):
    for _ in range(4):
        x = math.sin(x)
    return x


def twenty_sines(x):
    for _ in range(5):
        x = checkpoint(four_sines, x)
    return x


def test_c9_twenty_sines_with_a_checkpoint_at_every_fourth():
    value, slope = value_and_grad(twenty_sines)(2.1)
    assert value == SINES
    assert slope == pytest.approx(SLOPE, rel=1e-15)
    text = source(twenty_sines, 2.1)
    assert "_, four_sines_residuals = four_sines_augmented(x)" in text


def test_c9_the_tape_holds_five_states_and_four_at_a_time():
    # the states of the outer loop, and what a block saves while it is reversed
    gradient = grad(twenty_sines)
    kept = gradient.explain(2.1).tape_bytes
    assert kept == 5 * 8
    block = grad(four_sines).explain(2.1).tape_bytes
    assert block == 4 * 8


@pytest.mark.parametrize("options", [
    {"every": 4}, {"every": 3}, {"every": 100}, {}, {"slots": 1}, {"slots": 3}, {"slots": 30},
    {"memory_limit": 16},
])
def test_c9_loops_of_every_kind(options):
    def sines(x):
        return checkpoint_loop(math.sin, x, 20, **options)

    gradient = value_and_grad(sines)
    assert gradient(2.1) == (SINES, pytest.approx(SLOPE, rel=1e-14))
    value, pullback = vjp(sines, 2.1)
    assert value == SINES
    assert pullback(1.0) == pullback(1.0) == (pytest.approx(SLOPE, rel=1e-14),)


def test_b17_checkpoint_of_a_library_function():
    assert grad(lambda x: checkpoint(math.sin, x))(5.0) == math.cos(5.0) == 0.28366218546322625

    def nested(x):
        return math.cos(checkpoint(math.sin, x))

    assert grad(nested)(5.0) == grad(lambda x: math.cos(math.sin(x)))(5.0)


def test_b17_keyword_arguments():
    def power(x, *, n, scale=1.0):
        return scale * x**n

    assert grad(lambda x, k: checkpoint(power, x, n=3, scale=k), argnums=(0, 1))(2.0, 5.0) == (
        60.0, 8.0,
    )


@checkpoint
def decorated(x, w=3.0):
    """Return a number."""
    return math.sin(w * x) * x


def test_a_decorated_function():
    assert decorated(0.5) == math.sin(1.5) * 0.5
    assert decorated.__doc__ == "Return a number."
    wanted = 3.0 * math.cos(1.5) * 0.5 + math.sin(1.5)
    assert grad(decorated)(0.5) == pytest.approx(wanted, rel=1e-15)
    assert grad(lambda x: decorated(x))(0.5) == pytest.approx(wanted, rel=1e-15)
    check(lambda x, w: decorated(x, w=w) * decorated(w), 0.5, 2.0)


def test_a_function_made_a_checkpoint_inside_of_the_program():
    def program(x, w):
        step = checkpoint(lambda s: np.sin(w * s) + x)
        for _ in range(3):
            x = step(x)
        return np.sum(x)

    with pytest.raises(UnsupportedError):  # `x` is assigned again after the function was made
        grad(program)(WEIGHTS, 0.5)

    def rewritten(x, w):
        step = checkpoint(lambda s, x: np.sin(w * s) + x)
        y = x
        for _ in range(3):
            y = step(y, x)
        return np.sum(y)

    check(rewritten, WEIGHTS, 0.5)


def test_what_a_closure_captured_is_differentiated():
    def program(x, w, k):
        def step(s):
            return np.tanh(w @ s) * k + WEIGHTS * RATE

        for _ in range(4):
            x = checkpoint(step, x)
        return np.sum(x * x)

    rng = np.random.default_rng(0)
    check(program, rng.normal(size=3), rng.normal(size=(3, 3)), 1.3)


def test_structures_as_arguments_and_results():
    def split(pair, table):
        (a, b), c = pair, table["c"]
        return {"sum": a + c, "product": [a * b, b * c]}

    def program(a, b, c):
        found = checkpoint(split, (a, b), {"c": c})
        return np.sum(found["sum"] * found["product"][0]) + found["product"][1]

    check(program, WEIGHTS, 0.5, 2.0)


def test_checkpoints_inside_of_checkpoints():
    def outer(x):
        return checkpoint(four_sines, checkpoint(four_sines, x)) * x

    check(lambda x: checkpoint(outer, x) + checkpoint(four_sines, x), 2.1)


def test_a_recursive_function():
    def product(x, n):
        return 1.0 if n == 0 else math.sin(x) * product(x, n - 1)

    check(lambda x: checkpoint(product, x, 5), 0.8)


def test_an_argument_that_is_written_into_afterwards():
    def square_sum(x):
        return np.sum(x * x)

    def program(x):
        x = x.copy()
        a = checkpoint(square_sum, x)
        x[0] = a
        b = checkpoint(square_sum, x)
        x[1:] *= b
        return a * b + checkpoint(square_sum, x)

    check(program, WEIGHTS)


def test_data_of_the_module_is_that_of_the_call(monkeypatch):
    def program(x):
        return checkpoint(lambda s: s * s * RATE, x)

    _, pullback = vjp(program, 3.0)
    monkeypatch.setitem(globals(), "RATE", 7.0)
    assert pullback(1.0) == (12.0,)
    assert grad(program)(3.0) == 42.0


def large_helper(x):
    for k in range(3):
        if x > k:
            x = math.sin(x) * RATE + math.cos(x * k) - k * x / (1.0 + x * x) + math.exp(-x * x)
        else:
            x = math.cos(x) * RATE - math.sin(x * k) + k * x / (2.0 + x * x) + math.tanh(x * x)
        if x < 0.5:
            x = x + math.sin(x) * math.cos(x) - math.sin(x * x) * math.cos(x * x) + k * x
    return x


def test_data_read_by_what_a_checkpoint_calls_is_refused_where_it_may_change():
    def caller(x):
        return large_helper(x) + x

    def program(x):
        return checkpoint(caller, x)

    assert grad(program)(0.7) == pytest.approx(grad(caller)(0.7), rel=1e-15)
    with pytest.raises(UnsupportedError, match="may have changed when the pullback runs it again"):
        vjp(program, 0.7)


@pytest.mark.parametrize(("effect", "message"), [
    ("write", "writes into what it is given"),
    ("draw", "draws random numbers"),
    ("global draw", "draws random numbers"),
    ("print", "effect"),
])
def test_what_must_not_run_twice_is_refused(effect, message):
    rng = np.random.default_rng(0)

    def writes(x):
        x[0] = x[1] * 2.0
        return np.sum(x * x)

    def draws(x):
        return np.sum(x * rng.normal(size=3))

    def draws_globally(x):
        return np.sum(x * np.random.normal(size=3))

    def prints(x):
        print("here")
        return np.sum(x)

    f = {"write": writes, "draw": draws, "global draw": draws_globally, "print": prints}[effect]

    def program(x):
        y = x * 1.0
        return checkpoint(f, y)

    with pytest.raises(UnsupportedError, match=message) as refused:
        grad(program)(WEIGHTS)
    (finding,) = refused.value.findings
    assert finding.text.strip() == "return checkpoint(f, y)"
    assert finding.anchor == "run-again"


# -- states that steps write into ------------------------------------------------------------------


class Wave:
    """A stepper that keeps its state in attributes."""

    def __init__(self, u, rate):
        self.u, self.v, self.rate, self.count = u, np.zeros_like(u), rate, 0

    def step(self):
        self.v += self.rate * (np.roll(self.u, 1) - 2.0 * self.u + np.roll(self.u, -1))
        self.u += self.rate * self.v
        self.count += 1


def wave(u, rate):
    v = np.zeros_like(u)
    for _ in range(7):
        v = v + rate * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
        u = u + rate * v
    return np.sum(u**3)


def wave_of_a_class(u, rate, **options):
    def step(w):
        w.step()
        return w

    w = checkpoint_loop(step, Wave(u, rate), 7, **options)
    assert w.count == 7
    return np.sum(w.u**3)


def wave_of_a_method(u, rate, **options):
    def step(w, i):
        w.step()
        w.count = i + 1
        return w

    return np.sum(checkpoint_loop(step, Wave(u, rate), 7, indexed=True, **options).u ** 3)


def wave_of_a_tuple(u, rate, **options):
    def step(state):
        u, v = state
        v += rate * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
        u += rate * v
        return state

    return np.sum(checkpoint_loop(step, (u, np.zeros_like(u)), 7, **options)[0] ** 3)


def wave_of_a_dict(u, rate, **options):
    def step(state):
        state["v"] += rate * (np.roll(state["u"], 1) - 2.0 * state["u"] + np.roll(state["u"], -1))
        state["u"] = state["u"] + rate * state["v"]
        return state

    state = {"u": u, "v": np.zeros_like(u)}
    return np.sum(checkpoint_loop(step, state, 7, **options)["u"] ** 3)


@pytest.mark.parametrize("options", [{}, {"every": 3}, {"slots": 1}, {"slots": 3}])
@pytest.mark.parametrize("function", [
    wave_of_a_class, wave_of_a_method, wave_of_a_tuple, wave_of_a_dict])
def test_steps_that_write_into_their_state(function, options):
    u = np.array([0.5, -1.0, 2.0, 0.3])
    wanted = grad(wave, (0, 1))(u, 0.3)
    given = u.copy()
    assert function(given, 0.3, **options) == pytest.approx(wave(u, 0.3), rel=1e-14)
    found = grad(lambda u, rate: function(u, rate, **options), (0, 1))(given, 0.3)
    assert np.array_equal(given, u)  # the loop takes a copy
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    assert found[1] == pytest.approx(wanted[1], rel=1e-12)


# -- loops -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"every": 2}, {"slots": 2}, {"memory_limit": 150}])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_loops_with_closures_positions_and_structured_states(options, n):
    def program(p, w):
        def step(state, i):
            p, q = state
            return p + 0.1 * q, q - 0.1 * w * np.sin(p) * (i + 1)

        p, q = checkpoint_loop(step, (p, p * WEIGHTS), n, indexed=True, **options)
        return np.sum(p * q) + p[0]

    check(program, np.array([0.4, 1.0, 2.0]), 1.7)


def test_a_state_that_starts_as_an_int_or_gets_another_precision():
    for options in ({"every": 2}, {"slots": 2}):
        def program(k, options=options):
            return checkpoint_loop(lambda s: np.cos(s * k), 1, 5, **options)

        wanted = grad(lambda k: np.cos(k * np.cos(k * np.cos(k * np.cos(k * np.cos(k))))))(0.9)
        assert grad(program)(0.9) == pytest.approx(wanted, rel=1e-14)

    def widened(x):
        return np.sum(checkpoint_loop(lambda s: np.outer(s, s)[0], x, 3, slots=2))

    check(widened, WEIGHTS)

    def changed(x):
        return checkpoint_loop(lambda s: (s, s), x, 3, slots=2)[0]

    with pytest.raises(UnsupportedError, match="a step makes a state of type"):
        grad(changed)(1.0)


def test_a_result_that_is_written_into():
    def program(x, start):
        y = checkpoint_loop(lambda s: s * start, x * 2.0, 3, slots=2)
        y[0] = y[1] * x[0]
        return np.sum(y * x)

    check(program, WEIGHTS, 0.7)

    def shared(x):
        y = checkpoint_loop(lambda s: s[::-1], x, 3, slots=2)
        y[0] = 5.0
        return np.sum(y * x)

    check(shared, WEIGHTS)


def test_no_room_for_a_state():
    with pytest.raises(ValueError, match="no room to keep one state"):
        grad(lambda x: checkpoint_loop(math.sin, x, 4, memory_limit=7))(1.0)


class Counting:
    """A step that counts its runs, and the states that are alive between them."""

    def __init__(self):
        self.runs = self.pulled = 0

    def primal(self, state, i):
        assert state == i
        self.runs += 1
        return state + 1

    def augmented(self, state, i):
        assert state == i
        return state + 1, i

    def pullback(self, residual, g):
        self.pulled += 1
        assert residual == g - 1
        return g - 1


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 55, 100])
def test_revolve_runs_the_fewest_steps_in_its_slots(n, slots, monkeypatch):
    most = 0
    advance = checkpoints.advance

    def watched(step, shots, end, slots):
        nonlocal most
        result = advance(step, shots, end, slots)
        most = max(most, len(shots))
        return result

    monkeypatch.setattr(checkpoints, "advance", watched)
    step = Counting()
    halves = Halves(step.primal, step.augmented, step.pullback, (True, False), (), "")
    bars = checkpoints.revolve_pullback(halves, n, n, (0, n, [(0, 0)], slots), ())
    assert bars[0] == 0 and step.pulled == n
    assert most <= slots
    assert step.runs == checkpoints.reversal_steps(n, slots) == fewest(n, slots)


def fewest(n, slots, known={}):  # noqa: B006 (a table of what is known)
    """Return the fewest steps to be run again, by trying every place for the next state."""
    if n <= 1:
        return 0
    if slots == 1:
        return n * (n - 1) // 2
    if (n, slots) not in known:
        known[n, slots] = min(
            m + fewest(n - m, slots - 1) + fewest(m, slots) for m in range(1, n)
        )
    return known[n, slots]


def test_revolve_counts_of_the_paper():
    # Griewank & Walther (2000): 10 steps in 3 snapshots take 15 further ones; r = t = 2
    assert checkpoints.reversal_steps(10, 3) == 15
    assert checkpoints.repetitions(10, 3) == 2
    assert [checkpoints.reversible(s, r) for s, r in [(3, 2), (5, 5), (1, 9)]] == [10, 252, 10]


def heat(x, options):
    def step(u):
        return u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 1e-3 * u**3

    return np.sum(checkpoint_loop(step, x, 2000, **options) ** 2)


def peak(function, *args):
    """Return the most memory that a call takes which is not the first: the least of two.

    Other threads take some, too.
    """
    peaks = []
    for _ in range(2):
        tracemalloc.start()
        try:
            function(*args)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


def test_the_memory_of_a_long_loop_stays_in_its_bounds():
    x = np.cos(np.arange(200.0))
    state = x.nbytes
    plain = grad(lambda x: heat(x, {"every": 2000}))
    blocks = grad(lambda x: heat(x, {}))
    bounded = grad(lambda x: heat(x, {"memory_limit": 20 * state}))
    wanted = plain(x)
    np.testing.assert_allclose(blocks(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(bounded(x), wanted, rtol=1e-12)
    tape = peak(plain, x)
    assert tape > 2000 * state
    assert peak(blocks, x) < tape / 10
    assert peak(bounded, x) < (20 + 20) * state  # the states, and the values of one step


@pytest.mark.parametrize("options", [{}, {"every": 3}, {"slots": 3}, {"memory_limit": 500}])
def test_a_step_without_return_is_refused_once(options):
    said = "the step of checkpoint_loop returns None"

    def without(x):
        def step(u, i):
            u += 0.1 * np.sin(u)

        return np.sum(checkpoint_loop(step, x, 10, indexed=True, **options))

    x = np.ones(3)
    with pytest.raises(TypeError, match=f"^{said}: return the state$"):
        without(x)
    with pytest.raises(TypeError, match=f"^{said}: return the state$"):
        grad(without, backend="record")(x)
    for backend in ("python", "native"):
        with warnings.catch_warnings(), pytest.raises(UnsupportedError) as caught:
            warnings.simplefilter("error")
            grad(without, backend=backend)(x)
        first, *more = str(caught.value).splitlines()
        assert first.endswith(said) and "test_checkpoints.py" in first
        assert [line for line in more if "instead:" in line] == ["  instead: return the state"]
    assert np.array_equal(x, np.ones(3))
