"""Rules of adcompiler's own functions, which derivatives of derivatives need."""
