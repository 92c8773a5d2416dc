"""The tasks that cells name: a data set and parameters in, values for JSON out."""
