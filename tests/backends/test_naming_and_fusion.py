"""Names in emitted code, and what is fused across them: gradients against closed forms."""

import ast
import math
import operator

import numpy
import numpy as np
import pytest

from adcompiler import grad, source, value_and_grad, vjp
from adcompiler.analyses.purity import Purity
from adcompiler.backends.python.free_names import settle
from adcompiler.backends.python.lower import FunctionLowering
from adcompiler.backends.python.printer.source import emit_source
from adcompiler.backends.python.references import References
from adcompiler.ir.nodes import Block, Call, Const, Function, Let, Origin, Param, Var
from adcompiler.runtime import add_at
from adcompiler.typed.unit import Unit

V = np.array([0.5, -1.5, 2.0])
M = np.array([[0.5, -1.0, 2.0], [0.25, 1.5, -0.75]])
PROGRAMS = []


def program(*args, gradient):
    """Add a program; ``gradient`` gives its derivative for each of ``args`` in closed form."""

    def add(function):
        PROGRAMS.append(pytest.param(function, args, gradient, id=function.__name__))
        return function

    return add


def close(got, wanted):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


# -- variables named like what emitted code uses ---------------------------------------------------


@program(1.25, V, gradient=lambda x, v: (3 * x**2 * np.sum(v**3), 3 * x**3 * v**2))
def locals_named_like_builtins(x, v):
    len = 0.0
    for range in v:
        reversed = x * range
        zip = reversed * reversed
        len = len + zip * reversed
    return len


@program(
    1.25, 0.5, -2.0, V,
    gradient=lambda range, len, reversed, zip: (
        np.sum(zip**3) + 3 * len * reversed, 3 * range * reversed, 3 * range * len,
        3 * range * zip**2,
    ),
)
def parameters_named_like_builtins(range, len, reversed, zip):
    total = 0.0
    for item in zip:
        square = item * item
        total = total + range * square * item + range * len * reversed
    return total


@program(1.25, V, gradient=lambda enumerate, v: (np.sum(v) * 2 * enumerate, enumerate**2 + 0 * v))
def parameter_named_enumerate_or_slice(enumerate, v):
    slice = v[::-1]
    float = 0.0
    for list in slice:
        float = float + list * enumerate * enumerate
    return float


@program(V, 0.5, gradient=lambda np_, math_: (
    math_ * np.cos(np_) * np.exp(math_), np.sum(np.sin(np_)) * np.exp(math_) * (1 + math_)
))  # fmt: skip
def parameters_named_like_modules(np, math):
    return numpy.sum(numpy.sin(np) * math) * numpy.exp(math)


@program(0.75, gradient=lambda x: ((2 * x + 3 * x**2) * math.cos(x**2 + x**3),))
def locals_named_like_modules(x):
    np = x * x
    math = np * x
    operator = np + math
    return numpy.sin(operator)


@program(V, M, 0.5, gradient=lambda v, m, s: (
    2 * v * s * np.sum(m, axis=0), s * np.broadcast_to(v**2, m.shape), np.sum(v**2 * m)
))  # fmt: skip
def parameters_named_like_runtime_helpers(unbroadcast, project, like):
    return np.sum(unbroadcast * project * unbroadcast * like)


@program(0.5, V, 3, gradient=lambda x, v, n: (np.sum(v**n), n * x * v ** (n - 1)))
def parameters_named_like_the_fitting_of_a_scalar(like, project, seed):
    for _ in range(seed):
        like = like * project
    return np.sum(like)


@program(V, V[:2], gradient=lambda v, w: (
    [np.sum(w * np.cos(a * w)) for a in v], [np.sum(v * np.cos(b * v)) for b in w]
))  # fmt: skip
def parameters_that_are_stretched(same_shape, unbroadcast):
    return np.sum(np.sin(same_shape[:, np.newaxis] * unbroadcast))


@program(V, V + 1.0, gradient=lambda v, w: (2 * v * w, v**2))
def parameters_whose_shapes_are_compared(same_shape, same_trailing_shape):
    return np.sum(same_shape * same_trailing_shape * same_shape)


@program(V, gradient=lambda v: (np.array([2 * v[0] + v[1], v[0], 3 * v[2] ** 2]),))
def locals_named_like_runtime_helpers(v):
    add_at = v[0]
    zeros_like = v[1] * add_at
    seed = v[2] ** 3
    append = add_at * v[0]
    return zeros_like + seed + append


