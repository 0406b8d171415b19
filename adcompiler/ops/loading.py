"""Loads installed packages of rules, when something of the module that they cover is asked for."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType, ModuleType
from typing import Any

from adcompiler.ops.qualified_names import covering, home_module, rule_packages, rule_roots

OURS = "adcompiler_rules"


class Loading:
    """Which rule packages are loaded, and who has to know when others were.

    ``has_loaded`` is whether there were any. ``loaded`` is called before other threads go on,
    what is in ``after`` when all is done.
    """

    def __init__(self, loaded: Callable[[], None]) -> None:
        self.loaded = loaded
        self.lock = threading.RLock()
        self.has_loaded = False
        self.after: list[Callable[[], None]] = []
        self._loaded: set[str] = set()
        self._covered: set[str] = set()
        self._all = False
        self._begun: set[str] = set()
        self._loader: int | None = None

    def is_here(self) -> bool:
        """Say whether this thread is loading rules, or importing a module of those that come along.

        Code that was kept, or dumped, imports such modules itself. Others of them may need all of
        that one: they are not loaded meanwhile. What other packages register when they are
        imported comes on top of the rules that are here, and may ask for derivatives.
        """
        return self._loader == threading.get_ident() or imports_rules()

    def tell(self) -> None:
        """Tell who has to know of rules that came outside of loading."""
        if self._loader != threading.get_ident():
            self.has_loaded = True
            self.loaded()
            for notified in self.after:
                notified()

    @contextmanager
    def here(self) -> Iterator[None]:
        """Take what this thread registers meanwhile for rules of packages."""
        with self.lock:
            outer, self._loader = self._loader, threading.get_ident()
            try:
                yield
            finally:
                self._loader = outer

    def imported(self, module: str) -> ModuleType:
        """Return a module that is imported now; what one of a rule package registers is of that."""
        with self.here() if module.partition(".")[0] in rule_roots() else nullcontext():
            return importlib.import_module(module)

    def load_for(self, function: Callable[..., Any]) -> None:
        """Load the rules for the modules that a callable is from."""
        home = home_module(function)
        if home in self._covered:
            return
        places = covering(home)
        for module in places:
            if module not in self._loaded:
                self._load(module)
        if self._loaded.issuperset(places):  # not so while one of them is being loaded
            self._covered.add(home)

    def load_all(self) -> None:
        """Load the rules of every installed rule package."""
        if not self._all:
            for module in rule_packages():
                self._load(module)
            self._all = True

    def _load(self, module: str) -> None:
        # Another thread must not find the rules half loaded; a rule package that asks for rules of
        # its own module while it is loading must not load itself again.
        with self.lock:
            if module in self._loaded or module in self._begun or (
                self._loader != threading.get_ident() and imports_rules()
            ):
                return
            self._begun.add(module)
            with self.here():
                for point in rule_packages().get(module, ()):
                    self.has_loaded = True
                    try:
                        point.load()
                    except Exception:
                        import logging  # which takes a while, and only this needs

                        logging.getLogger("adcompiler").exception(
                            "the rules of %s for %s could not be loaded", point.value, module
                        )
                self._loaded.add(module)
            self.loaded()
        for notified in self.after:
            notified()


def imports_rules() -> bool:
    """Say whether this thread runs the top level of a module of the rules that come along."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and (
            str(frame.f_globals.get("__name__")).partition(".")[0] == OURS
        ):
            return True
        frame = frame.f_back
    return False
