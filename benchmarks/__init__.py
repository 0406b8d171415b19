"""The benchmark suite: ``python -m benchmarks``.

Each program stands once in ``programs/``, in a table for each class; ``engines.py`` is the table of
what differentiates it; ``peers/`` has what other engines are given where the text is not for them.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # BLAS reads these when NumPy is imported
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
