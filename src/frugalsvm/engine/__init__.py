"""The engine room: what trees and searches ask of the data, and who answers.

Trees, searches and relaxations speak to an :class:`~frugalsvm.engine.protocol.Engine`.
``NativeEngine`` is the one for dense data in memory, by the compiled code of
``kernels``; sparse data or another device would be another one.
"""
