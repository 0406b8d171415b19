"""Wrapped functions under PyTorch's derivatives, beside the same functions written for tensors."""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import func  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from adcompiler import MissingRuleError, UnsupportedError  # noqa: E402
from adcompiler.interop.torch import wrap  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def model(x: Any, n: int, p: dict[str, Any]) -> Any:
    return {"a": np.sin(x) * p["k"] ** n, "b": (x @ x) * p["k"], "c": n}


def tensor(*values: float, grad: bool = True) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


K = torch.tensor(2.0, dtype=torch.float64)
wrapped = wrap(model)


def energy(x: Any) -> Any:
    found = wrapped(x, 3, {"k": K})
    return (found["a"] ** 2).sum() + found["b"]


def energy_of_tensors(x: Any) -> Any:
    return ((torch.sin(x) * K**3) ** 2).sum() + (x @ x) * K


def test_values_and_backward() -> None:
    x, k = tensor(0.3, 0.4), torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    found = wrapped(x, 3, {"k": k})
    assert found["c"].item() == 3 and not found["c"].requires_grad
    assert np.allclose(found["a"].detach(), np.sin([0.3, 0.4]) * 8.0, rtol=1e-15)
    (found["a"].sum() + found["b"]).backward()
    assert np.allclose(x.grad, np.cos([0.3, 0.4]) * 8.0 + 4.0 * np.array([0.3, 0.4]), rtol=1e-14)
    assert k.grad.item() == pytest.approx(np.sin([0.3, 0.4]).sum() * 12.0 + 0.25, rel=1e-14)


def test_checks_of_torch() -> None:
    k = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)

    def several(x: Any, k: Any) -> Any:
        found = wrapped(x, 3, {"k": k})
        return found["a"], found["b"]

    assert gradcheck(several, (tensor(0.3, 0.4), k), check_forward_ad=True)
    assert gradgradcheck(several, (tensor(0.3, 0.4), k))


ONE, TWO = tensor(0.3, -0.7, grad=False), torch.tensor([[0.3, -0.7], [0.6, -1.4]]).double()


@pytest.mark.parametrize(("of", "x"), [
    (func.grad, ONE), (func.hessian, ONE), (lambda f: func.jacrev(func.grad(f)), ONE),
    (lambda f: func.grad(lambda x: func.grad(f)(x).sum()), ONE),
    (lambda f: lambda x: func.jvp(f, (x,), (x,)), ONE),
    (lambda f: lambda x: func.vjp(f, x)[0], ONE),
    (lambda f: func.vmap(func.grad(f)), TWO),
], ids=["grad", "hessian", "jacrev-grad", "grad-grad", "jvp", "vjp", "vmap-grad"])
def test_transforms_of_torch(of: Any, x: Any) -> None:
    found, wanted = of(energy)(x), of(energy_of_tensors)(x)
    for one, other in zip(
        found if isinstance(found, tuple) else (found,),
        wanted if isinstance(wanted, tuple) else (wanted,), strict=True,
    ):
        assert torch.allclose(one, other, rtol=1e-12)


