"""The computational layer between the data and the trees and searches.

Trees, searches and relaxations use an :class:`~frugalsvm.engine.protocol.Engine`.
``NativeEngine`` is for dense data in memory and calls the compiled code of ``kernels``;
``ColumnGenerationEngine`` is for all other data, accessed as a
:class:`~frugalsvm.engine.source.Source`.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
