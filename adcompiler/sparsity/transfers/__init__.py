"""What operations do to dependences."""
