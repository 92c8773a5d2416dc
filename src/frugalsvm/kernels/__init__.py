"""Kernels: arrays in, arrays out. They know nothing of Problem or Result."""
