"""What may happen to a cache, injected: each time the right gradient comes, and nothing raw."""

from __future__ import annotations

import gc
import hashlib
import json
import linecache
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adcompiler import grad
from adcompiler.cache import eviction
from adcompiler.cache import store as store_module
from adcompiler.cache.authentic import SECRET, keyed, secret_for, secret_of
from adcompiler.cache.modules import load_module
from adcompiler.cache.store import CacheWarning, Store, default_directory
from adcompiler.cache.trust import COMPILED
from adcompiler.dispatch import specialisations
from adcompiler.errors import ADError


@pytest.fixture(autouse=True)
def unwarned_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be a process that has not warned yet."""
    monkeypatch.setattr(store_module, "_warning", threading.Lock())


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of a cache that is this test's own."""
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))
    found = default_directory()
    assert found is not None
    return found


def doubled(x: float) -> float:
    return 2.0 * x * x


def tripled(x: float) -> float:
    return 3.0 * x * x


def entries(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.py"))


def parts_of(path: Path) -> tuple[dict[str, Any], str]:
    """Return the JSON in the header of an entry, and its text."""
    _, line, text = path.read_text(encoding="utf-8").split("\n", 2)
    return json.loads(line.removeprefix("# manifest: ")), text


def forged(path: Path, held: Any, text: str, secret: bytes | None = None) -> None:
    """Write an entry whose checksum is right: the plain one, or one that is keyed."""
    body = f"# manifest: {json.dumps(held)}\n{text}".encode()
    checksum = hashlib.blake2b(body, digest_size=32).hexdigest()
    checksum = checksum if secret is None else keyed(secret, body)
    path.write_bytes(f"# adcompiler 2 blake2b:{checksum}\n".encode() + body)
    path.chmod(0o600)


EVIL = "\n\ndef doubled_grad(x):\n    return 666.0\n"
FORGERIES: dict[str, Callable[[dict[str, Any], str, Any, str], tuple[Any, str]]] = {
    "another's text": lambda held, text, other, others: (held, others),
    "another's manifest": lambda held, text, other, others: (
        {**held, "manifest": other["manifest"]}, text),
    "all of another's but its key": lambda held, text, other, others: (
        {**held, "manifest": other["manifest"]}, others),
    "another text": lambda held, text, other, others: (held, EVIL),
    "text that raises": lambda held, text, other, others: (held, "raise RuntimeError('raw')\n"),
    "text that does not parse": lambda held, text, other, others: (held, "def (:\n"),
    "an entry that is not there": lambda held, text, other, others: (
        {**held, "manifest": {**held["manifest"], "entry": "no_such"}}, text),
    "an empty manifest": lambda held, text, other, others: ({**held, "manifest": {}}, text),
    "facts of another form": lambda held, text, other, others: (
        {**held, "manifest": {**held["manifest"], "facts": [1]}}, text),
    "a report that is a list": lambda held, text, other, others: (
        {**held, "manifest": {**held["manifest"], "report": []}}, text),
    "names bound to what is not there": lambda held, text, other, others: (
        {**held, "manifest": {**held["manifest"], "bound": {"x": [["free"]]}}}, text),
}


@pytest.mark.parametrize("with_secret", [False, True], ids=["plain", "keyed"])
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_entry_is_built_again(directory: Path, forge: Any, with_secret: bool) -> None:
    """With the plain checksum whatever the content is; with the secret, if it is of another key."""
    assert grad(tripled)(5.0) == 30.0
    (of_tripled,) = entries(directory)
    assert grad(doubled)(5.0) == 20.0
    (of_doubled,) = (path for path in entries(directory) if path != of_tripled)
    sound = of_doubled.read_bytes()
    held, text = forge(*parts_of(of_doubled), *parts_of(of_tripled))
    forged(of_doubled, held, text, secret_for(directory) if with_secret else None)
    assert grad(doubled)(5.0) == 20.0
    assert of_doubled.read_bytes() == sound
    assert len(entries(directory)) == 2


def test_anothers_entry_under_this_name_is_not_taken(directory: Path) -> None:
    assert (grad(doubled)(5.0), grad(tripled)(5.0)) == (20.0, 30.0)
    one, other = entries(directory)
    sound = one.read_bytes(), other.read_bytes()
    shutil.copy(other, one)
    assert (grad(doubled)(5.0), grad(tripled)(5.0)) == (20.0, 30.0)
    held = {path.read_bytes() for path in entries(directory)}
    assert held >= set(sound)


@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(b"short"), lambda path: path.unlink(),
    lambda path: path.chmod(0o666), lambda path: path.write_bytes(os.urandom(32)),
], ids=["short", "gone", "of others", "another"])
def test_without_its_secret_a_cache_begins_anew(directory: Path, damage: Any) -> None:
    assert grad(doubled)(5.0) == 20.0
    before = entries(directory)[0].read_bytes()
    damage(directory / SECRET)
    assert grad(doubled)(5.0) == 20.0
    assert secret_of(directory) is not None
    (again,) = entries(directory)
    assert again.read_bytes() != before
    written = again.stat().st_mtime_ns
    assert grad(doubled)(5.0) == 20.0
    assert again.stat().st_mtime_ns == written


