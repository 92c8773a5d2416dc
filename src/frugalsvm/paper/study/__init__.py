"""The paper's study as living code: one experiment per table and figure, and more.

An experiment (:mod:`.studies`) plans *cells*, one computation each, and makes tables
and figures of what came out. Cells run through joblib (:mod:`.runner`) and are kept,
each as it ends, in a store (:mod:`.store`), so that a run that is killed goes on where
it was.
``python -m frugalsvm experiment`` is the way in.
"""
