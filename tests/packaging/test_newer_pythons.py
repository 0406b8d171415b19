"""Nothing is used that newer versions of Python drop, or change under the compiler's feet."""

from __future__ import annotations

import ast
import gc
import inspect
import os
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import adcompiler as ad
from adcompiler.support import signatures
from adcompiler.backends.native.c.module import STUB
from adcompiler.cache.authentic import secret_for
from adcompiler.cache.trust import write_whole
from adcompiler.runtime.kept_bytes import free_bytes
from adcompiler.support.budget import DEPTH, quiet, recursion

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[2]
SOURCES = [
    path for folder in ("adcompiler", "rules", "examples", "docs", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]

REMOVED_MODULES = frozenset({
    # What's New in Python 3.12: Removed
    "asynchat", "asyncore", "distutils", "imp", "smtpd",
    # What's New in Python 3.13: Removed Modules And APIs (PEP 594, 2to3, tkinter.tix)
    "aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib",
    "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu",
    "xdrlib", "tkinter.tix", "typing.io", "typing.re",
    # What's New in Python 3.14: Deprecated
    "nturl2path",
})
NAMES = frozenset({
    # 3.12, removed
    "configparser.SafeConfigParser", "ensurepip.bundled", "importlib.find_loader",
    "importlib.util.set_package", "importlib.util.set_loader", "importlib.util.module_for_loader",
    "io.OpenWrapper", "locale.format", "pkgutil.ImpImporter", "pkgutil.ImpLoader",
    "sqlite3.enable_shared_cache", "sqlite3.OptimizedUnicode", "ssl.RAND_pseudo_bytes",
    "ssl.match_hostname", "ssl.wrap_socket", "inspect.getargspec", "inspect.formatargspec",
    # 3.12, deprecated
    "datetime.datetime.utcnow", "datetime.datetime.utcfromtimestamp", "sys.last_type",
    "sys.last_value", "sys.last_traceback", "ast.Num", "ast.Str", "ast.Bytes", "ast.NameConstant",
    "ast.Ellipsis", "ast.Index", "ast.ExtSlice", "ast.Suite", "ast.AugLoad", "ast.AugStore",
    "ast.Param", "collections.abc.ByteString", "typing.ByteString", "typing.Hashable",
    "typing.Sized", "asyncio.get_child_watcher", "asyncio.set_child_watcher",
    "xml.etree.ElementTree.Element.__bool__", "calendar.January", "calendar.February",
    "importlib.abc.ResourceReader", "importlib.abc.Traversable",
    "importlib.abc.TraversableResources", "tempfile.mktemp",
    # 3.13, removed
    "configparser.LegacyInterpolation", "locale.resetlocale", "re.template", "re.TEMPLATE",
    "unittest.findTestCases", "unittest.makeSuite", "unittest.getTestCaseNames",
    "urllib.parse.Quoter", "webbrowser.MacOSX",
    # 3.13, deprecated
    "ctypes.SetPointerType", "ctypes.ARRAY", "glob.glob0", "glob.glob1",
    "sys._clear_type_cache", "typing.no_type_check_decorator", "typing.AnyStr", "pty.master_open",
    "pty.slave_open", "locale.getdefaultlocale", "sys._enablelegacywindowsfsencoding",
    # 3.14, removed
    "asyncio.AbstractChildWatcher", "asyncio.ThreadedChildWatcher", "pkgutil.find_loader",
    "pkgutil.get_loader", "sqlite3.version", "sqlite3.version_info",
    "urllib.request.URLopener", "urllib.request.FancyURLopener",
    # 3.14, deprecated
    "asyncio.iscoroutinefunction", "asyncio.get_event_loop_policy",
    "asyncio.set_event_loop_policy", "codecs.open", "functools.reduce.function",
    "logging.warn", "threading.currentThread", "threading.activeCount",
})
ATTRIBUTES = frozenset({
    "assertEquals", "assertNotEquals", "assertRegexpMatches", "assertRaisesRegexp", "failUnless",
    "co_lnotab", "setDaemon", "isDaemon", "notifyAll", "getName", "setName", "module_repr",
    "is_reserved", "utcnow", "utcfromtimestamp", "tostring",
    "visit_Num", "visit_Str", "visit_Bytes", "visit_NameConstant", "visit_Ellipsis",
    "visit_Index", "visit_ExtSlice", "_Num", "_Str", "_Bytes", "_NameConstant", "_Index",
    "_ExtSlice",
})
"""Methods, by their names alone, and methods of visitors for nodes that are gone."""


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the modules and dotted names that a file uses, as it imports them, with lines."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                known[one.asname or one.name.partition(".")[0]] = (
                    one.name if one.asname else one.name.partition(".")[0])
                yield node.lineno, one.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
            for one in node.names:
                known[one.asname or one.name] = f"{node.module}.{one.name}"
                yield node.lineno, f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        parts: list[str] = []
        at: ast.AST = node
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if parts and isinstance(at, ast.Name) and at.id in known:
            yield node.lineno, ".".join([known[at.id], *reversed(parts)])  # type: ignore[attr-defined]