def test_the_secret_is_for_its_owner_alone(directory: Path) -> None:
    assert grad(doubled)(5.0) == 20.0
    assert (directory / SECRET).stat().st_mode & 0o777 == 0o600
    assert len(secret_for(directory)) == 32


# --- room ---------------------------------------------------------------------------------------


def key_of(n: int) -> str:
    """Return one of many keys of the same part of the cache."""
    return "ab" + hashlib.sha256(str(n).encode()).hexdigest()[2:]


def kept(store: Store, n: int) -> bool:
    return bool(list(store.candidates(key_of(n))))


@pytest.fixture
def store(directory: Path) -> Store:
    return Store(directory)


def write(store: Store, n: int, ago: float = 0.0, lines: int = 1) -> Path:
    """Write an entry that was last used so many seconds ago."""
    path = store.write(key_of(n), "f", f"n = {n}\n" * lines, {})
    assert path is not None
    os.utime(path, (time.time() - ago,) * 2)
    return path


def test_a_lookup_lists_what_shares_the_first_digits_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(1_000)]
    for key in keys:
        store.write(key, "f", "", {})
    listed: list[int] = []
    real = os.listdir

    def counting(path: Any) -> list[str]:
        names = real(path)
        listed.append(len(names))
        return names

    monkeypatch.setattr(os, "listdir", counting)
    assert all(len(list(store.candidates(key))) == 1 for key in keys[:100])
    assert len(listed) == 100
    assert max(listed) < 25  # of 1000 entries, in 256 directories


def test_the_oldest_go_where_there_is_no_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        write(store, n, ago=1000.0 - n, lines=1000)
    monkeypatch.setenv("ADCOMPILER_CACHE_LIMITS", str(256 * 15_000 / 1e6))
    os.utime(store.directory / "ab" / write(store, 1, lines=1000).name)  # used again
    write(store, 4, lines=1000)
    assert [n for n in range(5) if kept(store, n)] == [1, 4]


def test_a_large_entry_stays_until_the_next_is_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_LIMITS", "0.001")
    write(store, 0, lines=1000)
    assert kept(store, 0)
    write(store, 1, lines=1000)
    assert [n for n in range(2) if kept(store, n)] == [1]


