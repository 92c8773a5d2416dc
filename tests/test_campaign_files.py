"""The campaign's parts about tables and model files notice what is wrong."""

import numpy as np
import pytest

from frugalsvm import PortableModel
from frugalsvm.tables import Numbers, read_table
from tests.campaign import models, tables
from tests.campaign.tally import Tally, Unit


@pytest.fixture
def tally():
    return Tally()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_misread_number_is_noticed(rng, tally, tmp_path):
    def misread(path, **options):
        table = read_table(path, **options)
        for column in table.columns.values():
            if isinstance(column, Numbers):
                column.values[0] += 1.0
        return table

    tables.numbers(rng, tmp_path, Unit("tables", 0, 0, 0), tally, read=misread)
    assert "misread" in tally.violations[0][1]


def test_exports_that_differ_are_noticed(rng, tally, tmp_path):
    unit = Unit("tables", 0, 0, 3)
    tables.exported(rng, tmp_path, unit, tally, predict=lambda *_: "another")
    assert "exports differ" in tally.violations[0][1]


def test_an_accepted_damaged_model_is_noticed(rng, tally):
    class Wrong(PortableModel):
        def to_python(self):
            return "predict = str"

    unit = Unit("models", 0, 0, 0)
    models.files(rng, unit, tally, load=lambda text: Wrong((), 1.0, (0, 1), 0))
    assert any("exports differ" in text for _, text in tally.violations)
