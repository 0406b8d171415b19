"""Rules for ``scipy.stats``: of distributions and of samples."""
