"""The store returns what was written, and nothing that anybody else may have written."""

from __future__ import annotations

import hashlib
import inspect
import json
import linecache
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

from adcompiler.cache import store as store_module
from adcompiler.cache.authentic import SECRET, keyed, secret_for
from adcompiler.cache.modules import load_module
from adcompiler.cache.store import CacheWarning, Store, StoreInfo, default_directory
from adcompiler.frontend.sources.source import read_source

KEY = hashlib.sha256(b"key").hexdigest()
OTHER_KEY = hashlib.sha256(b"other").hexdigest()
TEXT = "import math\n\n\ndef f(x):\n    return math.sin(x)\n"
MANIFEST = {"python": "3.11", "rules": ["sin"], "text": "line\nline é"}

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no owners and modes")


@pytest.fixture(autouse=True)
def unwarned_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be a process that has not warned yet."""
    monkeypatch.setattr(store_module, "_warning", threading.Lock())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "adcompiler" / "cpython")


def written(store: Store) -> Path:
    path = store.write(KEY, "loss_grad", TEXT, MANIFEST)
    assert path is not None
    return path


def files_in(store: Store) -> list[Path]:
    """Return every file below the directory of a store, but for its secret."""
    assert store.directory is not None
    paths = store.directory.rglob("*")
    return [path for path in paths if not path.is_dir() and path.name != SECRET]


def texts(store: Store, key: str = KEY) -> list[str]:
    return [entry.text for entry in store.candidates(key)]


# --- round trip -------------------------------------------------------------------------------


def test_round_trip(store: Store) -> None:
    path = written(store)
    [entry] = store.candidates(KEY)
    assert (entry.path, entry.text, entry.manifest) == (path, TEXT, MANIFEST)
    assert texts(store, OTHER_KEY) == []


def test_layout_of_the_file(store: Store) -> None:
    path = written(store)
    assert re.fullmatch(rf"loss_grad_{KEY[:16]}_[0-9a-f]{{8}}\.py", path.name)
    first, rest = path.read_bytes().split(b"\n", 1)
    assert store.directory is not None
    checksum = hashlib.blake2b(rest, key=secret_for(store.directory), digest_size=32).hexdigest()
    assert first.decode() == f"# adcompiler 2 blake2b:{checksum}"
    second, text = rest.decode().split("\n", 1)
    held = json.loads(second.removeprefix("# manifest: "))
    assert held == {"key": KEY, "manifest": MANIFEST}
    assert text == TEXT
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert sorted(os.listdir(path.parent)) == ["__pycache__", path.name]


@pytest.mark.parametrize("text", ["", "x = 'é\u2028'\n", "x = '''\r\n'''", "# no newline"])
def test_text_comes_back_as_it_was(store: Store, text: str) -> None:
    assert store.write(KEY, "f", text, {}) is not None
    assert texts(store) == [text]


def test_nothing_written_yet(store: Store) -> None:
    assert texts(store) == []
    assert store.info() == StoreInfo(0, 0, store.directory)
    assert store.clear() == 0
    assert store.directory is not None
    assert not store.directory.exists()


def test_variants(store: Store) -> None:
    """One key, several manifests: all are candidates; the same one again is the same file."""
    paths = {store.write(KEY, "f", TEXT, {"n": n}) for n in (1, 2, 3, 1)}
    assert len(paths) == 3
    assert sorted(entry.manifest["n"] for entry in store.candidates(KEY)) == [1, 2, 3]
    assert [entry.path for entry in store.candidates(KEY)] == sorted(
        path for path in paths if path is not None
    )


def test_keys_that_share_their_first_digits(store: Store) -> None:
    twin = KEY[:16] + OTHER_KEY[16:]
    store.write(KEY, "f", "one = 1\n", {})
    store.write(twin, "f", "two = 2\n", {})
    assert texts(store) == ["one = 1\n"]
    assert texts(store, twin) == ["two = 2\n"]


@pytest.mark.parametrize(
    ("stem", "start"),
    [
        ("<lambda>", "lambda_"),
        ("Model.loss", "Model_loss_"),
        ("../../etc/passwd", "etc_passwd_"),
        ("λ", "module_"),
        ("", "module_"),
        ("f" * 300, "f" * 60 + "_"),
    ],
)
def test_stem_becomes_part_of_a_file_name(store: Store, stem: str, start: str) -> None:
    path = store.write(KEY, stem, TEXT, {})
    assert path is not None
    assert path.name.startswith(f"{start}{KEY[:16]}")
    assert store.directory is not None
    assert path.parent == store.directory / KEY[:2]
    assert texts(store) == [TEXT]


@pytest.mark.parametrize("key", ["", "abc", "../../../../etc/passwd", KEY.upper()])
def test_key_that_is_no_digest(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        store.write(key, "f", TEXT, {})
    with pytest.raises(ValueError, match="hexadecimal"):
        texts(store, key)


# --- damage -----------------------------------------------------------------------------------


def sealed(body: bytes, store: Store, version: int = 2) -> bytes:
    """Return a file whose checksum is right, whatever its body."""
    assert store.directory is not None
    checksum = keyed(secret_for(store.directory), body)
    return f"# adcompiler {version} blake2b:{checksum}\n".encode() + body


DAMAGES = {
    "empty": lambda content, _: b"",
    "first line cut": lambda content, _: content[:20],
    "cut": lambda content, _: content[:-1],
    "cut in half": lambda content, _: content[: len(content) // 2],
    "longer": lambda content, _: content + b"import os\n",
    "bit": lambda content, _: content[:-10] + bytes([content[-10] ^ 1]) + content[-9:],
    "manifest edited": lambda content, _: content.replace(b"3.11", b"3.12"),
    "checksum edited": lambda content, _: content.replace(b"blake2b:", b"blake2b:0", 1),
    "zeros": lambda content, _: bytes(len(content)),
    "no header": lambda content, _: content.split(b"\n", 1)[1],
    "other newlines": lambda content, _: content.replace(b"\n", b"\r\n"),
    "no manifest": lambda content, store: sealed(TEXT.encode(), store),
    "only a manifest": lambda content, store: sealed(b"# manifest: {}", store),
    "bad JSON": lambda content, store: sealed(b"# manifest: {'a': 1}\n" + TEXT.encode(), store),
    "JSON of no manifest": lambda content, store: sealed(b"# manifest: [1]\n# text", store),
    "manifest of no key": lambda content, store: sealed(b'# manifest: {"manifest": {}}\n', store),
    "manifest that is a list": lambda content, store: sealed(
        b'# manifest: {"key": "' + KEY.encode() + b'", "manifest": []}\n', store
    ),
    "not UTF-8": lambda content, store: sealed(content.split(b"\n", 1)[1] + b"\xff", store),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_entry_is_removed_and_rebuilt(store: Store, damage: Any) -> None:
    path = written(store)
    sound = path.read_bytes()
    assert damage(sound, store) != sound
    path.write_bytes(damage(sound, store))
    assert texts(store) == []
    assert not path.exists()
    assert written(store) == path
    assert texts(store) == [TEXT]


def test_damage_hides_no_sound_variant(store: Store) -> None:
    written(store).write_bytes(b"")
    store.write(KEY, "f", "sound = 1\n", {})
    assert texts(store) == ["sound = 1\n"]


def test_entry_of_another_format_is_left_alone(store: Store) -> None:
    path = written(store)
    path.write_bytes(sealed(b"of the future", store, version=3))
    assert texts(store) == []
    assert path.exists()


def test_other_files_in_the_directory_are_left_alone(store: Store) -> None:
    path = written(store)
    other = path.with_name("notes.py")
    other.write_text("mine\n")
    assert texts(store) == [TEXT]
    assert store.info().count == 1
    assert store.clear() == 1
    assert other.read_text() == "mine\n"


# --- permissions ------------------------------------------------------------------------------


@posix_only
def test_modes_of_what_is_written(store: Store) -> None:
    umask = os.umask(0)
    try:
        path = written(store)
    finally:
        os.umask(umask)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


@posix_only
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entry_that_others_may_write(store: Store, mode: int) -> None:
    path = written(store)
    path.chmod(mode)
    assert texts(store) == []
    assert path.exists()
    written(store)  # takes its place
    assert texts(store) == [TEXT]


@posix_only
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
@pytest.mark.parametrize("part", [False, True])
def test_directory_that_others_may_write(store: Store, mode: int, part: bool) -> None:
    path = written(store)
    (path.parent if part else path.parent.parent).chmod(mode)
    with pytest.warns(CacheWarning, match="can be written by other users"):
        assert texts(store) == []
    assert store.write(KEY, "f", TEXT, {}) is None
    assert store.clear() == 0
    assert path.exists()


@posix_only
def test_foreign_directory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(store)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert texts(store) == []
    assert path.exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives away")
def test_foreign_entry(store: Store) -> None:
    path = written(store)
    os.chown(path, 12345, -1)
    assert texts(store) == []
    assert path.exists()


@posix_only
def test_entry_that_is_a_link(store: Store, tmp_path: Path) -> None:
    path = written(store)
    target = tmp_path / "elsewhere.py"
    path.rename(target)
    path.symlink_to(target)
    assert texts(store) == []
    assert path.is_symlink()
    written(store)
    assert not path.is_symlink()
    assert texts(store) == [TEXT]


@posix_only
def test_directory_that_is_a_link(store: Store, tmp_path: Path) -> None:
    directory = written(store).parent
    link = tmp_path / "link"
    link.symlink_to(directory)
    with pytest.warns(CacheWarning, match="is a link or a file"):
        assert texts(Store(link)) == []
    assert Store(link).write(KEY, "f", TEXT, {}) is None
    assert texts(Store(tmp_path / "link" / "inside")) == []  # a link above it does no harm


@posix_only
def test_entry_that_is_no_file(store: Store) -> None:
    path = written(store)
    path.unlink()
    path.mkdir()
    assert texts(store) == []
    path.rmdir()
    os.mkfifo(path, 0o600)
    assert texts(store) == []
    assert path.exists()


# --- directories that cannot be used ----------------------------------------------------------


def test_unwritable_directory_warns_once_and_works(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    first, second = Store(tmp_path / "file" / "a"), Store(tmp_path / "file" / "b")
    with pytest.warns(CacheWarning, match=r"file.a cannot be written \(Not a directory\)") as seen:
        for store in (first, second, first):
            assert store.write(KEY, "f", TEXT, MANIFEST) is None
            assert texts(store) == []
            assert store.info().count == 0
            assert store.clear() == 0
    assert len(seen) == 1


def test_the_warning_of_concurrent_threads_is_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "a")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        threads = [
            threading.Thread(target=store.write, args=(KEY, "f", TEXT, {})) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(seen) == 1


@pytest.mark.parametrize("call", ["os.replace", "os.mkdir", "tempfile.mkstemp"])
def test_failing_write_leaves_nothing(
    store: Store, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    module, name = call.split(".")
    path = written(store)
    with monkeypatch.context() as patch:
        patch.setattr({"os": os, "tempfile": tempfile}[module], name, fail)
        with pytest.warns(CacheWarning, match="No space left on device"):
            assert store.write(OTHER_KEY, "f", TEXT, {}) is None
    assert files_in(store) == [path]
    assert texts(store) == [TEXT]  # what is there is still read


def test_interrupted_write_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.write(KEY, "f", TEXT, {})
    assert files_in(store) == []


def test_memory_only() -> None:
    store = Store(None)
    assert store.write(KEY, "f", TEXT, {}) is None
    assert texts(store) == []
    assert store.info() == StoreInfo(0, 0, None)
    assert store.clear() == 0


# --- races ------------------------------------------------------------------------------------


def write_many(directory: Path, barrier: Any, rounds: int) -> None:
    store = Store(directory)
    barrier.wait()
    for number in range(rounds):
        text = f"n = {number}\n" * 2000
        assert store.write(KEY, "f", text, {"n": number}) is not None
        for entry in store.candidates(KEY):
            assert entry.text == f"n = {entry.manifest['n']}\n" * 2000


@posix_only
def test_four_processes_write_the_same_entries(tmp_path: Path) -> None:
    """All write the same 10 entries at once and read them: nobody sees half a file."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    directory = tmp_path / "shared"
    writers = [context.Process(target=write_many, args=(directory, barrier, 10)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert sorted(entry.manifest["n"] for entry in Store(directory).candidates(KEY)) == [*range(10)]
    assert len(files_in(Store(directory))) == 10


# --- info, clear, directory -------------------------------------------------------------------


def test_info_and_clear(store: Store) -> None:
    paths = [store.write(key, "f", TEXT, {}) for key in (KEY, OTHER_KEY)]
    sizes = [path.stat().st_size for path in paths if path is not None]
    assert store.info() == StoreInfo(2, sum(sizes), store.directory)
    assert store.directory is not None
    for left in (store.directory, store.directory / KEY[:2]):
        (left / ".adcompiler_abc.tmp").write_text("left by a killed process")
    assert store.clear() == 2
    assert files_in(store) == []
    assert texts(store) == []


def test_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tag = sys.implementation.cache_tag
    monkeypatch.delenv("ADCOMPILER_CACHE_DIR", raising=False)
    directory = default_directory()
    assert directory is not None
    assert directory.parts[-2:] == ("adcompiler", tag)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "mine"))
    assert default_directory() == tmp_path / "mine" / str(tag)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "relative")
    assert default_directory() == tmp_path / "relative" / str(tag)


