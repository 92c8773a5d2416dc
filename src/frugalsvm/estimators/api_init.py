"""Public Python interface: estimators, paths, stability and alternatives."""
