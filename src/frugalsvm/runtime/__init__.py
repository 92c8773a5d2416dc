"""What surrounds a run: clock, signals, incumbent, progress, threads, compilation."""