@program(0.5, V, gradient=lambda x, v: (4 * x**3 * np.sum(v**2), 2 * x**4 * v))
def names_close_to_keywords(lambda_, class_):
    match = lambda_ * lambda_
    case = match * match
    type = class_ * class_
    _ = case * type
    None_ = np.sum(_)
    return None_


@program(0.5, V, gradient=lambda x, v: (2 * x * np.sum(v), x**2 + 0 * v))
def names_that_the_compiler_makes_up(x, v):
    x_bar, tape, value = x, 0.0, 1.0
    for v_bar in v:
        total = x_bar * v_bar
        total_bar = total * x
        tape = tape + total_bar * value
    pullback = tape
    return pullback


@program(0.5, 2.0, gradient=lambda x, y: (2 * x * y**2 + y, 2 * x**2 * y + x))
def numbered_names(x, x_1):
    y_1 = x * x_1
    y = y_1 * y_1
    y_2 = y + y_1
    return y_2


def unbroadcast(x, y):
    return np.sum(x * y) * y


def project(np, x):
    return np * np * x


@program(V, 0.5, gradient=lambda v, s: (2 * v * s + s**2, np.sum(v**2) + 2 * s * np.sum(v)))
def calls_of_functions_named_like_runtime_helpers(v, s):
    return np.sum(project(v, s)) + unbroadcast(v, s)


# -- reassigned names ------------------------------------------------------------------------------


@program(0.75, 1.5, 3, gradient=lambda x, y, n: (y**2 + 4 * x * y**3, 2 * x * y + 6 * x**2 * y**2))
def swap_with_a_product(a, b, n):
    for _ in range(n):
        a, b = b, a * b
    return a + 2.0 * b


@program(0.75, 1.5, 3, gradient=lambda x, y, n: (2 * y * x, x**2))
def swap_an_odd_number_of_times(a, b, n):
    for _ in range(n):
        a, b = b, a
    return a * b * b


