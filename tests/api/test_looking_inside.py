"""``source``, ``source_for``, ``module_path``, ``explain``: what was emitted, and how it works."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from adcompiler import UnsupportedError, grad, source, value_and_grad, vjp
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.annotations import parse_arguments, parse_type, type_of_annotation
from adcompiler.ir import types as t


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))


def body_of(text: str, name: str) -> str:
    """Return the last statement of an emitted function."""
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    return ast.unparse(functions[name].body[-1])


def gradient_in(text: str, name: str, *args: Any) -> Any:
    """Run an emitted module by itself and return what one of its functions returns."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "emitted", "exec"), namespace)
    return namespace[name](*args)


def opaque(x: float) -> float:
    return x


OPAQUE = np.frompyfunc(opaque, 1, 1)


def maximum_in_place(x):  # type: ignore[no-untyped-def]
    y = x * 1.0
    np.exp.at(y, [0])
    return y[0]


def product(x: float, y: float) -> float:
    return x * y


# --- source -----------------------------------------------------------------------------------


def test_source_before_any_call_follows_annotations() -> None:
    text = grad(product).source
    assert "adcompiler" not in text
    assert body_of(text, "product_grad") == "return y"


def test_annotated_integers_count_as_floats() -> None:
    def f(x: int, n: int) -> int:
        return x * n

    assert gradient_in(grad(f).source, "f_grad", 2.0, 3) == 3.0
    assert type(gradient_in(grad(f).source, "f_grad", 2.0, 3)) is float


@pytest.mark.parametrize(
    "hint", [np.ndarray, npt.NDArray[np.float64], npt.ArrayLike, Any, None, "Missing"],
)
def test_arrays_of_open_shape_give_generic_code(hint: Any) -> None:
    def f(x, y):  # type: ignore[no-untyped-def]
        return np.sum(np.sin(x) * y)

    f.__annotations__ = {"x": hint, "y": hint}
    text = grad(f, argnums=(0, 1)).source
    for x, y in (
        (0.5, 2.0), (np.ones(3), 2.0), (2.0, np.ones(3)), (np.ones((2, 1)), np.ones(3)),
        (np.ones(3, np.float32), np.ones((2, 3))),
    ):
        wanted = grad(f, argnums=(0, 1))(x, y)
        for found, gradient in zip(gradient_in(text, "f_grad", x, y), wanted, strict=True):
            assert np.allclose(found, gradient)
            assert np.shape(found) == np.shape(gradient)


def test_source_changes_with_the_last_call() -> None:
    g = grad(lambda x: np.sum(x * x))
    generic = g.source
    g(1.0)
    scalar = g.source
    g(np.ones(2))
    assert len({generic, scalar, g.source}) == 3
    assert g.source_for(1.0) == scalar
    assert g.source_for(np.zeros(5)) == g.source


def test_the_source_is_what_runs() -> None:
    g = value_and_grad(product, argnums=(0, 1))
    assert g(2.0, 3.0) == (6.0, (3.0, 2.0))
    assert gradient_in(g.source, "product_value_and_grad", 2.0, 3.0) == (6.0, (3.0, 2.0))


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("grad", ["product_grad"]), ("reverse", ["product_grad"]),
        ("value_and_grad", ["product_value_and_grad"]),
        ("vjp", ["product_augmented", "product_pullback"]),
    ],
)
def test_source_of_a_function_by_mode(mode: str, names: list[str]) -> None:
    for text in (source(product, mode=mode), source(product, 1.0, y=2.0, mode=mode)):
        tree = ast.parse(text)
        assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == names


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'sideways' is not one of grad, value_and_grad, primal"):
        source(product, mode="sideways")


def test_source_of_code_that_asks_for_types() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    text = grad(optimize.rosen).source
    x = np.linspace(0.0, 1.0, 4)
    assert np.allclose(gradient_in(text, "rosen_grad", x), optimize.rosen_der(x))


def test_source_of_code_that_is_refused() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        global seen
        seen = x
        return seen

    with pytest.raises(UnsupportedError, match="seen"):
        _ = grad(f).source
    with pytest.raises(UnsupportedError, match=r"exp.at\(\) writes into an array"):
        _ = grad(maximum_in_place).source
    with pytest.raises(UnsupportedError, match="opaque"):
        _ = grad(lambda x: np.sum(OPAQUE(x))).source


# --- files ------------------------------------------------------------------------------------


def test_the_module_is_a_file_that_can_be_imported(tmp_path: Path) -> None:
    g = grad(product)
    assert g(2.0, 3.0) == 3.0
    path = g.module_path
    assert path is not None
    assert path.is_relative_to(tmp_path / "cache")
    spec = importlib.util.spec_from_file_location("emitted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.product_grad(2.0, 3.0) == 3.0
    assert path.read_text(encoding="utf-8").endswith(g.source)
    assert g.compiled_for(2.0, 3.0).__code__.co_filename == str(path)


def test_without_a_cache_there_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    g = grad(product)
    assert g(2.0, 3.0) == 3.0
    assert g.module_path is None


# --- explain ----------------------------------------------------------------------------------


def test_explain_counts_residuals_and_bytes() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.exp(x) * y)

    found = grad(f, argnums=(0, 1)).explain(np.ones(10), np.ones(10))
    _, pullback = vjp(f, np.ones(10), np.ones(10))
    assert pullback(1.0)[1][0] == np.exp(1.0)
    assert found.tape_bytes == 8 * 10 * len(found.residuals)
    assert len(found.residuals) == 2
    assert {"numpy.exp", "numpy.sum"} <= set(found.rules)
    assert found.kinks == ()
    assert "residuals" in str(found)
    assert f"{found.tape_bytes} bytes" in str(found)


