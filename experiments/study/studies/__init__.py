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

#: Seconds of the quick grid with two processes on two cores, one experiment after the
#: other. The first one includes compilation; cells shared with earlier ones are not
#: counted.
QUICK_SECONDS = {
    "table1": 4, "table2": 1, "figure1": 136, "table3": 45, "table4": 250, "table5": 29,
    "figure2": 4, "table6": 39, "table7": 62, "figure3": 142, "figure4": 85,
    "table8": 29, "table9": 53, "peers": 40, "stability": 0, "proof": 102,
    "designs": 41,
}  # fmt: skip

#: All experiments by name.
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}
