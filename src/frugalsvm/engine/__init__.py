"""The engine room: what trees and searches ask of the data, and who answers.

Trees, searches and relaxations speak to an :class:`~frugalsvm.engine.protocol.Engine`.
``NativeEngine`` is the one for dense data in memory, by the compiled code of
``kernels``; ``GatheringEngine`` is the one for all other data, which it knows as a
:class:`~frugalsvm.engine.source.Source`.
"""
