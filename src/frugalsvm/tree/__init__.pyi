from . import branch_and_bound as branch_and_bound
