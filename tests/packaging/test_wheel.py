"""The built wheel, installed on its own: what it contains, loads and leaves out."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: object, cwd: Path) -> str:
    """Run a command that must succeed, with a cache directory of its own; return its output."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | {"XDG_CACHE_HOME": str(cwd / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the working tree, with the build backend that is installed."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, cwd=ROOT)
    (found,) = out.glob("adcompiler-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment and return the directory of its scripts.

    The dependencies are those of the running environment, appended to the path after the wheel,
    so that nothing is downloaded.
    """
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=venv.parent)
    scripts = venv / ("Scripts" if sys.platform == "win32" else "bin")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    run(*pip, *install, wheel, cwd=venv.parent)
    site = run(
        scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=venv.parent,
    )  # fmt: skip
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(site.strip(), "dependencies.pth").write_text("\n".join(sorted(paths)), encoding="utf-8")
    return scripts


def python(installed: Path, code: str) -> str:
    """Run ``code`` in the fresh environment, away from the working tree."""
    return run(installed / "python", "-I", "-W", "error", "-c", code, cwd=installed.parent).strip()


def test_the_wheel_holds_two_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {
        "adcompiler",
        "adcompiler_rules",
    }
    assert len(tops) == 4
    (page,) = (name for name in names if name.partition("/")[0].endswith(".data"))
    assert page.endswith(".data/data/share/doc/adcompiler/limitations.md")
    assert "adcompiler/py.typed" in names
    pages = {f"adcompiler/viewer/page.{end}" for end in ("html", "css", "js")}
    assert pages <= set(names)
    rest = [name for name in names if name != page]
    assert not [name for name in rest if name.endswith((".pyc", ".toml", ".md"))]


def test_the_wheel_carries_the_licence(wheel: Path) -> None:
    assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/LICENSE")]


def test_the_wheel_is_what_gets_imported(installed: Path) -> None:
    code = "import adcompiler, adcompiler_rules as r; print(adcompiler.__file__); print(r.__file__)"
    for file in python(installed, code).splitlines():
        assert Path(file).is_relative_to(installed.parent)


def test_nothing_but_the_packages_becomes_importable(installed: Path) -> None:
    code = (
        "import sys, importlib.util as u\n"
        "sys.path = [p for p in sys.path if p.startswith(sys.prefix + '/') or 'site' not in p]\n"
        "names = 'adcompiler adcompiler_rules rules tests docs examples benchmarks'.split()\n"
        "print(*[name for name in names if u.find_spec(name)])"
    )
    assert python(installed, code) == "adcompiler adcompiler_rules"


def test_every_rule_entry_point_loads(installed: Path) -> None:
    code = (
        "from importlib.metadata import entry_points\n"
        "points = entry_points(group='adcompiler.rules')\n"
        "print(*sorted(point.name for point in points if point.load()))"
    )
    assert {"builtins", "math", "numpy", "operator"} <= set(python(installed, code).split())


def test_rules_arrive_on_demand(installed: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from adcompiler.rulekit import REGISTRY\n"
        "assert not any(name.startswith('adcompiler_rules') for name in sys.modules)\n"
        "print(REGISTRY.find(np.sin) is not None)"
    )
    assert python(installed, code) == "True"


def test_a_gradient_is_compiled_and_run(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from adcompiler import grad\n\n\n"
        "@grad\ndef cube(x):\n    return x * x * x\n\n\n"
        "print(cube(2.0))\n",
        encoding="utf-8",
    )
    assert run(installed / "python", "-I", program, cwd=tmp_path).strip() == "12.0"


def test_the_command_line_works(installed: Path, tmp_path: Path) -> None:
    usage = run(installed / "adcompiler", "--help", cwd=tmp_path)
    assert all(command in usage for command in ("dump", "rules", "cache"))
    assert "numpy.sin" in run(installed / "adcompiler", "rules", "numpy.sin", cwd=tmp_path)


def test_the_metadata_names_the_package(installed: Path) -> None:
    code = "import importlib.metadata as m; print(m.metadata('adcompiler')['License-Expression'])"
    assert python(installed, code) == "MIT"


def test_refusals_name_a_page_that_is_installed(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "refused.py"
    program.write_text(
        "import numpy as np\nfrom adcompiler import ADError, grad\n\n\n"
        "def f(x):\n    np.random.shuffle(x)\n    return x[0]\n\n\n"
        "try:\n    grad(f)(np.ones(2))\nexcept ADError as error:\n    print(error)\n")
    said = run(installed / "python", "-I", program, cwd=tmp_path)
    page, _, section = said.rpartition("see ")[2].strip().partition("#")
    assert Path(page).is_file() and Path(page).is_relative_to(installed.parent)
    assert f'<a id="{section}"></a>' in Path(page).read_text(encoding="utf-8")
