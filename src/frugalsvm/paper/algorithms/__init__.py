"""The algorithms of the paper's Section 4, and the subproblems they are made of."""
