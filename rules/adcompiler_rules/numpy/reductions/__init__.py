"""Rules of sums, extremes, statistics, quantiles and histograms, and along axes."""
