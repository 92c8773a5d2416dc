"""Side-by-side runs against peers; they print ratios, because machines are noisy."""
