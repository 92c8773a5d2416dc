"""The numbers that the paper prints in Section 5, as data with their labels.

Transcribed from the paper's source, figure by figure as printed; ``alpha`` of EN-SVM as
"2^9". Tables 1 and 2 are in :data:`experiments.datasets.CATALOGUE`. The source has
no numbers for the figures. Times are seconds on an Apple M1, MipGap is a fraction, d_f
a percentage, ACC percentages.
"""

from __future__ import annotations

from dataclasses import dataclass

#: A row of a published table: a data set, and the budget where the table has one.
Row = tuple[str, int | None]


@dataclass(frozen=True)
class PublishedTable:
    """One table of the paper.

    Attributes
    ----------
    number : int
    label : str
        In the paper's source.
    columns : tuple of str
    rows : dict of (str, int or None) to tuple of str
        By data set and budget; entries as printed.
    """

    number: int
    label: str
    columns: tuple[str, ...]
    rows: dict[Row, tuple[str, ...]]

    def printed(self, name: str, budget: int | None, column: str) -> str:
        """An entry as printed; empty if the table has no such row.

        Parameters
        ----------
        name : str
            Of a data set.
        budget : int or None
        column : str

        Returns
        -------
        str
        """
        row = self.rows.get((name, budget))
        return "" if row is None else row[self.columns.index(column)]

    def value(self, name: str, budget: int | None, column: str) -> float | None:
        """An entry as a number; None if the table has no such row."""
        text = self.printed(name, budget, column)
        if not text:
            return None
        base, _, power = text.partition("^")
        return float(base) ** float(power) if power else float(base)

    def half_unit(self, name: str, budget: int | None, column: str) -> float:
        """Half a unit of the last printed digit: the possible rounding error."""
        _, _, decimals = self.printed(name, budget, column).partition(".")
        return 0.5 * 10.0 ** -len(decimals)


