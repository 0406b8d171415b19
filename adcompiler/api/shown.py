"""Derivatives as pages and profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec

from adcompiler.api.fallback import because
from adcompiler.dispatch import Compiled
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError

if TYPE_CHECKING:
    from adcompiler.dispatch import Specialisations
    from adcompiler.viewer.page import View
    from adcompiler.viewer.profile import Profile

P = ParamSpec("P")


class Code(NamedTuple):
    """Code that a derivative runs: whose form it is, and the values of all of its parameters."""

    specialisations: Specialisations
    compiled: Compiled
    values: tuple[Any, ...]


class Shown(Generic[P]):
    """What a derivative shows of itself: its code, why it is recorded, pages and profiles."""

    def code(self, *args: Any, **kwargs: Any) -> Code:
        """Return the code that computes the derivative at these arguments, or most of it."""
        raise NotImplementedError

    def may_record(self, error: ADError) -> bool:
        """Say whether calls that the compiler refuses with this error are recorded."""
        return False

    def why_recorded(self, *args: Any, **kwargs: Any) -> str | None:
        """Return why calls with these arguments are recorded; None if they run compiled code.

        Raises ADError if they are refused.
        """
        try:
            self.code(*args, **kwargs)
        except ADError as error:
            if self.may_record(error):
                return because(error)
            raise
        return None

    def at(self, call: Written) -> tuple[Specialisations, tuple[Any, ...]]:
        """Return what is recorded for a call, and the values of all of its parameters."""
        raise NotImplementedError

    def why_last_recorded(self) -> str | None:
        """Return why calls are recorded; None if any ran compiled code, or none was made."""
        return None

    def recorded_text(self) -> str:
        """Return the function as it runs when it is recorded."""
        raise NotImplementedError

    def last_run(self) -> tuple[Specialisations, Compiled] | None:
        """Return the code that ran last, and whose form it is; None before any call."""
        raise NotImplementedError

    @with_users_frames
    def view(self, *args: P.args, **kwargs: P.kwargs) -> View:
        """Return a page that shows the function beside the code for these arguments.

        Lines are linked both ways. The code is run once, to measure what it saves for its sweep.
        Notebooks display the page; ``view(...).save("page.html")`` writes it to a file that needs
        no other one.
        """
        from adcompiler.viewer.listed import listed
        from adcompiler.viewer.page import View

        s, compiled, values = self.code(*args, **kwargs)
        return View(listed(s, compiled, repr(self)[1:-1], values))

    @with_users_frames
    def profile(self, *args: P.args, **kwargs: P.kwargs) -> Profile:
        """Return where a call with these arguments spends its time, and what it holds meanwhile.

        The call is made three times: to compile, for the times of lines, and for the bytes that
        Python holds (of all threads). Prints as a table by line of the function, forward pass and
        reverse sweep; ``plot()`` draws it with matplotlib, ``view()`` shows it beside the code.
        What several lines share is split evenly. Raises ValueError for machine code and recordings,
        of which there are no lines, ADError for what is refused, and what the function raises.
        """
        from adcompiler.viewer.listed import listed
        from adcompiler.viewer.profile import profiled

        call: Any = self

        def run() -> None:
            call(*args, **kwargs)

        why = self.why_recorded(*args, **kwargs)
        if why is not None:
            raise ValueError(
                f"{call!r} is recorded in each call, so that there is no code to measure: {why}")
        run()
        s, compiled, _ = self.code(*args, **kwargs)
        found = listed(s, compiled, repr(self)[1:-1])
        entry: Any = compiled.entry
        return profiled(found, entry, run)

    def _repr_html_(self) -> str:
        """Show the code that ran last, as ``view`` does; nothing is run for this."""
        found = self.last_run()
        if found is None:
            import html

            return f"<code>{html.escape(repr(self))}</code>"
        from adcompiler.viewer.listed import listed
        from adcompiler.viewer.page import View

        return View(listed(*found, repr(self)[1:-1]))._repr_html_()
