"""Derivatives computed by many workers: threads, processes, or machines.

Everything here is given a ``concurrent.futures.Executor``: a pool of threads or processes, the one
of a ``dask.distributed`` client, of mpi4py, or of Ray. What is sent is derivatives, which are
pickled by what they are made of and take their code from the cache of where they arrive. Results
come in the order of what was submitted and are added in an order that is documented, so that they
are the same to the last digit whoever computed them, and when.
"""

from adcompiler.parallel.gradients import value_and_grad
from adcompiler.parallel.jacobians import jacobian, sparse_jacobian
from adcompiler.parallel.paths import Estimate, monte_carlo
from adcompiler.parallel.running import in_order, tree_sum
from adcompiler.parallel.shards import Shard, shards
from adcompiler.parallel.starts import Found, multi_start

__all__ = [
    "Estimate", "Found", "Shard", "in_order", "jacobian", "monte_carlo", "multi_start", "shards",
    "sparse_jacobian", "tree_sum", "value_and_grad",
]