def _table(
    number: int, label: str, columns: str, text: str, *, has_budget: bool = True
) -> PublishedTable:
    names = tuple(columns.split("|"))
    rows: dict[Row, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        name, *entries = line.split()
        budget = int(entries.pop(0)) if has_budget else None
        if len(entries) != len(names):
            raise ValueError(f"Table {number}: {line!r} has not {len(names)} entries.")
        rows[name, budget] = tuple(entries)
    return PublishedTable(number, label, names, rows)


TABLE_3 = _table(
    3,
    "tab: gurobi on big data",
    "BigMP ObjFun|BigMP MipGap|CoP ObjFun|CoP MipGap",
    """
    arrhythmia 10 2398.06 0.64 2151.56 0.82
    arrhythmia 20 2047.67 0.67 1712.64 0.81
    arrhythmia 30 1733.28 0.67 1441.63 0.78
    colorectal 10 2.99 0.64 2.12 0.98
    colorectal 20 0.64 0.13 0.68 0.93
    colorectal 30 0.41 0.04 0.43 0.89
    dlbcl 10 0.63 1.00 0.56 1.00
    dlbcl 20 0.18 0.99 0.15 0.99
    dlbcl 30 0.16 0.99 0.09 0.98
    lymphoma 10 18.07 1.00 1.16 0.99
    lymphoma 20 0.71 0.99 0.29 0.98
    lymphoma 30 0.34 0.98 0.16 0.96
    madelon 10 16680.48 0.32 16800.07 0.33
    madelon 20 16419.87 0.32 18558.98 0.40
    madelon 30 16075.70 0.30 18425.44 0.39
    mfeat 10 0.92 0.59 0.68 0.93
    mfeat 20 0.26 0.21 0.26 0.81
    mfeat 30 0.18 0.15 0.18 0.71
    """,
)

TABLE_4 = _table(
    4,
    "table: h1 vs h2 large datasets",
    "H-LS ObjFun|H-LS Time|H-KS ObjFun|H-KS Time",
    """
    arrhythmia 10 2491.04 5.37 2142.67 41.24
    arrhythmia 20 1982.08 9.55 1652.83 168.83
    arrhythmia 30 1729.55 7.59 1380.19 311.62
    colorectal 10 2.13 15.38 2.04 15.88
    colorectal 20 0.67 20.12 0.65 57.51
    colorectal 30 0.411 37.26 0.406 69.46
    dlbcl 10 0.25 51.01 0.23 26.56
    dlbcl 20 0.104 46.97 0.101 67.74
    dlbcl 30 0.065 134.95 0.063 117.29
    lymphoma 10 0.69 28.73 0.69 98.64
    lymphoma 20 0.24 40.87 0.23 54.42
    lymphoma 30 0.14 98.25 0.13 109.33
    madelon 10 16660.85 25.07 16615.43 607.32
    madelon 20 16236.87 48.57 16236.87 612.62
    madelon 30 15917.52 176.92 15917.99 605.93
    mfeat 10 0.70 21.27 0.66 341.87
    mfeat 20 0.25 76.68 0.25 621.16
    mfeat 30 0.17 276.90 0.17 606.96
    """,
)

TABLE_5 = _table(
    5,
    "table: heurs vs gurobi big data",
    "CoP|H-KS|CoP*|d_f",
    """
    arrhythmia 10 2151.56 2142.67 2098.55 2
    arrhythmia 20 1712.64 1652.83 1652.83 3
    arrhythmia 30 1441.63 1380.19 1366.94 5
    colorectal 10 2.12 2.04 2.04 4
    colorectal 20 0.68 0.65 0.65 5
    colorectal 30 0.43 0.41 0.41 6
    dlbcl 10 0.56 0.23 0.23 60
    dlbcl 20 0.15 0.10 0.10 35
    dlbcl 30 0.09 0.06 0.06 29
    lymphoma 10 1.16 0.69 0.69 41
    lymphoma 20 0.29 0.22 0.22 21
    lymphoma 30 0.16 0.13 0.13 16
    madelon 10 16800.07 16615.43 16615.43 1
    madelon 20 18558.98 16236.86 16236.86 13
    madelon 30 18425.44 15917.51 15917.51 14
    mfeat 10 0.68 0.66 0.66 3
    mfeat 20 0.26 0.25 0.25 4
    mfeat 30 0.17 0.17 0.17 3
    """,
)

TABLE_6 = _table(
    6,
    "table: lower_bounds_comparison",
    "DSCoP|BigMP|CoP",
    """
    arrhythmia 10 754.46 451.10 274.79
    arrhythmia 20 622.44 395.92 274.79
    arrhythmia 30 538.86 303.66 274.79
    colorectal 10 1.07 0.05 0.05
    colorectal 20 0.54 0.05 0.05
    colorectal 30 0.38 0.05 0.05
    dlbcl 10 0.16 0.00 0.00
    dlbcl 20 0.08 0.00 0.00
    dlbcl 30 0.06 0.00 0.00
    lymphoma 10 0.35 0.00 0.01
    lymphoma 20 0.18 0.00 0.01
    lymphoma 30 0.12 0.00 0.01
    madelon 10 11243.14 0.00 0.00
    madelon 20 11209.44 0.00 0.00
    madelon 30 11197.73 0.00 0.00
    mfeat 10 0.36 0.05 0.05
    mfeat 20 0.20 0.05 0.05
    mfeat 30 0.15 0.05 0.05
    """,
)

TABLE_7 = _table(
    7,
    "tab: gurobi vs sfs-e",
    "CoP* ObjFun|CoP* Time|CoP* MipGap|Exact KS ObjFun|Exact KS Time|Exact KS MipGap",
    """
    arrhythmia 10 2098.55 3600 0.82 2003.98 3600 0.22
    arrhythmia 20 1652.83 3600 0.80 1632.32 3600 0.27
    arrhythmia 30 1366.94 3600 0.77 1362.75 3600 0.32
    colorectal 10 2.04 3600 0.98 2.04 407.2 0
    colorectal 20 0.65 3600 0.93 0.65 431.5 0
    colorectal 30 0.41 3600 0.88 0.41 407.6 0
    dlbcl 10 0.23 3600 0.99 0.23 451.3 0
    dlbcl 20 0.10 3600 0.98 0.10 542.7 0
    dlbcl 30 0.06 3600 0.97 0.06 746.2 0
    lymphoma 10 0.69 3600 0.99 0.69 314.6 0
    lymphoma 20 0.22 3600 0.97 0.22 532.3 0
    lymphoma 30 0.13 3600 0.95 0.13 823.4 0
    madelon 10 16615.43 3600 0.33 16499.38 3600 0.17
    madelon 20 16236.86 3600 0.31 16142.54 3600 0.18
    madelon 30 15917.51 3600 0.30 15765.83 3600 0.21
    mfeat 10 0.66 3600 0.93 0.64 397.5 0
    mfeat 20 0.25 3600 0.80 0.24 573.5 0
    mfeat 30 0.17 3600 0.71 0.17 1045.5 0
    """,
)

TABLE_8 = _table(
    8,
    "tab:E-NET1",
    "FS-SVM ACC Train|FS-SVM ACC Test|FS-SVM Feat. sel.|"
    "EN-SVM alpha|EN-SVM ACC Train|EN-SVM ACC Test|EN-SVM Feat. sel.",
    """
    wdbc 98.4 93.7 5 2^9 96.2 93.0 5
    wpbc 84.8 77.6 5 2^5 80.7 79.6 16
    wbc 97.1 96.5 5 2^10 95.5 95.3 6
    cleveland 85.1 78.7 5 2^8 78.8 70.7 8
    diabetes 77.6 76.6 5 2^9 76.9 76.6 4
    german 75.3 73.2 5 2^8 74.4 71.6 12
    ionosphere 89.0 89.8 5 2^8 88.2 89.8 7
    parkinsons 89.0 85.7 5 2^7 86.3 83.7 5
    wholesale 92.1 90.0 5 2^7 91.5 89.1 5
    """,
    has_budget=False,
)

TABLE_9 = _table(
    9,
    "tab:E-NET2",
    "FS-SVM ACC Train|FS-SVM ACC Test|FS-SVM Feat. sel.|"
    "EN-SVM alpha|EN-SVM ACC Train|EN-SVM ACC Test|EN-SVM Feat. sel.",
    """
    arrhythmia 80.8 75.2 10 2^9 72.6 74.3 10
    colorectal 100.0 75.0 10 2^7 86.9 75.0 11
    dlbcl 100.0 95.0 10 2^7 98.2 100 27
    lymphoma 100.0 95.8 10 2^8 93.6 83.3 14
    madelon 62.6 63.1 10 2^9 65.4 61.2 84
    mfeat 100 100 10 2^10 99.8 99.8 17
    """,
    has_budget=False,
)

#: All published tables by number.
PUBLISHED = {
    table.number: table
    for table in (TABLE_3, TABLE_4, TABLE_5, TABLE_6, TABLE_7, TABLE_8, TABLE_9)
}
