"""Where batches of nodes are computed: NumPy on the CPU, PyTorch on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DEVICES = ("cpu", "cuda")
# An array of NumPy or of another library.
Array = Any


class Device(NamedTuple):
    """A device and the library of its arrays.

    Attributes
    ----------
    name : str
        One of ``DEVICES``.
    xp : module
        Follows the array API, as far as ``engine.admm`` uses it.
    put, get : callables
        Copy an array of NumPy to the device, and back.
    out_of_memory : tuple of exception types
        What its library raises if memory is short.
    """

    name: str
    xp: Any
    put: Callable[[np.ndarray], Array]
    get: Callable[[Array], np.ndarray]
    out_of_memory: tuple[type[BaseException], ...]


CPU = Device("cpu", np, np.asarray, np.asarray, (MemoryError,))


def device_of(name: str) -> Device:
    """The device of a given name; ValueError if it is not there."""
    if name == CPU.name:
        return CPU
    try:
        import torch
    except ImportError:
        raise ValueError(
            f"device={name!r} needs PyTorch, which is not installed: run "
            "pip install 'frugalsvm[gpu]', or leave device='cpu'."
        ) from None
    if not torch.cuda.is_available():
        raise ValueError(
            f"device={name!r}: PyTorch {torch.__version__} finds no GPU. Check that "
            "nvidia-smi lists one and that this build of PyTorch supports it, or leave "
            "device='cpu'."
        )
    return torch_device(name)


def torch_device(name: str) -> Device:
    """A device of PyTorch by the name that PyTorch gives it; tests use its CPU."""
    import torch

    def put(array: np.ndarray) -> Array:
        return torch.from_numpy(np.ascontiguousarray(array)).to(name)

    def get(tensor: Array) -> np.ndarray:
        found: np.ndarray = tensor.cpu().numpy()
        return found

    return Device(name, torch, put, get, (torch.cuda.OutOfMemoryError, MemoryError))
