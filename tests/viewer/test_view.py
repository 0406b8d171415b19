"""What pages of derivatives hold: lines that are linked, what is saved, types and kinks."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, hessian, jacobian, sparse_jacobian, value_and_grad
from adcompiler.cli import main
from adcompiler.viewer.listed import Listed, listed
from adcompiler.viewer.page import size_text
from tests.viewer import programs

X = np.linspace(0.1, 1.0, 5)
W = X + 1.0
LINES = Path(programs.__file__).read_text().splitlines()


def line_of(text: str) -> int:
    """Return the line of the programs that a text stands in."""
    (found,) = (number for number, line in enumerate(LINES, 1) if text in line)
    return found


def listed_at(derivative: Any, *args: Any) -> Listed:
    """Return what there is to show of a derivative at arguments."""
    s, code, values = derivative.code(*args)
    return listed(s, code, "a derivative", values)


def emitted_for(found: Listed, text: str) -> list[str]:
    """Return the emitted lines that a line of the programs became, without comments."""
    place = found.files.start((programs.__file__, line_of(text)))
    lines = found.listing.text.splitlines()
    return [
        lines[line - 1].strip() for line in found.listing.origins
        if place in found.places(line) and not lines[line - 1].lstrip().startswith("#")
    ]


# --- links ------------------------------------------------------------------------------------


def test_the_listing_is_the_module_that_runs() -> None:
    derivative = grad(programs.price)
    assert listed_at(derivative, X, W, 4).listing.text == derivative.source_for(X, W, 4)


def test_lines_are_linked_with_what_they_became_forward_and_in_the_sweep() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    assert emitted_for(found, "b = np.abs(a)") == [
        "b = np.absolute(a)", "tape.append((x, b, a))", "a_bar = s_bar_1 + b_bar * np.sign(a)",
    ]
    assert emitted_for(found, "if n > 3") == [
        "test = n > 3", "s = x * 2 if test else x", "s_bar_1 = s_bar * 2 if test else s_bar",
    ]


def test_expressions_that_became_part_of_other_lines_are_linked_with_those() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    assert "s = x * 2 if test else x" in emitted_for(found, "s = s * 2")
    assert any("np.max(w)" in line for line in emitted_for(found, "np.max(w)"))


def test_lines_of_functions_that_are_opened_are_linked_with_both_places() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    inside = emitted_for(found, "u = t * 2.0")
    assert inside and set(inside) <= set(emitted_for(found, "total = np.sum("))
    assert [block.name for block in found.blocks] == ["price", "scaled"]


def test_statements_over_several_lines_are_one() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    assert emitted_for(found, "total = np.sum(") == emitted_for(found, "        scaled(s),")


def test_the_parts_are_the_primal_and_the_sweep() -> None:
    joint = listed_at(grad(programs.price), X, W, 4)
    assert [part.title for part in joint.parts()] == ["Forward pass", "Reverse sweep"]
    split = listed_at(jacobian(programs.price), X, W, 4)
    assert [part.title for part in split.parts()] == [
        "Forward pass · price_augmented", "Reverse sweep · price_pullback"]
    forward = listed_at(compiled(programs.price), X, W, 4)
    assert [part.title for part in forward.parts()] == ["Derivative"]


# --- what is saved ----------------------------------------------------------------------------


def sizes(found: Listed) -> dict[str, tuple[int, bool]]:
    assert found.saved is not None
    return {one.name: (one.size, bool(one.of)) for one in found.saved}


def test_what_is_held_when_the_sweep_starts_is_measured() -> None:
    saved = sizes(listed_at(grad(programs.price), X, W, 4))
    assert saved["tape"] == (4 * 3 * 40, False)
    assert saved["w"] == (40, True)
    assert saved["test"] == (8, False)
    assert "sin" not in saved and "shape" not in saved


def test_views_of_arguments_take_no_memory_of_their_own() -> None:
    saved = sizes(listed_at(grad(lambda x: np.sum(x[1:] * x[:-1])), X))
    assert saved and all(is_given for _, is_given in saved.values())


def test_parts_of_arguments_take_no_memory_of_their_own() -> None:
    saved = sizes(listed_at(grad(programs.weighted), {"x": X, "w": [W, 2.0]}))
    assert sorted(given for size, given in saved.values() if size == 40) == [
        False, True, True]  # a product, and the two arrays


def test_parts_of_what_is_saved_count_once() -> None:
    found = listed_at(grad(programs.in_steps), X)
    assert found.saved is not None
    assert {one.name: one.of for one in found.saved} == {
        "found": "", "final": "", "x": "the caller's"}
    found = listed_at(grad(programs.of_a_pair), X)
    assert found.saved is not None
    assert {one.name: one.of for one in found.saved if one.name != "range_1"} == {
        "item_tape": "", "sin": "part of item_tape", "cos": "part of item_tape",
        "x": "the caller's"}


def test_nothing_is_measured_of_code_without_a_sweep() -> None:
    assert listed_at(compiled(programs.product), X, W).saved is None


def test_of_a_split_pair_the_residuals_are_measured() -> None:
    derivative = jacobian(programs.price)
    found = listed_at(derivative, X, W, 4)
    assert found.saved is not None
    assert sum(one.size for one in found.saved) == derivative.explain(X, W, 4).tape_bytes
    text = found.listing.text.split("_pullback")[1]
    assert all(re.search(rf"\b{one.name}\b", text) for one in found.saved)


@pytest.mark.parametrize("flag", [True, False])
def test_sweeps_in_branches_are_measured_where_they_start(flag: bool) -> None:
    found = listed_at(grad(programs.early), X, flag)
    assert found.saved is not None
    assert any(one.size == 40 for one in found.saved)


def test_stretched_shapes_are_shown_in_the_code_that_runs_for_them() -> None:
    column, row = np.ones((3, 1)), np.ones((1, 4))
    found = listed_at(grad(programs.product), column, row)
    assert "same_shape" not in found.listing.text
    assert sizes(found)["w"] == (32, True)
    assert grad(programs.product).explain(column, row).tape_bytes > 0


def test_the_tracer_of_a_debugger_stays() -> None:
    def tracer(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        grad(programs.price).view(X, W, 4)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_exceptions_of_the_function_are_the_callers() -> None:
    def picky(x: Any) -> Any:
        if x[0] < 0:
            raise ValueError("negative")
        return np.sum(x)

    with pytest.raises(ValueError, match="negative"):
        grad(picky).view(-X)


# --- types and kinks --------------------------------------------------------------------------


def test_types_are_those_of_each_line() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    of_file = {line: types for (file, line), types in found.notes.types.items()}
    assert of_file[line_of("a = np.sin(s) * w")]["s"] == {"float64[:]"}
    assert of_file[line_of("def price")]["n"] == {"int"}
    assert found.listing.types["price_grad"]["test"] == ("bool",)
    assert found.listing.types["price_grad"]["tape"] == (
        "list[(float64[:], float64[:], float64[:])]",)


def test_kinks_are_on_the_lines_of_the_calls() -> None:
    found = listed_at(grad(programs.price), X, W, 4)
    assert {line: kinks for (_, line), kinks in found.notes.kinks.items()} == {
        line_of("b = np.abs(a)"): {"numpy.absolute: abs'(0) = 0"}}


# --- pages ------------------------------------------------------------------------------------


class Checker(HTMLParser):
    """Notes tags that are not closed, and what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


