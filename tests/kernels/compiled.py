"""Kernels that only kernels call, made callable for tests."""

from numba import njit


def compiled(kernel):
    """A function that calls the kernel."""

    @njit
    def call(*args):
        return kernel(*args)

    return call
