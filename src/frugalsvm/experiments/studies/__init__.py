"""The experiments by name, in the order of the paper."""

from __future__ import annotations

from ..study import Study
from .accuracy import FIGURE_3, FIGURE_4
from .data_sets import TABLE_1, TABLE_2
from .designs import DESIGNS
from .elastic_net import TABLE_8, TABLE_9
from .exact import TABLE_7
from .heuristics import TABLE_4
from .large_models import TABLE_3
from .peers import PEERS, STABILITY
from .proof import PROOF
from .root_bounds import TABLE_6
from .small_times import FIGURE_1
from .warm_start import FIGURE_2, TABLE_5

_ALL = (
    TABLE_1, TABLE_2, FIGURE_1, TABLE_3, TABLE_4, TABLE_5, FIGURE_2, TABLE_6, TABLE_7,
    FIGURE_3, FIGURE_4, TABLE_8, TABLE_9, PEERS, STABILITY, PROOF, DESIGNS,
)  # fmt: skip

#: Minutes that the quick grid took one process that had half of a core; cells that an
#: earlier experiment has are not counted.
QUICK_MINUTES = {
    "figure1": 4, "table3": 2, "table4": 11, "table5": 1, "table6": 1, "table7": 2,
    "figure3": 6, "figure4": 3, "table8": 2, "table9": 2, "peers": 2, "proof": 4,
    "designs": 1,
}  # fmt: skip

#: All experiments by name.
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}