@pytest.mark.parametrize("value", ["", " ", "off", "OFF"])
def test_cache_that_is_off(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", value)
    assert default_directory() is None


def test_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADCOMPILER_CACHE_DIR", raising=False)
    monkeypatch.setattr(store_module, "user_cache", lambda: "~/.cache/adcompiler")
    with pytest.warns(CacheWarning, match="cannot be found"):
        assert default_directory() is None
    assert default_directory() is None  # said once


# --- modules ----------------------------------------------------------------------------------

FAILING = "def f(x):\n    y = x + 1\n    return y / 0  # the line\n"


def modules(store: Store) -> list[types.ModuleType]:
    path = store.write(KEY, "f", FAILING, {})
    assert path is not None
    return [load_module(path, FAILING, "f_grad"), load_module(None, FAILING, "f_grad")]


def test_modules_show_their_source(store: Store) -> None:
    on_disk, in_memory = modules(store)
    for module in (on_disk, in_memory):
        assert module.__name__ == "f_grad"
        assert inspect.getsource(module.f) == FAILING
        assert read_source(module.f).text == FAILING  # so a derivative can be differentiated
        with pytest.raises(ZeroDivisionError) as caught:
            module.f(1)
        assert "    return y / 0  # the line" in "".join(traceback.format_exception(caught.value))
    assert on_disk.__file__ is not None
    assert on_disk.f.__code__.co_filename == on_disk.__file__
    assert linecache.getline(on_disk.__file__, on_disk.f.__code__.co_firstlineno) == "def f(x):\n"
    digest = hashlib.sha256(FAILING.encode()).hexdigest()[:8]
    assert in_memory.f.__code__.co_filename == f"<adcompiler f_grad {digest}>"


def test_lines_in_memory_outlive_a_check(store: Store) -> None:
    _, in_memory = modules(store)
    linecache.checkcache()
    assert inspect.getsource(in_memory.f) == FAILING


def test_modules_do_not_inherit_future_features() -> None:
    """This file and the store's have `annotations` on; the emitted text has not."""
    module = load_module(None, "x: int = 1\n", "annotated")
    assert module.__annotations__ == {"x": int}
    assert "annotated" not in sys.modules


def test_the_store_does_not_import_the_parser() -> None:
    root = Path(__file__).parents[2]
    script = (
        "import sys, adcompiler.cache.store\n"
        "print(sorted({'gast', 'astunparse'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(root)},
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
