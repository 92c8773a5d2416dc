"""Columns that identify rows or persons, and so are useless for new ones."""

from __future__ import annotations

import re

import numpy as np

# Number of rows from which distinct integers without a gap are no coincidence.
ID_ROWS = 20
# Fraction of distinct values beyond which a telling name is believed; and their number
# from which the name of a person or a sample is, however often they repeat.
DIFFERENT, MOST_VALUES = 0.5, 20
# Up to that number, values of such a name are taken for persons if they are more than a
# few, with not too many rows each on average.
FEW_VALUES, MOST_ROWS_EACH = 5, 100
# Part of the integers in their range that numbers of rows are at least.
DENSE = 0.9
# What rows may be about: these words say so even alone, the others with an ID.
_SUBJECTS = (
    "patient|subject|sample|case|customer|client|person|participant|respondent|proband|"
    "individual|donor|patienten|patientin|kunden?|probanden|klienten?|teilnehmer"
)
_MEMBERS = (
    "member|user|account|student|pupil|employee|household|hh|family|fam|child|mother|"
    "animal|mouse|rat|dog|horse|bird|player|driver|device|policy|contract|borrower|"
    "applicant|tenant|fall|proben|personen|pat|pt|cust|subj|usubj|emp|stud|resp|personal|mitarbeiter|"
    "versicherten|versicherungs|mitglieds|schüler|matrikel|tier|haushalts|konto|vertrags"
)
_IDS = "ids?|uid|uuid|guid|identifier|kennung"
_NUMBER = "nr|no|num|number|nummer"
_SUBJECT_ID = re.compile(
    rf"(?:{_SUBJECTS})s?(?:{_IDS}|{_NUMBER}|index|name|code|key)"
    rf"|(?:{_MEMBERS})s?(?:{_IDS}|nr|nummer)|(?:pat|pt|cust|subj|emp|stud|resp)(?:no|num)"
    rf"|id(?:{_SUBJECTS}|{_MEMBERS})"
)
_SUBJECT_ALONE = re.compile(
    rf"{_SUBJECTS}|{_IDS}|pid|nr|id(?:no|nr|num|code)|usubjid|mrn|ssn"
)
# Numbers of places and things, not of rows: Hausnummer.
_PLACE = re.compile(
    "(?:haus|zimmer|wohnungs|etagen|stockwerks?|raum|platz|sitz|seiten|gleis|linien|"
    "spur|schuh|modell|typ|typen|ordnungs)(?:nummer|nr)"
)
# Words of a name that say that it numbers rows: anywhere in it, as the first, the last
# or the only one.
_ANYWHERE = {"id", "ids", "pid", "uid", "uuid", "guid", "rowid", "rownames", "unnamed"}
_FIRST = {"row", "record"}
_LAST = {"nr", "key", "row", "record"}
_ALONE = re.compile(rf"index|(?:{_SUBJECTS})s")
_JOINED = re.compile("(?:member|user|account|order)(?:no|number)|orderids?")
# German: Rechnungsnummer, RechnungsNr (but no PSNR).
_COMPOUND = re.compile(r"\w*(?:nummer|kennung)|\w{4,}nr")
# Last words that say so after something that is numbered (invoice number, row index);
# after others they may be measured (octane number, house price index).
_NUMBERS = {"no", "number", "index"}
_NUMBERED = re.compile(
    "(?:member|user|account|order|row|record|line|item|observation|study|"
    "student|employee|staff|invoice|bill|contract|policy|ticket|card|serial|batch|lot|"
    "part|product|article|vehicle|file|document|reference|registration|tracking|"
    "phone|telephone|mobile|fax|passport|licen[cs]e|security|tax|insurance|chart|visit|"
    "admission|encounter)s?"
)
# Between words: customer_no, row.names, PatientID.
_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


def _words(name: str) -> list[str]:
    return [one.lower() for one in _BETWEEN.split(name) if one]


def is_subject_name(name: str) -> bool:
    """Whether the name of a column says which patient, customer or sample a row is of.

    Such a column may have many rows for each of its values.

    Examples
    --------
    >>> [is_subject_name(one) for one in ("ID", "customer no", "PatientID", "Fallnr")]
    [True, True, True, True]
    >>> [is_subject_name(one) for one in ("patient_age", "sample_weight", "store_id")]
    [False, False, False]
    """
    words = _words(name)
    if len(words) == 1 and _SUBJECT_ALONE.fullmatch(words[0]):
        return True
    # The last words count: a user ID count is no user ID.
    return any(_SUBJECT_ID.fullmatch("".join(words[-n:])) for n in (1, 2) if words)


def is_id_name(name: str) -> bool:
    """Whether the name of a column says that it identifies rows or persons.

    Examples
    --------
    >>> [is_id_name(one) for one in ("customer no", "PatientID", "acid", "NO2")]
    [True, True, False, False]
    >>> [is_id_name(one) for one in ("row number", "octane number", "Hausnummer")]
    [True, False, False]
    """
    words = _words(name)
    if not words or _PLACE.fullmatch("".join(words[-2:])):
        return False
    if is_subject_name(name):
        return True
    if words[0] in _FIRST or words[-1] in _LAST or not _ANYWHERE.isdisjoint(words):
        return True
    if len(words) == 1 and _ALONE.fullmatch(words[0]):
        return True
    if words[-1] in _NUMBERS and len(words) > 1 and _NUMBERED.fullmatch(words[-2]):
        return True
    return any(_JOINED.fullmatch(one) or _COMPOUND.fullmatch(one) for one in words)


def says_subjects(name: str, n_different: int) -> bool:
    """Whether a name is believed that says which person or sample a row is of."""
    return n_different > MOST_VALUES and is_subject_name(name)


