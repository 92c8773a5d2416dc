"""Infrastructure of a run: clock, signals, progress, threads, compilation."""
