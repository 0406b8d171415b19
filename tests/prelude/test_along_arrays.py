"""The Python that is compiled in place of parts of NumPy gives what NumPy gives."""

import numpy as np
import pytest

from adcompiler.prelude import along_arrays

X = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])


@pytest.mark.parametrize("mode", ["mean", "maximum", "minimum", "median"])
@pytest.mark.parametrize(("width", "length"), [(1, None), ((0, 2), 2), (((1, 0), (2, 3)), 1)])
def test_padding_with_a_statistic(mode, width, length):
    statistic = {"mean": np.mean, "maximum": np.max, "minimum": np.min, "median": np.median}[mode]
    expected = np.pad(X, width, mode=mode, stat_length=length)
    np.testing.assert_allclose(along_arrays.padded(statistic, X, width, length), expected)


@pytest.mark.parametrize("period", [2.5, -4.0])
def test_periodic_interpolation(period):
    xp, fp = [0.3, 2.2, 5.1, 1.4], [1.0, -2.0, 3.0, 0.5]
    x = np.linspace(-6.0, 6.0, 25)
    expected = np.interp(x, xp, fp, period=period)
    np.testing.assert_allclose(along_arrays.interp_periodic(x, xp, fp, period), expected)


@pytest.mark.parametrize(("length", "parts"), [(7, 3), (6, 3), (2, 4), (0, 2)])
def test_lengths_of_parts(length, parts):
    ends = np.cumsum([len(part) for part in np.array_split(np.arange(length), parts)])
    found = [along_arrays.length_up_to(length, parts, count + 1) for count in range(parts)]
    assert found == ends.tolist()
    if length % parts == 0:
        assert along_arrays.equal_length(length, parts) == ends[0]
    else:
        with pytest.raises(ValueError, match="does not result in an equal division"):
            along_arrays.equal_length(length, parts)


def test_grids():
    a, b = along_arrays.evenly_spaced(0, 1, 5, float), along_arrays.stepped(0, 1, 0.3, float)
    np.testing.assert_allclose(along_arrays.dense_grid(a, b), np.mgrid[0:1:5j, 0:1:0.3])
    np.testing.assert_allclose(along_arrays.evenly_spaced(2.0, 3.0, 1, float), np.r_[2.0:3.0:1j])


def test_counted_items_and_places():
    assert along_arrays.counted([1, 2, 3], -1) == [1, 2, 3]
    assert along_arrays.counted([1, 2, 3], 2) == [1, 2]
    with pytest.raises(ValueError, match="iterator too short"):
        along_arrays.counted([1], 2)
    which = np.array([1, 0, 1, 0])
    pieces = np.concatenate([np.arange(4)[which == n] for n in range(2)])
    np.testing.assert_array_equal(pieces[along_arrays.places_of(which)], np.arange(4))
