"""Data in parts that travel by what they are: rows of arrays, of files, chunks of Dask arrays."""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from adcompiler.support.structs import dataclass


class Shard(ABC):
    """A part of some data that is loaded where it is used; a class of one's own may be one."""

    @abstractmethod
    def load(self) -> Any:
        """Return the data."""


@dataclass(frozen=True)
class FileShard(Shard):
    """Some rows of an array in a file, mapped into memory where they are used."""

    file: str
    dtype: Any
    shape: tuple[int, ...]
    offset: int

    def load(self) -> np.ndarray:
        """Return the rows, which are read from the file as they are looked at, and not written."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        return np.asarray(np.memmap(self.file, self.dtype, "r", self.offset, self.shape))


@dataclass(frozen=True)
class ChunkShard(Shard):
    """A chunk of a Dask array, computed where it is used."""

    chunk: Any

    def load(self) -> Any:
        """Return the chunk as the array that it is of."""
        return self.chunk.compute(scheduler="synchronous")


def shards(data: Any, count: int | None = None) -> list[Any]:
    """Return data in parts, along its first axis.

    A ``dask.array`` comes in its chunks, of which each has whole rows; other arrays in ``count``
    parts, of which the first have a row more where they cannot be equal. Parts of a
    ``numpy.memmap`` are read by whoever uses them; those of other arrays are sent. Raises
    ValueError where there are no such parts.
    """
    if hasattr(data, "dask") and hasattr(data, "blocks"):
        return chunks_of(data, count)
    data = data if isinstance(data, np.memmap) else np.asarray(data)
    if count is None or count < 1:
        raise ValueError(f"count={count}: say in how many parts an array comes, at least one")
    if not data.ndim:
        raise ValueError("a number has no rows to part")
    each, more = divmod(len(data), count)
    ends = np.cumsum([0, *([each + 1] * more), *([each] * (count - more))]).tolist()
    rows = [data[start:stop] for start, stop in pairwise(ends)]
    return [file_shard(part) for part in rows] if isinstance(data, np.memmap) else rows


def chunks_of(data: Any, count: int | None) -> list[Any]:
    """Return the chunks of a Dask array, each with no more of its graph than it needs."""
    import dask

    if count is not None:
        raise ValueError("a Dask array comes in its own chunks: leave count out, or rechunk it")
    if any(number != 1 for number in data.numblocks[1:]):
        raise ValueError(
            f"chunks of a Dask array have to hold whole rows, and these are {data.numblocks}: "
            "rechunk it by data.rechunk({axis: -1 for axis in range(1, data.ndim)})"
        )
    parts = (data.blocks[number] for number in range(data.numblocks[0]))
    return [ChunkShard(dask.optimize(part)[0]) for part in parts]


def file_shard(rows: np.memmap) -> Any:
    """Return rows of a file as where they are in it; rows that are not stored in a piece, as such.

    ``offset`` of a part of a mapped array is that of the whole: the place is that of the numbers.
    """
    held = getattr(rows, "_mmap", None)
    if held is None or not rows.flags.c_contiguous or rows.filename is None or rows.size == 0:
        return np.array(rows)
    start = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY
    first = np.frombuffer(held, np.uint8).__array_interface__["data"][0]
    offset = start + rows.__array_interface__["data"][0] - first
    rows.flush()
    return FileShard(str(rows.filename), rows.dtype, rows.shape, int(offset))


def loaded(value: Any) -> Any:
    """Return the data of a shard; other values are that themselves."""
    return value.load() if isinstance(value, Shard) else value
