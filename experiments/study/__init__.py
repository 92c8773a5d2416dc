"""The tables and figures of the paper's study, and more: plans and reports."""