def used(path: Path) -> list[str]:
    """Return what a file uses of the lists above."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [f"{path}:{line}: {name}" for line, name in names_in(tree)
             if name in NAMES or name in REMOVED_MODULES]
    for node in ast.walk(tree):
        name = getattr(node, "attr", getattr(node, "name", None))
        if isinstance(node, ast.Attribute | ast.FunctionDef) and name in ATTRIBUTES:
            found.append(f"{path}:{node.lineno}: {name}")
    return found


def test_nothing_is_used_that_was_removed_or_is_deprecated() -> None:
    assert len(SOURCES) > 500
    assert [use for path in SOURCES for use in used(path)] == []


@pytest.mark.parametrize("text", [
    "import imp", "from distutils import core", "import ast\nast.Num(1)",
    "from ast import Str as S", "import datetime as d\nd.datetime.utcnow()",
    "class V:\n    def visit_Num(self, node): ...", "code.co_lnotab",
])
def test_uses_are_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(text)
    assert used(tmp_path / "one.py")


SAMPLE = """
import numpy as np
import adcompiler as ad
from adcompiler.cli import main

def loss(w, x, n):
    h = x
    for k in range(n):
        h = np.tanh(w @ h) if k % 2 else np.maximum(h, 0.1) ** 2
    try:
        total = sum(float(v) for v in h)
    except ValueError:
        total = 0.0
    return total + np.linalg.norm(w)

