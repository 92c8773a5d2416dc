"""The paper's study as code: one experiment per table and figure, and more.

An experiment (:mod:`.studies`) plans *cells*, one computation each, and turns their
outcomes into tables and figures. Cells run through joblib (:mod:`.runner`), and each is
saved in a store (:mod:`.store`) when it ends, so that a run that was killed can resume.

The entry point is ``python -m frugalsvm experiment``.
"""
