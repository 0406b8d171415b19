"""What runs out of sight: threads, loggers, hooks of the interpreter, functions that look inert."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import logging
import queue
import sys
import threading
import traceback
import warnings

import numpy as np

from tests.record.lost import Program


def thread(x):
    out = []
    worker = threading.Thread(target=lambda: out.append(x * x))
    worker.start()
    worker.join()
    return out[0] * 2.0


def pool_of_threads(x):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        squares = list(pool.map(lambda k: x ** k, [1, 2, 3]))
        late = pool.submit(pow, x, 4)
    return sum(squares) + late.result()


def pool_that_writes(a):
    y = a * 1.0

    def work(k):
        y[k] = y[k] * y[k]

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        concurrent.futures.wait([pool.submit(work, k) for k in range(3)])
    return np.sum(y)


def thread_with_a_queue(x):
    todo, done = queue.Queue(), queue.SimpleQueue()

    def work():
        while (item := todo.get()) is not None:
            done.put(item * item)

    worker = threading.Thread(target=work)
    worker.start()
    for item in (x, 2.0 * x, None):
        todo.put(item)
    worker.join()
    return done.get() * done.get()


def local_of_a_thread(x):
    local = threading.local()
    local.value = x * x
    return local.value * x


def event_loop(x):
    async def scaled(k):
        await asyncio.sleep(0)
        return x * k

    async def work():
        total = sum(await asyncio.gather(scaled(1.0), scaled(2.0)))
        async for v in values():
            total += v * x
        return total

    async def values():
        for k in range(3):
            yield k * x

    return asyncio.run(work())


class Keeping(logging.Handler):
    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept.append(record.args[0] * 3.0)


def handler_of_a_logger(x):
    logger = logging.getLogger("tests.record.lost")
    handler = Keeping()
    logger.addHandler(handler)
    logger.propagate = False
    try:
        logger.error("%s", x * x)
    finally:
        logger.removeHandler(handler)
    return handler.kept[0]


def filter_of_a_logger(a):
    y = a * a
    logger = logging.getLogger("tests.record.lost.filtered")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())

    def double(record):
        record.args[0][...] *= 2.0
        return True

    logger.addFilter(double)
    try:
        logger.warning("%s %s", y, 1)
    finally:
        logger.removeFilter(double)
    return np.sum(y)


def hook_of_warnings(x):
    kept = []
    original = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *rest, **more: kept.append(message.args[0] * x)
        warnings.warn(UserWarning(x), stacklevel=1)
        warnings.showwarning = original
    return kept[0]


class Sized:
    def __init__(self, a):
        self.a = a

    def __len__(self):
        self.a *= 2.0
        return 3

    def __repr__(self):
        self.a[0] = self.a[1] * 3.0
        return "Sized"

    def __sizeof__(self):
        self.a[2] *= self.a[2]
        return 8

    def __dir__(self):
        self.a += self.a[0]
        return ["a"]

    def __instancecheck__(self, one):
        self.a[1] = one
        return True

    def __contains__(self, one):
        self.a[1] *= one
        return True


def len_that_writes(a):
    y = a * a
    n = len(Sized(y))
    return np.sum(y) * n


def repr_that_writes(a):
    y = a * a
    text = f"{Sized(y)!r}" + repr([Sized(y)])
    return np.sum(y) * len(text) / 12.0


def print_that_writes(a, out=None):
    y = a * a
    print(Sized(y), file=open_nothing())
    return np.sum(y)


def open_nothing():
    import io

    return io.StringIO()


def getsizeof_and_dir_that_write(a):
    y = a * a
    sys.getsizeof(Sized(y))
    dir(Sized(y))
    return np.sum(y)


def isinstance_that_writes(a):
    y = a * 1.0
    inside = isinstance(a[0] * 4.0, Sized(y))
    also = a[2] in Sized(y)
    return np.sum(y) * inside * also


def garbage_that_writes(a):
    class Cycle:
        def __init__(self, y):
            self.y, self.me = y, self

        def __del__(self):
            self.y *= 3.0

    y = a * a
    Cycle(y)
    gc.collect()
    return np.sum(y)


def set_from_a_trace(x):
    seen = []

    def tracer(frame, event, arg):
        if event == "return" and frame.f_code.co_name == "inner":
            seen.append(arg * 2.0)

    def inner(v):
        return v * v

    before = sys.getprofile()
    sys.setprofile(tracer)
    try:
        inner(x)
    finally:
        sys.setprofile(before)
    return seen[0]


def objects_found_by_the_collector(x):
    class Marked:
        pass

    one = Marked()
    one.value = x * x
    found = [o for o in gc.get_objects() if type(o) is Marked] or [one]  # not all are known
    return found[0].value + gc.get_referents([one.value])[-1]


def locals_of_a_traceback(x):
    def inner(v):
        hidden = v * v
        raise ValueError(hidden > 0)

    try:
        inner(x)
    except ValueError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        return frame.f_locals["hidden"] * x
    return 0.0


def exit_of_a_generator_forgotten(x):
    out = []

    def source():
        try:
            yield x
        finally:
            out.append(x * x)

    for v in source():
        out.append(v)
        break
    gc.collect()
    return sum(out)


def environment_of_text(x):
    import os

    os.environ["LOST_VALUE"] = repr(x * x)
    return float(os.environ.pop("LOST_VALUE"))


def memory_map(a):
    import mmap

    memory = mmap.mmap(-1, 24)
    y = np.ndarray((3,), float, memory)
    y[...] = a * a
    z = np.frombuffer(memory, float)
    found = np.sum(z * a)
    del y, z
    return found


def shared_by_dlpack(a):
    y = a * a
    z = np.from_dlpack(y)
    y[0] = a[1]
    return np.sum(z * a)


def buffer_of_a_class(a):
    class Store(bytearray):
        pass

    store = Store(24)
    y = np.frombuffer(store)
    y[:] = a
    y[0] *= y[1]
    return np.sum(np.frombuffer(store) ** 2)


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("a thread", thread, (0.7,), lambda x: 4.0 * x),
    Program("a pool of threads", pool_of_threads, (0.7,),
            lambda x: 1.0 + 2.0 * x + 3.0 * x * x + 4.0 * x ** 3),
    Program("a pool that writes", pool_that_writes, (A,), lambda a: 2.0 * a),
    Program("a queue", thread_with_a_queue, (0.7,), lambda x: 16.0 * x ** 3),
    Program("threading.local", local_of_a_thread, (0.7,), lambda x: 3.0 * x * x),
    Program("an event loop", event_loop, (0.7,), lambda x: 3.0 + 6.0 * x),
    Program("a handler of a logger", handler_of_a_logger, (0.7,), lambda x: 6.0 * x),
    Program("a filter of a logger", filter_of_a_logger, (A,), lambda a: 4.0 * a),
    Program("a hook of warnings", hook_of_warnings, (0.7,), lambda x: 2.0 * x),
    Program("__len__ writes", len_that_writes, (A,), lambda a: 12.0 * a),
    Program("__repr__ writes", repr_that_writes, (A,), lambda a: a * [0.0, 8.0, 2.0]),
    Program("__repr__ under print", print_that_writes, (A,), lambda a: a * [0.0, 8.0, 2.0]),
    Program("__sizeof__ and __dir__ write", getsizeof_and_dir_that_write, (A,),
            lambda a: np.array([8.0 * a[0], 2.0 * a[1], 4.0 * a[2] ** 3])),
    Program("__instancecheck__ writes", isinstance_that_writes, (A,),
            lambda a: np.array([1.0 + 4.0 * a[2], 0.0, 1.0 + 4.0 * a[0]])),
    Program("__del__ in a cycle", garbage_that_writes, (A,), lambda a: 6.0 * a),
    Program("sys.setprofile", set_from_a_trace, (0.7,), lambda x: 4.0 * x),
    Program("gc.get_objects", objects_found_by_the_collector, (0.7,), lambda x: 4.0 * x),
    Program("locals of a traceback", locals_of_a_traceback, (0.7,), lambda x: 3.0 * x * x),
    Program("a generator left early", exit_of_a_generator_forgotten, (0.7,),
            lambda x: 1.0 + 2.0 * x),
    Program("os.environ", environment_of_text, (0.7,), lambda x: 2.0 * x, no_derivative=True),
    Program("a memory map", memory_map, (A,), lambda a: 3.0 * a * a, no_derivative=True),
    Program("dlpack", shared_by_dlpack, (A,),
            lambda a: np.array([a[1], a[0] + 3.0 * a[1] ** 2, 3.0 * a[2] ** 2]),
            no_derivative=True),
    Program("an array over a bytearray", buffer_of_a_class, (A,), lambda a: np.array(
        [2.0 * a[0] * a[1] ** 2, 2.0 * a[1] * (1.0 + a[0] ** 2), 2.0 * a[2]]),
        no_derivative=True),
]
