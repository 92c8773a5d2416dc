"""What users of Python call: estimators, paths, stability and alternatives."""
