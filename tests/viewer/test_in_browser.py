"""Pages of derivatives in a real browser: what lights up, themes, narrow screens, print."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from tests.viewer import programs
from tests.viewer.test_view import W, X, line_of

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "price.html"
    grad(programs.price).view(X, W, 4).save(path)
    return path


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    context = browser.new_context(offline=True, viewport={"width": 1300, "height": 900})
    found = context.new_page()
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("console", lambda message: problems.append(message.text))
    found.goto(file.as_uri())
    yield found
    assert problems == []
    context.close()


def source(page: Any, text: str) -> Any:
    """Return the row of a line of the source."""
    return page.locator(f'#source .l[data-no="{line_of(text)}"]')


def lit(page: Any, where: str) -> list[str]:
    """Return the lines of code that are lit up, without comments."""
    texts = page.locator(f"{where} .l.on code").all_text_contents()
    return [text.strip() for text in texts if not text.lstrip().startswith("#")]


def test_pointing_at_a_line_lights_up_what_it_became(page: Any) -> None:
    source(page, "b = np.abs(a)").hover()
    assert lit(page, "#emitted") == [
        "b = np.absolute(a)", "tape.append((x, b, a))", "a_bar = s_bar_1 + b_bar * np.sign(a)",
    ]
    page.mouse.move(5, 5)
    assert lit(page, "#emitted") == []


def test_pointing_at_emitted_code_lights_up_the_line_it_is_of(page: Any) -> None:
    page.locator("#emitted .l.r", has_text="np.sign(a)").hover()
    assert lit(page, "#source") == ["b = np.abs(a)"]
    assert lit(page, "#emitted") == ["a_bar = s_bar_1 + b_bar * np.sign(a)"]


def test_a_click_keeps_the_lines_until_escape(page: Any) -> None:
    line = source(page, "a = np.sin(s) * w")
    line.click()
    page.mouse.move(5, 5)
    assert "a = np.sin(x) * w" in lit(page, "#emitted")
    assert line.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.mouse.move(6, 6)
    assert lit(page, "#emitted") == []


def test_the_keyboard_does_as_the_mouse_does(page: Any) -> None:
    line = source(page, "if n > 3")
    line.focus()
    assert "test = n > 3" in lit(page, "#emitted")
    page.keyboard.press("Enter")
    assert line.get_attribute("aria-pressed") == "true"


def test_a_click_brings_the_other_side_into_view(page: Any) -> None:
    page.set_viewport_size({"width": 1300, "height": 420})
    source(page, "a = np.sin(s) * w").click()
    page.wait_for_function(
        "() => { const box = document.querySelector('#emitted .l.on').getBoundingClientRect();"
        " return box.top >= 0 && box.bottom <= innerHeight; }")


def test_names_tell_their_types_and_kinks_what_they_are(page: Any) -> None:
    source(page, "a = np.sin(s) * w").locator("[data-t]", has_text="w").last.hover()
    assert page.locator("#tip").inner_text() == "w: float64[:]"
    page.locator("#source .kink").hover()
    assert page.locator("#tip").inner_text() == "numpy.absolute: abs'(0) = 0"
    page.mouse.move(5, 5)
    assert page.locator("#tip").is_hidden()


def test_rows_of_saved_values_light_up_their_names(page: Any) -> None:
    page.locator('tr[data-name="tape"]').hover()
    assert set(page.locator(".v.on").all_text_contents()) == {"tape"}
    assert page.locator('tr[data-name="tape"] .size').inner_text() == "480 bytes"


def background(page: Any) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_it_is_dark_where_that_is_wanted_and_changes(page: Any) -> None:
    light = background(page)
    page.emulate_media(color_scheme="dark")
    page.reload()
    dark = background(page)
    assert light != dark
    page.locator("#theme").click()
    assert background(page) == light


@pytest.mark.parametrize("width", [1300, 860, 600, 360])
def test_nothing_is_wider_than_the_screen(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_narrow_screens_have_one_column(page: Any) -> None:
    def left(where: str) -> float:
        return float(page.locator(where).bounding_box()["x"])

    page.set_viewport_size({"width": 1000, "height": 800})
    assert left("#emitted") > left("#source")
    assert left(".reverse") == left(".primal")
    page.set_viewport_size({"width": 600, "height": 800})
    assert left("#emitted") == left("#source")


def test_on_wide_screens_source_forward_pass_and_sweep_are_side_by_side(page: Any) -> None:
    page.set_viewport_size({"width": 1600, "height": 900})
    boxes = [page.locator(where).bounding_box() for where in ("#source", ".primal", ".reverse")]
    for one, other in itertools.pairwise(boxes):
        assert one["x"] + one["width"] <= other["x"]
        assert one["y"] == other["y"] < 200  # code comes first
    tables = page.locator(".tables").bounding_box()
    assert tables["y"] >= max(box["y"] + box["height"] for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1600


def test_a_click_brings_what_a_line_became_into_view_in_both_columns(
    page: Any, browser: Any, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1600, "height": 220})
    source(page, "a = np.sin(s) * w").click()
    page.wait_for_timeout(800)
    for phase in (".primal", ".reverse"):
        box = page.locator(f"{phase} .l.on:not(:has(.c))").first.bounding_box()
        assert 0 <= box["y"] <= 220


def test_print_has_all_lines_and_no_buttons(page: Any) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#theme").is_hidden()
    assert background(page) == "rgb(255, 255, 255)"
    page.set_viewport_size({"width": 500, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 500
    assert page.locator("#source").evaluate("it => it.scrollHeight <= it.clientHeight + 1")
    assert page.pdf().startswith(b"%PDF")


def test_in_a_notebook_it_takes_the_height_it_needs(browser: Any, tmp_path: Path) -> None:
    derivative = grad(lambda x: np.sum(x * x))
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<!doctype html><body>{derivative.view(X)._repr_html_()}", encoding="utf-8")
    found = browser.new_page()
    found.goto(outer.as_uri())
    inside = found.frame_locator("iframe")
    inside.locator("#emitted .l").first.wait_for()
    height = found.locator("iframe").bounding_box()["height"]
    assert height != 640
    assert height >= inside.locator("main").bounding_box()["height"]
    found.close()