@pytest.mark.parametrize(("derivative", "args"), [
    (grad(programs.price), (X, W, 4)), (value_and_grad(programs.price, (0, 1)), (X, W, 2)),
    (jacobian(programs.price), (X, W, 4)), (hessian(programs.price), (X, W, 2)),
    (compiled(programs.price), (X, W, 4)), (grad(programs.early), (X, False)),
    (sparse_jacobian(programs.pairs), (X,)), (grad(programs.square), (2.0,)),
], ids=repr)
def test_pages_are_whole_and_load_nothing(derivative: Any, args: tuple[Any, ...]) -> None:
    page = derivative.view(*args).html
    checker = checked(page)
    assert checker.loads == []
    assert "http" not in page and "@import" not in page and "url(" not in page
    assert re.search(r'id="emitted".*data-l="', page, re.S)


def test_what_the_user_wrote_is_escaped() -> None:
    page = grad(programs.text).view(2.0).html
    checked(page)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_notebooks_show_what_ran_last_in_a_frame() -> None:
    derivative = grad(programs.price)
    assert derivative._repr_html_() == "<code>&lt;grad of price with respect to x&gt;</code>"
    derivative(X, W, 4)
    shown = derivative._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert "price_grad" in shown and shown.count("<") == 2
    assert "Saved for the sweep" not in shown  # nothing is run for it
    assert derivative.view(X, W, 4)._repr_html_().startswith("<iframe")


@pytest.mark.parametrize(("size", "text"), [
    (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 kB"), (123456, "123 kB"),
    (2.5e9, "2.5 GB"),
])
def test_sizes(size: float, text: str) -> None:
    assert size_text(size) == text


# --- the command ------------------------------------------------------------------------------


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{programs.__file__}:price"
    page = tmp_path / "out.html"
    given = "x: float64[5], w: float64[5], n: 4"
    assert main(["view", target, "--args", given, "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    checked(text)
    assert "480 bytes" in text and "abs&#x27;(0) = 0" in text
    assert capsys.readouterr().out == ""
    types = "x: float64[:], w: float64[:], n: int"
    assert main(["view", target, "--args", types, "--mode", "vjp"]) == 0
    text = capsys.readouterr().out
    checked(text)
    assert "price_pullback" in text and "Saved for the sweep" not in text


def test_the_command_shows_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, page = f"{programs.__file__}:price", tmp_path / "out.html"
    given = "x: float64[5], w: float64[5], n: 4"
    assert main(["view", target, "--args", given, "--profile", "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    checked(text)
    assert 'class="share"' in text and "<svg" in text
    assert main(["view", target, "--args", "x: float64[:]", "--profile"]) == 2
    assert "--profile runs the code" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["--args", "y: 3"], "price has no parameter y"),
    (["--args", "x: 3"], "price needs w, n"),
    (["--args", "x: 3 4"], "is no type"),
    (["--args", "x: float64[5], w: float64[5], n: 4", "-o", "/nowhere/out.html"], "cannot write"),
])
def test_the_command_tells_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", f"{programs.__file__}:price", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and message in captured.err
    assert captured.err.startswith("adcompiler: error: ")