def test_complex_numbers() -> None:
    def waves(z: Any) -> Any:
        return np.exp(1j * z) * z

    z = torch.tensor([0.3 + 0.4j, 1.0 - 2.0j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(wrap(waves), (z,))
    (found,) = torch.autograd.grad(wrap(waves)(z).abs().sum(), z)
    (wanted,) = torch.autograd.grad((torch.exp(1j * z) * z).abs().sum(), z)
    assert torch.allclose(found, wanted, rtol=1e-12)


def test_single_precision_and_layouts() -> None:
    x = torch.arange(6.0).reshape(2, 3).T.requires_grad_()
    y = wrap(lambda a: a * a + a.sum())(x)
    assert y.dtype == torch.float32 and y.shape == (3, 2)
    y.sum().backward()
    assert x.grad.dtype == torch.float32
    assert torch.equal(x.grad, 2 * x.detach() + 6.0)


def test_tensors_stay_as_they_are() -> None:
    def doubled(x: Any) -> Any:
        x *= 2.0
        return x.sum()

    x = tensor(1.0, 2.0)
    y = wrap(doubled)(x)
    y.backward()
    assert x.tolist() == [1.0, 2.0] and x.grad.tolist() == [2.0, 2.0]


def test_a_layer_in_a_network() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    decay = wrap(lambda y: np.exp(-(y**2)))
    inputs = torch.randn(4, 3, dtype=torch.float64)
    decay(layer(inputs)).sum().backward()
    found = layer.weight.grad.clone()
    layer.zero_grad()
    torch.exp(-(layer(inputs) ** 2)).sum().backward()
    assert torch.allclose(found, layer.weight.grad, rtol=1e-12)


def test_structures_that_depend_on_values() -> None:
    def pieces(x: Any) -> Any:
        return (x * 2.0,) if x.sum() > 0 else (x * 3.0, x)

    up, down = tensor(1.0), tensor(-1.0)
    one, two = wrap(pieces)(up), wrap(pieces)(down)
    (two[0] + two[1]).backward()
    one[0].backward()
    assert up.grad.item() == 2.0 and down.grad.item() == 4.0


def test_refusals() -> None:
    with pytest.raises(TypeError, match="was given no tensor"):
        wrapped(np.ones(2), 3, {"k": 1.0})
    opaque = np.frompyfunc(abs, 1, 1)
    with pytest.raises(MissingRuleError, match="has no rule"):
        wrap(lambda x: opaque(x).sum())(tensor(1.0))
    with pytest.raises(TypeError, match="keys of dicts are words"):
        wrap(lambda p: p["a.b"])({"a.b": tensor(1.0)})


def test_tensors_that_numpy_has_no_array_for_are_refused() -> None:
    square = wrap(lambda x: np.sum(x * x))
    for tensor in (torch.ones(3, dtype=torch.bfloat16), torch.eye(3).to_sparse()):
        with pytest.raises(TypeError, match="NumPy has no array"):
            square(tensor)
    negative = torch.tensor([1.0 + 2.0j]).conj().imag  # a view with a bit that says minus
    assert float(square(negative)) == 4.0


def test_examples_of_another_structure_are_refused() -> None:
    chosen = wrap(lambda x: {"a": x[0]} if x[0] > 0.5 else {"b": x[0]})
    with pytest.raises(TypeError, match="structure of the result"):
        torch.func.vmap(chosen)(torch.tensor([[0.4, 1.0], [0.8, 1.0]]))
    with pytest.raises(TypeError, match="no examples"):
        torch.func.vmap(chosen)(torch.zeros(0, 2))


@dataclasses.dataclass
class Weights:
    w: Any
    bias: Any
    power: int = 2


def powers(p: Weights, x: Any) -> Any:
    return Weights(np.sin(p.w) * x, p.bias**p.power, p.power)


@pytest.mark.parametrize("backend", ["python", "auto"])
def test_dataclasses_of_tensors(backend: str) -> None:
    w, bias = tensor(0.1, 0.2), torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    given = Weights(w, bias)
    found = wrap(powers, backend=backend)(given, 3.0)
    assert type(found) is Weights and given.w is w
    (found.w.sum() + found.bias).backward()
    assert np.allclose(w.grad, 3.0 * np.cos([0.1, 0.2]), rtol=1e-15) and bias.grad.item() == 4.0
    assert torch.allclose(func.jacrev(lambda w: wrap(powers)(Weights(w, 2.0), 3.0).w)(w.detach()),
                          torch.diag(3.0 * torch.cos(w.detach())))


def test_dataclasses_of_equal_parts_are_one_function_and_of_others_another() -> None:
    cubes = wrap(lambda p: np.sum(p.w**p.power))
    one = Weights(tensor(2.0), 0.0)
    assert cubes(one).item() == 4.0
    one.power = 3
    assert cubes(one).item() == 8.0


def loop(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total = total + np.sin(x[i]) * x[i] ** 2
    return total


def test_native_loops() -> None:
    pytest.importorskip("llvmlite")
    x = tensor(0.3, -0.7, 1.1)
    native, plain = wrap(loop, backend="native"), wrap(loop)
    assert native(x, 3).item() == pytest.approx(plain(x, 3).item(), rel=1e-14)
    for of in (func.grad, func.hessian, lambda f: lambda x: func.jvp(f, (x,), (x,))[1]):
        one, other = (of(lambda x, f=f: f(x, 3))(x.detach()) for f in (native, plain))
        assert torch.allclose(one, other, rtol=1e-12)
    with pytest.raises(UnsupportedError, match="native backend has nothing for this"):
        wrap(powers, backend="native")(Weights(x.detach(), 2.0), 3.0)


def test_pickled_by_name_or_with_the_function() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    module = torch.nn.Sequential(Decay(wrap(np.tanh, backend="auto")))
    copy = pickle.loads(pickle.dumps(module))
    assert copy[0].layer.options == {"backend": "auto"}
    assert torch.equal(copy(tensor(0.5)), module(tensor(0.5)))


@wrap
def decorated(x: Any) -> Any:
    return np.exp(-(x**2))


class Decay(torch.nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return self.layer(2.0 * x).sum()


class Scale:
    k = 2.0

    @wrap
    def scaled(self, x: Any) -> Any:
        return x * self.k


def test_methods_are_bound() -> None:
    x = tensor(3.0)
    Scale().scaled(x).backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_under_torch_compile(backend: str) -> None:
    torch._dynamo.reset()
    module = Decay(decorated)
    told: list[str] = []
    x, same = tensor(0.3, 0.4), tensor(0.3, 0.4)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with mock.patch("warnings.showwarning", lambda text, *rest: told.append(str(text))):
            torch.compile(module, backend=backend)(x).backward()
    module(same).backward()
    assert not told and torch.equal(x.grad, same.grad)
    assert np.allclose(x.grad, -8.0 * np.array([0.3, 0.4]) * np.exp(-4.0 * np.array([0.09, 0.16])))


def test_under_autocast() -> None:
    layer = torch.nn.Linear(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = layer(torch.ones(2))
        with pytest.raises(TypeError, match=r"give tensor.to\(torch.float32\)"):
            decorated(hidden)
        decorated(hidden.float()).sum().backward()
    assert layer.weight.grad.dtype == torch.float32
