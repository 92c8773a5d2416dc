"""Side-by-side runs against peers. They print ratios: machines are noisy."""
