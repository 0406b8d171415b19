"""Dumped modules run for arrays that broadcasting stretches, as the derivatives do."""

import sys

import numpy as np
import pytest
from adcompiler import grad, vjp
from adcompiler.cli import main

TEXT = '''
import numpy as np
from scipy.special import logsumexp


def loss(q, o):
    return np.sum(q * (o - logsumexp(o, axis=1, keepdims=True)))


def squares(o, b, *, scale=2.0):
    return scale * np.sum((o + b) ** 2)
'''
ROWS, B = np.arange(12.0).reshape(3, 4), np.arange(4.0).reshape(1, 4)


@pytest.fixture
def written(tmp_path, monkeypatch, capsys):
    path = tmp_path / "stretched_model.py"
    path.write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, types, *options):
        output = tmp_path / f"{name}_{len(options)}_ad.py"
        assert main([
            "dump", f"{path}:{name}", "--args", types, "-o", str(output), *options]) == 0
        capsys.readouterr()
        space = {"__name__": output.stem}
        exec(compile(output.read_text(), str(output), "exec"), space)
        return space

    yield write
    sys.modules.pop("stretched_model", None)


@pytest.mark.parametrize("options", [(), ("--standalone",)])
def test_one_function(written, options):
    space = written("loss", "q: float64[:, :], o: float64[:, :]", "--argnums", "1", *options)
    import stretched_model as model

    wanted = grad(model.loss, 1)(np.ones((3, 4)), ROWS)
    assert np.array_equal(space["loss_grad"](np.ones((3, 4)), ROWS), wanted)
    wanted = grad(model.loss, 1)(np.ones((1, 4)), ROWS)
    assert np.array_equal(space["loss_grad"](np.ones((1, 4)), ROWS), wanted)


def test_keywords_and_shapes_that_do_not_fit(written):
    space = written("squares", "o: float64[:, :], b: float64[:, :]", "--argnums", "0,1")
    import stretched_model as model

    for b in (B, ROWS):
        wanted = grad(model.squares, (0, 1))(ROWS, b, scale=3.0)
        for one, other in zip(space["squares_grad"](ROWS, b, scale=3.0), wanted, strict=True):
            assert np.array_equal(one, other)
    with pytest.raises(ValueError, match="broadcast"):
        space["squares_grad"](ROWS, np.ones((2, 3)))


def test_a_pair_of_functions_is_of_any_shapes(written):
    space = written("squares", "o: float64[:, :], b: float64[:, :]", "--mode", "vjp")
    import stretched_model as model

    for b in (B, ROWS):
        value, residuals = space["squares_augmented"](ROWS, b)
        assert value == model.squares(ROWS, b)
        wanted = vjp(model.squares, ROWS, b, argnums=0)[1](1.0)
        assert np.array_equal(space["squares_pullback"](residuals, 1.0), wanted)
