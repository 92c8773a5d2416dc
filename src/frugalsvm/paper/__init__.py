"""The paper, as a wing of its own: models, solvers, algorithms, baselines, data, study.

Nothing outside imports it at import time. ``relax``, the methods and the command line
load what they are asked for by name.
"""
