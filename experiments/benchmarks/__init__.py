"""The benchmarks: they print ratios, because machines are noisy."""