def test_what_nobody_uses_goes_by_age(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, days in enumerate((31, 29, 31, 31)):
        write(store, n, ago=days * eviction.DAY)
    monkeypatch.setenv("ADCOMPILER_CACHE_LIMITS", "512,30")
    assert kept(store, 0)  # which is a use
    assert store.prune() == 2
    assert [n for n in range(4) if kept(store, n)] == [0, 1]


def test_using_an_entry_changes_no_time_of_writing(store: Store) -> None:
    """Tools tell by it whether a source was written since."""
    path = write(store, 0, ago=10 * eviction.DAY)
    written = path.stat().st_mtime_ns
    assert kept(store, 0)
    assert path.stat().st_mtime_ns == written
    assert time.time() - path.stat().st_atime < 100.0


def test_what_killed_writers_left_goes(store: Store) -> None:
    part = write(store, 0).parent
    for name, ago in (("old", 2 * eviction.ABANDONED), ("new", 10.0)):
        left = part / f".adcompiler_{name}.tmp"
        left.write_text("half")
        os.utime(left, (time.time() - ago,) * 2)
    write(store, 1)
    assert sorted(part.glob("*.tmp")) == [part / ".adcompiler_new.tmp"]


def test_machine_code_goes_with_its_entry(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(store, 0, ago=100 * eviction.DAY)
    beside = path.parent / COMPILED
    names = [f"{path.stem}.backend", f"adcompiler_loops_{path.stem}.f-3.o"]
    for name in [*names, "adcompiler_loops_of_none_left.f-3.o"]:
        (beside / name).write_text("code")
        os.utime(beside / name, (time.time() - 100 * eviction.DAY,) * 2)
    write(store, 1)
    assert list(beside.iterdir()) == []
    assert not path.exists()
    write(store, 2)
    (beside / f"{path.stem}.backend").write_text("code")
    assert store.clear() == 2
    assert list(beside.iterdir()) == []


@pytest.mark.parametrize("said", ["much", "-1", "1,2,3", "nan"])
def test_limits_that_make_no_sense(
    store: Store, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_LIMITS", said)
    with pytest.raises(ADError, match=r"ADCOMPILER_CACHE_LIMITS=.*`megabytes,days`"):
        store.write(key_of(0), "f", "", {})


# --- who may write ------------------------------------------------------------------------------

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no owners and modes")
root_only = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another user")
NOBODY = 65534


@pytest.fixture
def open_place() -> Iterator[Path]:
    """Return a directory that other users reach, as pytest's own is not."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def as_another_user(work: Callable[[], object]) -> str:
    """Return the text of what ``work`` returns in a process of another user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, str(work()).encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text


@posix_only
@pytest.mark.parametrize("above", [1, 2])
def test_a_parent_that_anybody_can_write(tmp_path: Path, above: int) -> None:
    directory = tmp_path / "open" / "inside" / "cache"
    store = Store(directory)
    assert write(store, 0).exists()
    parent = directory.parents[above - 1]
    parent.chmod(0o1777)
    assert kept(store, 0)  # sticky, as /tmp is
    parent.chmod(0o777)
    with pytest.warns(CacheWarning, match="anybody can write and which is not sticky"):
        assert not kept(store, 0)
    assert store.write(key_of(1), "f", "", {}) is None
    assert (store.clear(), store.prune()) == (0, 0)
    assert store.verify()[0][0] == directory


@posix_only
def test_a_parent_behind_a_link_that_anybody_can_write(tmp_path: Path) -> None:
    real = tmp_path / "open" / "inside"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    store = Store(tmp_path / "link" / "cache")
    assert write(store, 0).exists()
    (tmp_path / "open").chmod(0o777)
    with pytest.warns(CacheWarning, match="which is not sticky"):
        assert not kept(store, 0)


@posix_only
def test_machine_code_that_others_may_have_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    (write(store, 0).parent / COMPILED).chmod(0o777)
    with pytest.warns(CacheWarning, match="can be written by other users"):
        assert not kept(store, 0)


@posix_only
def test_no_directory_that_is_made_can_be_written_by_others(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = write(Store(tmp_path / "one" / "two" / "cache"), 0)
    finally:
        os.umask(before)
    while made != tmp_path:
        assert made.stat().st_mode & 0o077 == 0
        made = made.parent


@root_only
def test_a_cache_that_another_user_has_made(open_place: Path) -> None:
    open_place.chmod(0o1777)
    path = open_place / "cache"
    said = as_another_user(lambda: Store(path).write(key_of(0), "f", "evil = 1\n", {}))
    assert said.startswith(str(path))
    assert path.stat().st_uid == NOBODY
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert list(Store(path).candidates(key_of(0))) == []
    assert Store(path).write(key_of(1), "f", "", {}) is None


@root_only
def test_the_cache_of_another_user_is_not_read(open_place: Path) -> None:
    store = Store(open_place / "cache")
    write(store, 0)
    for directory in (open_place / "cache", open_place / "cache" / "ab"):
        directory.chmod(0o755)
    said = as_another_user(lambda: list(store.candidates(key_of(0))))
    assert "belongs to another user" in said or said == "[]"
    assert "PermissionError" in as_another_user((open_place / "cache" / SECRET).read_bytes)


@root_only
def test_an_entry_that_another_user_put_there(open_place: Path) -> None:
    store = Store(open_place / "cache")
    path = write(store, 0)
    content = path.read_bytes()
    path.parent.parent.chmod(0o755)
    path.parent.chmod(0o777)

    def replace() -> None:
        path.unlink()
        path.write_bytes(content)

    assert as_another_user(replace) == "None"
    path.parent.chmod(0o700)
    assert path.read_bytes() == content
    assert not kept(store, 0)
    assert [said for _, said in store.verify()] == [
        "is a link, not a file, or can be written by other users"]


# --- verify -------------------------------------------------------------------------------------


def test_verify_names_each_problem(store: Store) -> None:
    paths = [write(store, n) for n in range(6)]
    assert store.verify() == []
    paths[0].write_bytes(b"")
    paths[1].write_bytes(b"# adcompiler 7 of the future\n")
    paths[2].rename(paths[2].with_name("f_" + "0" * 16 + "_" + "0" * 8 + ".py"))
    paths[3].unlink()
    paths[3].symlink_to(paths[4])
    (paths[0].parent / ".adcompiler_x.tmp").write_text("")
    assert {path.name: said for path, said in store.verify()} == {
        paths[0].name: "has not the checksum of what this cache's owner wrote",
        paths[1].name: "is of another version of adcompiler",
        "f_" + "0" * 16 + "_" + "0" * 8 + ".py": "has not the form of an entry of its name",
        paths[3].name: "is a link, not a file, or can be written by other users",
        ".adcompiler_x.tmp": "left by a writer",
    }
    assert kept(store, 4)
    assert kept(store, 5)


# --- memory -------------------------------------------------------------------------------------


def dimensions(x: Any, *rest: Any) -> Any:
    return x * len(rest)


def test_what_is_used_stays_in_the_table(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specialisations, "MAX_KEYS", 8)
    monkeypatch.setattr(specialisations, "HALF_FULL", 4)
    compiled: list[int] = []
    real = specialisations.Specialisations.compiled_for

    def counting(self: Any, known: Any, *rest: Any) -> Any:
        compiled.append(len(known))
        return real(self, known, *rest)

    monkeypatch.setattr(specialisations.Specialisations, "compiled_for", counting)
    derivative = grad(dimensions)
    for n in range(1, 9):
        assert derivative(1.0, *[0] * n) == n
    for n in (*range(1, 4), 9, 10, *range(1, 4)):
        assert derivative(1.0, *[0] * n) == n
    assert len(compiled) == 10
    derivative(1.0, *[0] * 4)  # which went, as the first of those that were not used again
    assert len(compiled) == 11


def test_lines_stay_while_one_of_two_modules_with_one_text_lives() -> None:
    text = "def f(x):\n    return x  # the line\n"
    kept, gone = load_module(None, text, "twin").f, load_module(None, text, "twin").f
    file = kept.__code__.co_filename
    assert gone.__code__.co_filename == file
    del gone
    gc.collect()
    assert linecache.getlines(file) == text.splitlines(keepends=True)
    linecache.clearcache()  # by which others empty it: the next module of this text is read again
    again = load_module(None, text, "twin").f
    assert linecache.getlines(file) == text.splitlines(keepends=True)
    del kept, again
    gc.collect()
    assert file not in linecache.cache


CYCLES = r"""
import gc, linecache, sys
from adcompiler import grad
import numpy as np

TEXT = "import numpy as np\ndef f(x):\n    y = np.sin(x) * {}.0\n    return np.sum(y * x)\n"

def cycle(i):
    text, file = TEXT.format(i), f"<cell {i}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"__name__": "cells"}
    exec(compile(text, file, "exec"), names)
    grad(names["f"])(np.ones(3))
    del linecache.cache[file]

def counts():
    gc.collect()
    return len(gc.get_objects()), len(linecache.cache)

for i in range(10):
    cycle(i)
objects, lines = counts()
for i in range(10, 40):
    cycle(i)
more, after = counts()
print((more - objects) // 30, after - lines)
"""


@pytest.mark.parametrize("kept", ["off", "on"])
def test_compiling_and_discarding_leaves_nothing(
    python: Callable[[str], str], kept: str
) -> None:
    """Nothing but a few types that functions of libraries gave, which are the constants of each."""
    off = "import os\nos.environ['ADCOMPILER_CACHE_DIR'] = 'off'\n" if kept == "off" else ""
    objects, lines = map(int, python(off + CYCLES).split())
    assert lines == 0
    assert objects <= 10  # it is about 80 where the functions' code is kept
