"""A mode is a row and the product that it names: a toy one is added with nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from adcompiler import source
from adcompiler.cli import main
from adcompiler.compile.modes import MODES, Mode
from adcompiler.dispatch import Options, Specialisations
from adcompiler.products.product import Product, as_it_is
from adcompiler.products.specialised import Typed
from adcompiler.typed.unit import Unit


def build_plain(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the specialised function itself."""
    name = f"{typed.function.name}_plain"
    return as_it_is(unit, replace(typed, function=replace(typed.function, name=name)), "value")


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the mode ``plain``."""
    row = Mode("plain", "the function as it is specialised", build_plain, returns_value=True)
    monkeypatch.setitem(MODES, "plain", row)


def wave(x: float, k: int = 3) -> float:
    y = x
    for _ in range(k):
        y = math.sin(y) + x
    return y


def test_its_source_is_written() -> None:
    text = source(wave, mode="plain")
    space: dict[str, object] = {}
    exec(text, space)
    assert "Return the value of `wave`." in text
    assert space["wave_plain"](0.7, 3) == wave(0.7)  # type: ignore[operator]


def test_it_is_called_and_cached() -> None:
    forms = Specialisations(wave, Options("plain", 0))
    values = forms.values((0.25, 2))
    found, is_new = forms.find(values)
    assert is_new and forms.run(found, values) == wave(0.25, 2)
    assert forms.find(values) == (found, False)


def test_the_command_line_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "waves.py"
    file.write_text("import math\n\n\ndef wave(x: float):\n    return math.sin(x) * x\n")
    out = tmp_path / "wave_plain.py"
    assert main(["dump", f"{file}:wave", "--mode", "plain", "-o", str(out)]) == 0
    assert out.read_text().endswith(
        'def wave_plain(x):\n    """Return the value of `wave`."""\n'
        "    return math.sin(x) * x\n"
    )
