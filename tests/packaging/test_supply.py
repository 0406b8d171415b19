"""What is shipped, from source and built, and with which versions of the dependencies it works.

``ADCOMPILER_DEPENDENCIES=1`` makes environments with the lowest and with the newest versions, and
runs the core of the tests there; this downloads them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = ("tests/language", "tests/api/test_dispatch.py", "tests/cache", "tests/rules")
TOPS = {
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO", "README.md", "adcompiler",
    "benchmarks", "docs", "examples", "pyproject.toml", "rules", "tests", ".gitignore",
}
PAGES = {".html", ".css", ".js"}
"""What pages of `adcompiler view` are made of."""
SHIPPED = {".py", ".typed", ".md", ".toml", ".txt", ".json", ".csv", ".png", ".svg", ".c", ".cpp",
           ".js", ".css", ".html", ".ipynb", ".yml", ".yaml", ""}


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed and return its output."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=os.environ | environment,
        capture_output=True, text=True, timeout=3000,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


def built(kind: str, source: Path, out: Path) -> Path:
    """Build an sdist or a wheel of a source tree, with the build backend that is installed."""
    run(sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, cwd=source)
    (found,) = out.glob("adcompiler-*.tar.gz" if kind == "sdist" else "adcompiler-*.whl")
    return found


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


def test_the_source_distribution_holds_what_is_listed(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    names = [member.name.split("/", 1)[1] for member in members]
    assert {name.split("/")[0] for name in names} == TOPS
    assert all(member.isfile() and not member.issym() for member in members)
    assert {Path(name).suffix for name in names} <= SHIPPED
    assert not [name for name in names if "__pycache__" in name or name.startswith(("/", ".."))]


def test_no_file_tells_of_the_machine_that_it_was_built_on(sdist: Path) -> None:
    home, here = str(Path.home()).encode(), str(ROOT).encode()
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            text = b"" if file is None else file.read()
            assert here not in text, member.name
            assert not re.search(rb"(?<![\w.])" + re.escape(home) + rb"/\w", text), member.name


def test_the_wheel_of_the_source_distribution_is_that_of_the_tree(
    sdist: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = (path for path in tmp_path.iterdir() if path.is_dir())
    wheels = [
        zipfile.ZipFile(built("wheel", source, tmp_path / name))
        for name, source in (("here", ROOT), ("there", tree))
    ]
    here, there = ({name: wheel.read(name) for name in wheel.namelist()} for wheel in wheels)
    assert here == there
    suffixes = {
        Path(name).suffix for name in here if not re.search(r"\.(dist-info|data)/", name)}
    assert suffixes <= {".py", ".typed", *PAGES}
    (tag,) = (text for name, text in here.items() if name.endswith("/WHEEL"))
    assert b"Root-Is-Purelib: true" in tag  # so that no compiler is needed
    assert b"Tag: py3-none-any" in tag


@pytest.mark.skipif("ADCOMPILER_DEPENDENCIES" not in os.environ, reason="ADCOMPILER_DEPENDENCIES=1")
@pytest.mark.parametrize("versions", ["lowest", "newest"])
def test_the_core_works_with_all_versions(sdist: Path, tmp_path: Path, versions: str) -> None:
    """The source distribution, installed into an environment of its own with its dependencies."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = [
        text.replace(">=", "==") if versions == "lowest" else text
        for text in PROJECT["dependencies"]
    ]
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, *wanted, sdist, "pytest", "pytest-xdist", "hypothesis", "cloudpickle", cwd=tmp_path)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.glob("adcompiler-*")
    for package in ("adcompiler", "rules"):  # what was installed is what is tested
        (tree / package).rename(tmp_path / f"{package}_moved")
    run(python, "-m", "pytest", "-q", "-n", "2", *CORE, "-m", "not thorough", cwd=tree,
        OMP_NUM_THREADS="1")
