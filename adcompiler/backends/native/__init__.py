"""The native backend: derivatives as loops over machine numbers."""
