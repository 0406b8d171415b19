"""The only code that emitted modules import: NumPy and nothing else."""

from adcompiler.runtime.broadcasting import project, unbroadcast
from adcompiler.runtime.indexing import add_at, is_basic, scatter
from adcompiler.runtime.structure import add, zeros_like

__all__ = ["add", "add_at", "is_basic", "project", "scatter", "unbroadcast", "zeros_like"]
