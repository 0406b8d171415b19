"""The forward pass that records, and the reverse sweep."""
