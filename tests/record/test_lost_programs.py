"""The programs that may lose a derivative: what they say their gradients are is so."""

from __future__ import annotations

import warnings

import numpy as np

from tests.record.lost import Program, leaves, programs


def difference(program: Program, second: bool) -> str:
    """Return how the stated gradient of a call of a program differs from differences, if it does.

    A program that jumps is only called.
    """
    program.start()
    if program.jumps:
        program.function(*program.fresh())
        program.start()
        return ""
    stated = leaves(list(program.wanted(second)))
    found = leaves(list(program.differences(second)))
    if len(stated) == len(found) and np.allclose(
            stated, found, rtol=max(program.tolerance, 1e-6), atol=1e-7):
        return ""
    return f"{program.name}: {stated} is stated, differences are {found}"


def test_stated_gradients_are_those_of_differences() -> None:
    found = list(programs())
    assert len(found) >= 150
    assert len({(kind, program.name) for kind, program in found}) == len(found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [text for kind, program in found for second in {False, program.twice}
                 if (text := difference(program, second))]
    assert not wrong, "\n".join(wrong)


def test_programs_leave_nothing_behind_once_they_start_again() -> None:
    for kind, program in programs():
        if program.state is None:
            continue
        program.start()
        before = program.state()
        program.function(*program.fresh())
        program.start()
        assert repr(program.state()) == repr(before), f"{kind}: {program.name}"