def test_explain_is_a_table_and_a_picture() -> None:
    pytest.importorskip("matplotlib")

    def f(x: Any, w: Any, n: int) -> Any:
        for _ in range(n):
            x = np.tanh(w @ x)
        return np.sum(x)

    found = grad(f, argnums=(0, 1)).explain(np.ones(10), np.ones((10, 10)), 5)
    assert sum(found.sizes) == found.tape_bytes
    sizes = dict(zip(found.residuals, found.sizes, strict=True))
    assert sizes["w"] == 800
    html = found._repr_html_()
    assert html.startswith("<table>") and "numpy.tanh" in html and "residuals" in html
    ax = found.plot()
    assert [bar.get_width() for bar in ax.patches] == sorted(found.sizes, reverse=True)
    assert sorted(label.get_text() for label in ax.get_yticklabels()) == sorted(found.residuals)
    assert grad(lambda x: 2.0 * x).explain(1.0).plot() is not None


def test_explain_counts_what_loops_save() -> None:
    def f(x: float, n: int) -> float:
        for _ in range(n):
            x = x * x
        return x

    sizes = [grad(f).explain(1.0, n).tape_bytes for n in (0, 10, 20)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] == 80


def test_explain_names_kinks() -> None:
    found = grad(lambda x: abs(x) + max(x, 1.0)).explain(2.0)
    assert any(kink.startswith("abs: ") for kink in found.kinks)
    assert any(kink.startswith("max: ") for kink in found.kinks)
    assert "kink" in str(found)


def test_explain_names_changed_algorithms() -> None:
    from adcompiler.rulekit import REGISTRY, rrule

    def primitive(x: float) -> float:
        return x * x

    @rrule(primitive, primal_note="computed as x times x")
    def primitive_rule(x: float) -> Any:
        def pullback(dy: float) -> float:
            return 2.0 * x * dy
        return x * x, pullback

    try:
        found = grad(lambda x: primitive(x)).explain(3.0)
    finally:
        REGISTRY.remove(primitive)
    (changed,) = found.changed
    assert changed.endswith("primitive: computed as x times x")
    assert "changed" in str(found)


def test_explain_of_a_closure_and_keywords() -> None:
    data = np.ones(4)

    def f(x: Any, *, k: float = 2.0) -> Any:
        return np.sum(np.sin(x * data)) * k

    found = value_and_grad(f).explain(np.ones(4), k=3.0)
    assert "numpy.sin" in found.rules
    assert found.source == value_and_grad(f).source_for(np.ones(4), k=3.0)


# --- types from texts and annotations ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("float", t.FLOAT), ("int", t.INT), ("str", t.TEXT), ("?", t.UNKNOWN),
        ("None", t.NONE_TYPE), ("float64[:]", t.Array("float64", 1)),
        ("float32[:, :]", t.Array("float32", 2)), ("float64[]", t.Array("float64", 0)),
        ("np.float32", t.Scalar("float", "float32")), ("list[float]", t.List(t.FLOAT)),
        ("(float, int64[:])", t.Tuple((t.FLOAT, t.Array("int64", 1)))),
    ],
)
def test_types_are_read(text: str, wanted: t.Type) -> None:
    assert parse_type(text) == wanted
    if wanted != t.NONE_TYPE:
        assert parse_type(str(wanted)) == wanted


@pytest.mark.parametrize("text", ["flaot", "float64[", "float64[1]", "list[flaot]", ""])
def test_texts_that_are_no_types(text: str) -> None:
    with pytest.raises(ValueError, match="is no type; write float"):
        parse_type(text)


def test_arguments_are_read() -> None:
    assert parse_arguments("x: float64[:, :], w: (float, int),") == {
        "x": t.Array("float64", 2), "w": t.Tuple((t.FLOAT, t.INT)),
    }
    assert parse_arguments("x=float64[:], w = float") == parse_arguments("x: float64[:], w: float")
    of_order = parse_arguments("float64[:], float64[:, :], n: int", parameters=("x", "A", "n"))
    assert of_order == parse_arguments("x: float64[:], A: float64[:, :], n: int")
    with pytest.raises(ValueError, match=r"'float64\[:\]': write `name: type`"):
        parse_arguments("float64[:]")
    assert parse_arguments(" ") == {}
    with pytest.raises(ValueError, match="write `name: type`"):
        parse_arguments("x")


@pytest.mark.parametrize(
    ("hint", "wanted"),
    [
        (float, t.FLOAT), (bool, t.BOOL), (np.float32, t.Scalar("float", "float32")),
        (np.floating, t.UNKNOWN), (list[float], t.List(t.FLOAT)),
        (tuple[float, int], t.Tuple((t.FLOAT, t.INT))), (tuple[float, ...], t.UNKNOWN),
        (float | None, t.UNKNOWN), (npt.NDArray[np.float64], t.UNKNOWN),
        (np.ndarray[tuple[int, int], np.dtype[np.float64]], t.Array("float64", 2)),
        (np.ndarray[tuple[int], np.dtype[np.floating]], t.UNKNOWN),
    ],
)
def test_annotations_give_types(hint: Any, wanted: t.Type) -> None:
    assert type_of_annotation(hint) == wanted


def test_a_stray_annotation_of_variable_arguments_says_nothing() -> None:
    def f(x: float, *more: float, **named: float) -> float:
        return x

    from adcompiler.dispatch.annotations import types_of_parameters

    s = Specialisations(f, Options("grad", 0))
    assert types_of_parameters(s) == (t.FLOAT, t.UNKNOWN, t.UNKNOWN)
