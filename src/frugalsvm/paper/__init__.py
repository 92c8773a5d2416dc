"""The paper: its models, solvers, algorithms, baselines.

No other package imports it at import time. ``relax``, the methods and the command line
load its modules by name on demand.
"""