@program(0.75, 1.5, -0.5, 4, gradient=lambda a, b, c, n: (c**3, 2 * b * 3.0, 3 * a * c**2))
def rotate_three(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a
    # n = 4: a, b, c are the arguments b, c, a
    return 3.0 * a * a + b * b * b * c


@program(0.75, 1.5, 5, gradient=lambda a, b, n: (3.0, 5.0))
def swap_in_a_while_loop(a, b, n):
    while n > 0:
        a, b, n = b, a + b, n - 1
    return a


@program(0.75, gradient=lambda x: (36 * x**3 + 6 * x,))
def value_read_after_its_name_is_assigned_again(x):
    y = x * x
    z = y * 3.0
    y = z + 1.0
    return y * z


@program(0.75, gradient=lambda x: (8 * x**3,))
def old_value_kept_under_another_name(x):
    y = x * x
    old = y
    y = y * 2.0
    return old * y


@program(0.75, 1.5, gradient=lambda x, y: (4 * x + 2 * y, 2 * x))
def sum_fused_across_a_reassigned_parameter(x, y):
    s = x + y
    x = x * 2.0
    return s * x


@program(0.75, V, gradient=lambda x, v: (
    sum(2 * 0.25**k * x * u for k, u in enumerate(v)), np.array([x**2, x**2 / 4, x**2 / 16])
))  # fmt: skip
def product_fused_across_a_carried_name(x, v):
    total = 0.0
    for u in v:
        x, total = x * 0.5, total + x * u * x
    return total


@program(1.5, True, gradient=lambda x, c: (6 * x**2 if c else 1.0,))
@program(1.5, False, gradient=lambda x, c: (6 * x**2 if c else 1.0,))
def expression_read_after_a_branch_assigned_its_operand(x, c):
    y = x * x
    z = 1.0
    if c:
        z, x = y + y, x
        y = z * x
    else:
        y = x
    return y


@program(V, gradient=lambda v: (np.array([v[1] + 2 * v[0], v[0] + 3 * v[1] ** 2, 1.0]),))
def elements_read_again_after_the_array_is_replaced(v):
    first, second = v[0], v[1]
    v = v * 1.0
    return first * second + v[0] * first + v[1] * second * v[1] + v[2]


@program(0.75, V, gradient=lambda y, v: (2 * np.sum(v**2), 4 * y * v))
def comprehension_variable_hides_a_local(y, v):
    y = y * 2.0
    squares = sum([y * y for y in v])
    return squares * y


@program(0.75, V, gradient=lambda x, v: (np.sum(v) + v[2], x + np.array([0.0, 0.0, x])))
def loop_variable_read_after_the_loop(x, v):
    total = 0.0
    for u in v:
        total = total + u * x
    return total + u * x


@program(V, gradient=lambda v: (
    np.array([2 * v[0] + v[1] + v[2], v[0] + 2 * v[1] + v[2], v[0] + v[1] + 2 * v[2]]),
))  # fmt: skip
def element_read_while_its_gradient_is_written(v):
    total = 0.0
    for i in range(3):
        for j in range(i, 3):
            total = total + v[i] * v[j]
    return total


@pytest.mark.parametrize(("function", "args", "gradient"), PROGRAMS)
def test_gradient_is_the_closed_form(function, args, gradient):
    argnums = tuple(i for i, a in enumerate(args) if isinstance(a, (float, np.ndarray)))
    wanted = gradient(*args)
    value, got = value_and_grad(function, argnums=argnums)(*args)
    np.testing.assert_allclose(value, function(*args), rtol=1e-14)
    close(got, wanted)
    value, pullback = vjp(function, *args, argnums=argnums)
    close(pullback(1.0), wanted)
    close(pullback(-2.0), [-2.0 * np.asarray(w) for w in wanted])


@pytest.mark.parametrize(("function", "args", "gradient"), PROGRAMS)
def test_emitted_names_hide_nothing_that_is_called(function, args, gradient):
    for scope in ast.parse(source(function, *args)).body:
        if not isinstance(scope, ast.FunctionDef):
            continue
        nodes = list(ast.walk(scope))
        local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        local |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        calls = [n.func for n in nodes if isinstance(n, ast.Call)]
        assert not local & {f.id for f in calls if isinstance(f, ast.Name)}


def test_parameters_named_like_builtins_are_passed_by_name():
    gradient = grad(parameters_named_like_builtins)(range=1.25, len=0.5, reversed=-2.0, zip=V)
    assert gradient == pytest.approx(np.sum(V**3) - 3.0)


def test_expression_is_not_fused_across_a_write_into_what_it_reads():
    buffer, doubled, written, total = Var("buffer"), Var("d", True), Var("w"), Var("t", True)
    origin = Origin("f.py", 1, 0, "")
    body = Block((
        Let(doubled, Call(Const(operator.mul), (buffer, Const(2.0))), origin),
        Let(written, Call(Const(add_at), (buffer, Const(0), Const(1.0))), origin),
        Let(total, Call(Const(operator.add), (doubled, written)), origin),
    ), (total,))
    unit = Unit()
    function = Function("f", (Param(buffer, 1),), body, origin)
    purity = Purity(unit.type, unit.definition)
    lowering = FunctionLowering(function, unit, References(unit), purity)
    scope = {"add_at": add_at}
    lowered = lowering.lower()
    settle([], [lowered])
    exec(emit_source(lowered), scope)
    np.testing.assert_array_equal(scope["f"](np.array([1.0, 5.0])), [4.0, 15.0])


def taken_apart(x, layers):
    n, m = x.shape
    low, high = x[0]
    total = low * high / (n + m)
    for W, b in layers:
        total = total * np.sum(W * b)
    return total


def test_what_is_taken_apart_has_the_names_that_it_is_assigned_to():
    layers = [(np.ones(2), 2.0), (np.ones(3), 3.0)]
    text = source(taken_apart, np.ones((2, 2)), layers)
    lines = [line.strip() for line in text.splitlines()]
    assert "n, m = x.shape" in lines
    assert any(line.startswith("low, high = ") for line in lines)
    assert "for W, b in layers:" in lines
    assert not any(word.startswith("part") for word in text.split())
    bar = grad(taken_apart)(np.array([[2.0, 3.0], [5.0, 7.0]]), layers)
    np.testing.assert_allclose(bar, [[3.0 * 9.0, 2.0 * 9.0], [0.0, 0.0]])
