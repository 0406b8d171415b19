"""What is known of library functions beside their derivatives."""
