"""Which names share storage, and what writes make of it."""
