"""What only tells something is called as it stands, once, and is not opened."""

import logging
import warnings

import numpy as np
import pytest
from adcompiler import ADError, grad, hvp, jet, jvp, value_and_grad, vjp, vmap
from adcompiler.runtime.handlers import Logs, logs_are_text

log = logging.getLogger("tests.telling")
X = np.array([1.0, 2.0, 3.0])


class Model:
    def __init__(self):
        self.log = logging.getLogger("tests.telling.model")


MODEL = Model()


def told(x):
    y = x**2
    log.info("y is %s", y)
    MODEL.log.debug("first %.1f", y[0])
    logging.getLogger("tests.telling").warning(f"last {y[-1]}")
    return np.sum(y)


def warned(x):
    y = x**2
    if y[0] > 0.5:
        warnings.warn(f"large: {y[0]}", RuntimeWarning, stacklevel=2)
    return np.sum(y * x)


def drawn(x, plot=False):
    y = x**3
    if plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        axes.plot(x, y)
        figure.suptitle("cubes")
    return np.sum(y)


def read_back(x):
    import matplotlib.pyplot as plt

    plt.figure()
    plt.plot(x**2)
    top = plt.ylim()[1]
    plt.close("all")
    return np.sum(x) * top


EXPECTED = ["y is [1. 4. 9.]", "first 1.0", "last 9.0"]


@pytest.mark.parametrize("run", [
    lambda: grad(told)(X), lambda: value_and_grad(told)(X)[1], lambda: vjp(told, X)[1](1.0)[0],
    lambda: hvp(told, X, X) * 1.0,
])
def test_loggers_write_once(run, caplog):
    caplog.set_level(logging.DEBUG)
    assert np.array_equal(run(), 2.0 * X)
    assert [record.getMessage() for record in caplog.records] == EXPECTED


def test_other_modes(caplog):
    caplog.set_level(logging.DEBUG)
    assert jvp(told, (X,), (np.ones(3),)) == (14.0, 12.0)
    assert len(caplog.records) == 3
    assert jet(lambda t: told(t * X), 2)(1.0)[1] == 28.0
    assert len(caplog.records) == 6
    assert vmap(told)(np.stack([X, 2.0 * X])).tolist() == [14.0, 56.0]
    assert len(caplog.records) == 12


def test_text_has_the_calls():
    text = grad(told).source_for(X)
    assert 'log.info("y is %s", y)' in text
    assert "log.debug(" in text and "isEnabledFor" not in text and "told(" not in text


def test_warnings(recwarn):
    assert grad(warned)(X) == pytest.approx(3.0 * X**2)
    assert [str(one.message) for one in recwarn if one.category is RuntimeWarning] == ["large: 1.0"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(RuntimeWarning, match="large"):
            grad(warned)(X)


def test_drawings_are_recorded():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    assert grad(drawn, backend="record")(X, True) == pytest.approx(3.0 * X**2)
    (axes,) = pyplot.gcf().axes
    assert [line.get_ydata().tolist() for line in axes.lines] == [[1.0, 8.0, 27.0]]
    pyplot.close("all")


def test_what_is_read_back_of_a_drawing_has_a_derivative():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    top = read_back(X) / np.sum(X)
    moved = np.sum(X) * 2.0 * X * np.array([-0.05, 0.0, 1.05])  # a margin of a twentieth
    wanted = top + moved
    assert grad(read_back, backend="record")(X) == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(ADError):
        grad(read_back, fallback="refuse")(X)
    pyplot.close("all")


class Keeping(logging.Handler):
    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept.append(record.args)


KEEPING = Keeping()


@pytest.fixture
def kept():
    logger = logging.getLogger("tests.telling.kept")
    logger.setLevel(logging.DEBUG)
    KEEPING.kept.clear()
    yield logger
    logger.removeHandler(KEEPING)
    KEEPING.kept.clear()


def logged_and_read(x):
    logging.getLogger("tests.telling.kept").info("energy %s", np.sum(x**2))
    return KEEPING.kept[-1][0] * 2.0 if KEEPING.kept else np.sum(x)


@pytest.mark.records
@pytest.mark.filterwarnings("ignore::adcompiler.errors.RecordedWarning")
@pytest.mark.parametrize("slope", [
    lambda: grad(logged_and_read)(X).sum(), lambda: jvp(logged_and_read, (X,), (np.ones(3),))[1],
])
def test_handlers_of_the_user_may_keep_what_is_logged(kept, slope):
    assert slope() == 3.0  # by compiled code: no handler but those of the libraries
    kept.addHandler(KEEPING)
    assert slope() == 24.0
    with pytest.raises(ADError):
        grad(logged_and_read, fallback="refuse")(X)


class Told(UserWarning):
    def __init__(self, value):
        super().__init__("told")
        self.value = value


def warned_and_read(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(Told(np.sum(x**2)), stacklevel=2)
    return caught[0].message.value * 2.0


def raised_and_read(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            warnings.warn(Told(np.sum(x**2)), stacklevel=2)
        except Told as told:
            return told.value * 2.0
    return 0.0


@pytest.mark.parametrize("f", [warned_and_read, raised_and_read])
def test_warnings_of_the_users_classes_may_keep_values(f):
    for backend in ("python", "record"):
        with pytest.raises(ADError, match=r"warn|told"):
            grad(f, backend=backend)(X)


class Library:
    """Does as loggers of other packages: passes on what it is given."""

    def __init__(self):
        self.kept = []

    def info(self, event, **values):
        self.kept.append(values)


def test_other_loggers_are_given_text_alone(monkeypatch):
    monkeypatch.setattr(Library, "__module__", "structlog.lib")
    monkeypatch.setattr(Library.info, "__module__", "structlog.lib")
    logger = Library()

    def logged(x):
        logger.info("energy", value=np.sum(x**2))
        return logger.kept[-1]["value"] * 2.0

    def logged_text(x):
        logger.info(f"energy {np.sum(x**2)}")
        return np.sum(x)

    with pytest.raises(ADError, match="f-string"):
        grad(logged)(X)
    assert grad(logged_text)(X).tolist() == [1.0, 1.0, 1.0]


class Counting(logging.Filter):
    def filter(self, record):
        return True


def test_packages_may_filter_what_they_log_themselves(kept, monkeypatch):
    monkeypatch.setattr(Counting, "__module__", "scipy.own")
    for name, plain in (("scipy.logs", True), ("tests.telling.filtered", False)):
        logger, one = logging.getLogger(name), Counting()
        logger.addFilter(one)
        try:
            assert (Logs.of_model is logs_are_text) == plain
            assert Logs.of_scipy is not logs_are_text
        finally:
            logger.removeFilter(one)
    assert Logs.of_scipy is logs_are_text
