"""The examples as pages: each has a title of one line, and what is run and drawn is there."""

from __future__ import annotations

import ast

import pytest

from tests.docs.test_site import CONF

GALLERY = CONF.gallery
SCRIPTS = sorted(GALLERY.EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_each_example_has_a_title_and_is_the_same_program(path) -> None:
    text = path.read_text(encoding="utf-8")
    titled = GALLERY.titled(text)
    title, line, after, *_ = str(ast.get_docstring(ast.parse(titled))).splitlines() + ["", ""]
    assert line == "=" * len(title) and not after and not title.endswith(".")
    before, now = (ast.parse(one) for one in (text, titled))
    assert ast.dump(ast.Module(before.body[1:], [])) == ast.dump(ast.Module(now.body[1:], []))


def test_titles() -> None:
    assert GALLERY.titled('"""A cart: on wheels."""\nx = 1\n') == (
        '"""A cart\n======\n\nOn wheels.\n"""\nx = 1\n')
    assert GALLERY.titled('"""A cart.\n\nIt rolls.\n"""\n') == (
        '"""A cart\n======\n\n\nIt rolls.\n"""\n')


def test_the_lists_name_examples() -> None:
    names = {path.stem for path in SCRIPTS}
    assert names >= GALLERY.SHOWN_ONLY | GALLERY.DRAWING
    assert not GALLERY.SHOWN_ONLY & GALLERY.DRAWING
    for path in SCRIPTS:
        takes_a_file = "[FILE]" in path.read_text(encoding="utf-8")
        assert takes_a_file == (path.stem in GALLERY.DRAWING or path.stem == "sharded_training")