w, x = np.eye(3) * 0.5, np.ones(3)
g = ad.grad(loss, (0, 1))
assert g(w, x, 3)[0].shape == (3, 3)
g.explain(w, x, 3); g.view(w, x, 3)
ad.hessian(lambda x: np.sum(np.sin(x) * x[::-1]))(x)
ad.sparse_jacobian(lambda x: x[1:] * x[:-1])(x)
ad.jacobian(np.cumsum)(x)
ad.vmap(ad.grad(lambda x: np.sum(x ** 3)))(np.ones((2, 3)))
ad.jvp(lambda x: np.where(x > 0, x, x ** 2), (x,), (x,))
"""


def test_a_sample_runs_without_what_is_deprecated(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE)
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-W",
         "error::PendingDeprecationWarning", "sample.py"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
        env={**os.environ, "ADCOMPILER_CACHE_DIR": "off",
             "PYTHONPATH": f"{ROOT}:{ROOT / 'rules'}"})
    assert done.returncode == 0, done.stderr


# -- annotations that are evaluated late (PEP 649, 749) --------------------------------------------


def energy(x: Missing, k: Missing = 2.0) -> Missing:
    return np.sum(k * x[1:] * x[:-1] ** 2)


class Model:
    def __init__(self, w: Missing) -> None:
        self.w = w

    def loss(self, x: Missing) -> Missing:
        return np.sum(self.w * x * x)


@pytest.fixture
def deferred(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """As in 3.14: signatures evaluate annotations, unless forward references are asked for."""
    true, asked = inspect.signature, []
    format = types.SimpleNamespace(FORWARDREF="forward references")
    library = types.ModuleType("annotationlib")
    library.Format = format  # type: ignore[attr-defined]

    def signature(
        function: Any, *, follow_wrapped: bool = True, annotation_format: Any = None, **more: Any
    ) -> inspect.Signature:
        texts = getattr(inspect.unwrap(function), "__annotations__", {}).values()
        if annotation_format is not format.FORWARDREF and "Missing" in map(str, texts):
            raise NameError("name 'Missing' is not defined")
        asked.append(function)
        return true(function, follow_wrapped=follow_wrapped, **more)

    monkeypatch.setitem(sys.modules, "annotationlib", library)
    monkeypatch.setattr(inspect, "signature", signature)
    monkeypatch.setattr(
        signatures, "sys", types.SimpleNamespace(version_info=(3, 14, 0, "final", 0)))
    with pytest.raises(NameError):
        inspect.signature(energy)
    return asked


def test_annotations_for_type_checkers_need_not_exist(deferred: list[Any]) -> None:
    x = np.array([0.5, -1.0, 2.0])
    wanted = np.array([2 * 2 * x[0] * x[1], 2 * x[0] ** 2 + 4 * x[1] * x[2], 2 * x[1] ** 2])
    assert ad.grad(energy)(x) == pytest.approx(wanted)
    assert ad.grad(energy, "x")(x, k=2.0) == pytest.approx(wanted)
    assert ad.jacobian(energy)(x) == pytest.approx(wanted)
    assert ad.vjp(energy, x)[1](1.0)[0] == pytest.approx(wanted)
    assert np.allclose(ad.sparse_hessian(energy)(x).toarray(), ad.hessian(energy)(x))
    assert ad.vmap(energy)(np.stack([x, x])).shape == (2,)
    assert ad.grad(Model(2.0).loss)(x) == pytest.approx(4 * x)
    assert ad.compiled(energy, backend="python")(x) == energy(x)
    assert ad.grad(lambda x: np.sum(x * Model(x[0]).w))(x)[0] == pytest.approx(x.sum() + x[0])
    assert "energy" in repr(ad.grad(energy))
    assert deferred


def test_signatures_are_asked_for_in_one_place() -> None:
    """``hooks.py`` wants annotations, and does without where they do not evaluate."""
    found = [
        path.relative_to(ROOT).as_posix() for path in (ROOT / "adcompiler").rglob("*.py")
        if "inspect.signature(" in path.read_text(encoding="utf-8")
    ]
    assert sorted(found) == ["adcompiler/rulekit/hooks.py", "adcompiler/support/signatures.py"]


# -- what Windows does otherwise -------------------------------------------------------------------


def test_a_file_that_somebody_reads_need_not_be_replaced_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("the file is open in another process")

    write_whole(tmp_path / "one", b"text")
    monkeypatch.setattr(os, "replace", refused)
    write_whole(tmp_path / "one", b"text")
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "one", b"another")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert (tmp_path / "one").read_bytes() == b"text"


def test_without_hard_links_and_owners_there_is_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", refused)
    monkeypatch.delattr(os, "sysconf")
    assert secret_for(tmp_path) == secret_for(tmp_path)
    assert free_bytes() > 0


def test_compiled_c_is_found_by_the_name_that_a_platform_gives_it() -> None:
    assert all(suffix in STUB for suffix in (".so", ".dll", ".dylib"))


# -- settings of the process -----------------------------------------------------------------------


def test_warnings_are_ignored_in_one_thread_alone() -> None:
    heard: list[str] = []

    def other() -> None:
        warnings.warn("from another thread", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with quiet():
            warnings.warn("from this one", UserWarning, stacklevel=1)
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        warnings.warn("afterwards", UserWarning, stacklevel=1)
        heard = [str(one.message) for one in caught]
    assert heard == ["from another thread", "afterwards"]


def test_only_the_categories_asked_for_are_ignored() -> None:
    with pytest.warns(UserWarning, match="heard"), quiet(SyntaxWarning, DeprecationWarning):
        warnings.warn("not heard", DeprecationWarning, stacklevel=1)
        warnings.warn("heard", UserWarning, stacklevel=1)


def test_filters_of_other_threads_are_left_as_they_are() -> None:
    before = list(warnings.filters)
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with warnings.catch_warnings():  # begins inside of ours, ends after it
            warnings.simplefilter("error")
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with quiet():
        thread.start()
        inside.wait(10)
    assert not any(type(one[3]).__name__ == "_OfThread" for one in warnings.filters)
    leave.set()
    thread.join()
    assert list(warnings.filters) == before


def test_a_compilation_leaves_the_settings_of_the_process() -> None:
    def settings() -> tuple[Any, ...]:
        return (sys.getrecursionlimit(), threading.stack_size(), gc.get_threshold(),
                list(warnings.filters))

    before = settings()
    threads = [
        threading.Thread(target=ad.grad(lambda x, k=k: np.sum(np.sin(x) * k)), args=(np.ones(3),))
        for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert settings() == before


def test_a_recursion_limit_that_somebody_sets_meanwhile_stays() -> None:
    before = sys.getrecursionlimit()
    try:
        with recursion(DEPTH):
            assert sys.getrecursionlimit() == DEPTH
            sys.setrecursionlimit(DEPTH + 5)
        assert sys.getrecursionlimit() == DEPTH + 5
    finally:
        sys.setrecursionlimit(before)
    with recursion(DEPTH):
        pass
    assert sys.getrecursionlimit() == before
