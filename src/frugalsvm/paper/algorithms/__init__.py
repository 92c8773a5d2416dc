"""The algorithms of the paper's Section 4, and their subproblems."""
