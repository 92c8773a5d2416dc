"""The paper's study and the benchmarks: tables, charts and pages."""
