"""What all packages use: classes of data, signatures, and what compiling may cost."""
