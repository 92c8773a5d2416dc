"""Cross-validation: one loop over folds for estimators, command line and study.

``folds`` holds the loop, ``samples`` and ``models`` what a fold is made of, ``grid`` a
fold of many budgets and C, ``choice`` the choice among them, and ``final_fit`` the fit
of all data with it.
"""