def has_groups(name: str, n_different: int, n_known: int) -> bool:
    """Whether rows with the same value belong together: they are of one subject."""
    if n_different >= n_known or not is_subject_name(name):
        return False
    if n_different > MOST_VALUES:
        return True
    return n_different > FEW_VALUES and n_known <= MOST_ROWS_EACH * n_different


def _may_be_id_name(name: str) -> bool:
    """Whether the name ends like one of numbered rows, but may be a measurement's."""
    words = _words(name)
    return bool(words) and words[-1] in _NUMBERS


def numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows, in any order, or the persons in them.

    It does if its sorted integers rise in equal steps, or are nearly all of a range
    (some rows were left out), or if its name says so and most of them are distinct; if
    it names persons or samples, or ends with ID, only a few values are no numbers of
    them. A name that may as well be a measurement's says so only if they rise with the
    rows.
    """
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS or (known != np.round(known)).any():
        return False
    different = np.unique(known)
    if different.size == known.size and _are_counted(different):
        return True
    if says_subjects(name, different.size):
        return True
    if different.size > MOST_VALUES and _words(name)[-1:] in (["id"], ["ids"]):
        return True
    if different.size > DIFFERENT * known.size and is_id_name(name):
        return True
    return _may_be_id_name(name) and rises_with_rows(known)


def _are_counted(different: np.ndarray) -> bool:
    steps = np.diff(different)
    return bool(np.ptp(steps) == 0 or steps.mean() * DENSE <= 1)


def rises_with_rows(column: np.ndarray) -> bool:
    """Whether distinct integers are sorted, as row numbers are, possibly with gaps."""
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS:
        return False
    steps = np.diff(known)
    in_order = (steps > 0).all() or (steps < 0).all()
    return bool(in_order and (known == np.round(known)).all())


# --- Columns of survey weights: for how many units of the population a row stands -----

# Names of weights of any kind, and those of weights that rows have in a survey.
_WEIGHT = "weights?|wts?|wgts?|wghts?|gewicht"
_ROWS = (
    "final|fnl|fin|sample|samp|sampling|survey|svy|design|person|per|population|pop|"
    "household|hh|case|obs|observation|asec|earn|llcp|expansion|calibration|calibrated|"
    "frequency|freq|post|stratification|poststratification|probability|prob|inverse|"
    "selection|nonresponse|analysis|analytic|interview|exam|adjusted|normali[sz]ed|"
    "statistical|personen|haushalts|stichproben|befragungs"
)
_ANY = re.compile(_WEIGHT)
_OF_ROWS = re.compile(
    rf"(?:{_ROWS})+s?(?:{_WEIGHT})\d*|(?:[adfip]|an|psp)(?:weight|wght)|pwgtp|ip(?:t|c)?w"
    r"|wt(?:finl|supp|ss(?:all|ps|nr)?|(?:mec|int|saf|sa)\w*yr)|gewichtung\w*"
    r"|\w*hochrechnung\w*|(?:expansion|weighting)factor"
)
_SEPARATORS = re.compile(r"[\W_]+")
# Distinct values and rows of weights.
LEAST_VALUES, LEAST_ROWS = 6, 50
# Standard deviations beyond which they vary widely, in units of the mean: of weights
# that are named so, of computed ones, of large whole ones, and of any. Weights of
# bodies vary less, and have fewer digits than computed numbers.
NAMED, COMPUTED, WHOLE, WIDE = 0.3, 0.45, 0.5, 1.5
# Digits of computed numbers, a large mean, and a large multiple of the mean.
DIGITS, LARGE, MANY = 5, 1000, 4
# Deviation of the mean of normalised weights from 1.
NORMALISED = 1e-3
# Number of values whose digits are counted.
N_LOOKED_AT = 1000


def is_weight_name(name: str) -> bool:
    """Whether the name of a column is that of weights, perhaps of rows."""
    joined = _joined(name)
    return bool(_ANY.fullmatch(joined) or _OF_ROWS.fullmatch(joined))


def are_survey_weights(name: str, values: np.ndarray) -> bool:
    """Whether a column looks like weights of rows by its name and values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kilograms = rng.normal(75.0, 15.0, 500).round(1)
    >>> persons = rng.lognormal(5.0, 1.5, 500)
    >>> [are_survey_weights("weight", one) for one in (kilograms, persons)]
    [False, True]
    >>> are_survey_weights("price", persons)
    False
    """
    if not is_weight_name(name):
        return False
    known = values[np.isfinite(values)]
    if known.size < LEAST_ROWS or known.min() < 0 or not known.any():
        return False
    if np.unique(known).size < LEAST_VALUES:
        return False
    mean = float(known.mean())
    spread = float(known.std()) / mean
    are_computed = _digits(known[:N_LOOKED_AT]) >= DIGITS
    if are_computed and abs(mean - 1.0) <= NORMALISED:
        return True
    if _OF_ROWS.fullmatch(_joined(name)):
        return spread > NAMED
    if spread > WIDE:
        return True
    if are_computed and (mean >= LARGE or known.max() >= MANY * mean):
        return spread > COMPUTED
    return mean >= LARGE and spread > WHOLE and bool((known == np.round(known)).all())


def _joined(name: str) -> str:
    return "".join(_SEPARATORS.split(name)).lower()


def _digits(values: np.ndarray) -> int:
    """Number of digits that at least half of the values are written with."""
    texts = (f"{one:.12e}".partition("e")[0] for one in values.tolist())
    return int(np.median([len(one.replace(".", "").rstrip("0")) for one in texts]))
