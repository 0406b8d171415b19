"""Rules for SciPy, by its modules; a file ``scipy_*`` beside this folder loads those of one."""
