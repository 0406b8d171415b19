"""A function or module defined in the body has several names when assigned again."""

from __future__ import annotations

import math

from adcompiler import grad


def test_an_inner_function_with_a_second_name() -> None:
    def program(x: float) -> float:
        def square(t: float) -> float:
            return t * t

        also = square
        return square(x) + 2.0 * also(x)

    assert grad(program)(3.0) == 18.0


def test_an_imported_module_with_a_second_name() -> None:
    def program(x: float) -> float:
        import math as library

        other = library
        from math import cos

        cosine = cos
        return library.sin(x) + other.sin(x) + cosine(x) + cos(x)

    assert grad(program)(0.3) == 2.0 * math.cos(0.3) - 2.0 * math.sin(0.3)
