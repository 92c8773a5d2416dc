"""Columns that identify rows or persons, and so are useless for new rows."""

from __future__ import annotations

import re

import numpy as np

# Number of rows from which distinct integers without a gap are no coincidence.
ID_ROWS = 20
# A name of identifiers is believed if more than this fraction of the values are
# distinct; that of persons or samples if they have more than this number of distinct
# values, however often these repeat.
DIFFERENT, MOST_VALUES = 0.5, 20
# Words for persons and samples that mean an identifier even alone, and others that do
# so with a word for an ID.
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
# Numbers of houses, seats and other things, not of rows: Hausnummer.
_THING_NUMBER = re.compile(
    "(?:haus|zimmer|wohnungs|etagen|stockwerks?|raum|platz|sitz|seiten|gleis|linien|"
    "spur|schuh|modell|typ|typen|ordnungs)(?:nummer|nr)"
)
# Words that mark a name as one of row numbers: anywhere in it, as its first, its last
# or its only word.
_ANYWHERE = {"id", "ids", "pid", "uid", "uuid", "guid", "rowid", "rownames", "unnamed"}
_FIRST = {"row", "record"}
_LAST = {"nr", "key", "row", "record"}
_ALONE = re.compile(rf"index|(?:{_SUBJECTS})s")
_JOINED = re.compile("(?:member|user|account|order)(?:no|number)|orderids?")
# German: Rechnungsnummer, RechnungsNr (but no PSNR).
_COMPOUND = re.compile(r"\w*(?:nummer|kennung)|\w{4,}nr")
# Last words that do so after something that is numbered (invoice number, row index);
# after other words they may be measurements (octane number, house price index).
_NUMBERS = {"no", "number", "index"}
_NUMBERED = re.compile(
    "(?:member|user|account|order|row|record|line|item|observation|study|"
    "student|employee|staff|invoice|bill|contract|policy|ticket|card|serial|batch|lot|"
    "part|product|article|vehicle|file|document|reference|registration|tracking|"
    "phone|telephone|mobile|fax|passport|licen[cs]e|security|tax|insurance|chart|visit|"
    "admission|encounter)s?"
)
# Boundaries of words: customer_no, row.names, PatientID.
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _BOUNDARY.split(name) if word]


def is_subject_name(name: str) -> bool:
    """Whether the name of a column is that of a patient, customer or sample ID.

    Such a column may have many rows for each of its values.

    Examples
    --------
    >>> [is_subject_name(name) for name in ("ID", "customer no", "PatientID", "Fallnr")]
    [True, True, True, True]
    >>> [is_subject_name(name) for name in ("patient_age", "sample_weight", "store_id")]
    [False, False, False]
    """
    parts = _words(name)
    if len(parts) == 1 and _SUBJECT_ALONE.fullmatch(parts[0]):
        return True
    # The last words count: a user ID count is no user ID.
    return any(_SUBJECT_ID.fullmatch("".join(parts[-n:])) for n in (1, 2) if parts)


def is_id_name(name: str) -> bool:
    """Whether the name of a column is that of an identifier of rows or persons.

    Examples
    --------
    >>> [is_id_name(name) for name in ("customer no", "PatientID", "acid", "NO2")]
    [True, True, False, False]
    >>> [is_id_name(name) for name in ("row number", "octane number", "Hausnummer")]
    [True, False, False]
    """
    parts = _words(name)
    if not parts or _THING_NUMBER.fullmatch("".join(parts[-2:])):
        return False
    if is_subject_name(name):
        return True
    if parts[0] in _FIRST or parts[-1] in _LAST or not _ANYWHERE.isdisjoint(parts):
        return True
    if len(parts) == 1 and _ALONE.fullmatch(parts[0]):
        return True
    if parts[-1] in _NUMBERS and len(parts) > 1 and _NUMBERED.fullmatch(parts[-2]):
        return True
    return any(_JOINED.fullmatch(part) or _COMPOUND.fullmatch(part) for part in parts)


def are_subjects(name: str, n_different: int) -> bool:
    """Whether the values of a column are persons or samples, judged by its name."""
    return n_different > MOST_VALUES and is_subject_name(name)


def has_groups(name: str, n_different: int, n_known: int) -> bool:
    """Whether rows with the same value belong to one person or sample."""
    if n_different >= n_known or not is_subject_name(name):
        return False
    # A few persons have at most 100 rows each on average.
    is_few = n_different > 5 and n_known <= 100 * n_different
    return n_different > MOST_VALUES or is_few


def numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows, in any order, or the persons in them.

    It does if its sorted integers rise in equal steps, or are nearly all of a range
    (some rows were left out), or if it has the name of an identifier and most of them
    are distinct; for a name of persons or samples, or one that ends with ID, more than
    a few distinct values are enough. A name that may also be that of a measurement
    counts only if the integers rise with the rows.
    """
    observed = column[~np.isnan(column)]
    if observed.size < ID_ROWS or (observed != np.round(observed)).any():
        return False
    different = np.unique(observed)
    if different.size == observed.size:
        steps = np.diff(different)
        # At least 90 % of the integers in their range.
        if np.ptp(steps) == 0 or steps.mean() * 0.9 <= 1:
            return True
    if are_subjects(name, different.size):
        return True
    last_word = _words(name)[-1:]
    if different.size > MOST_VALUES and last_word in (["id"], ["ids"]):
        return True
    if different.size > DIFFERENT * observed.size and is_id_name(name):
        return True
    return not _NUMBERS.isdisjoint(last_word) and rises_with_rows(observed)


def rises_with_rows(column: np.ndarray) -> bool:
    """Whether distinct integers are sorted, as row numbers are, possibly with gaps."""
    observed = column[~np.isnan(column)]
    if observed.size < ID_ROWS:
        return False
    steps = np.diff(observed)
    is_sorted = (steps > 0).all() or (steps < 0).all()
    return bool(is_sorted and (observed == np.round(observed)).all())


# --- Survey weights: the number of units of the population that a row stands for ------

# Names of weights of any kind, and first parts of names of survey weights.
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


def is_weight_name(name: str) -> bool:
    """Whether the name of a column is that of weights, perhaps of rows."""
    joined = "".join(_words(name))
    return bool(_ANY.fullmatch(joined) or _OF_ROWS.fullmatch(joined))


def are_survey_weights(name: str, values: np.ndarray) -> bool:
    """Whether a column looks like weights of rows by its name and values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kilograms = rng.normal(75.0, 15.0, 500).round(1)
    >>> persons = rng.lognormal(5.0, 1.5, 500)
    >>> [are_survey_weights("weight", values) for values in (kilograms, persons)]
    [False, True]
    >>> are_survey_weights("price", persons)
    False
    """
    if not is_weight_name(name):
        return False
    observed = values[np.isfinite(values)]
    if observed.size < 50 or observed.min() < 0 or not observed.any():
        return False
    if np.unique(observed).size < 6:
        return False
    mean = float(observed.mean())
    # Weights of bodies vary less, and have fewer digits than computed numbers.
    spread = float(observed.std()) / mean
    texts = (f"{value:.12e}".partition("e")[0] for value in observed[:1000].tolist())
    n_digits = [len(text.replace(".", "").rstrip("0")) for text in texts]
    are_computed = int(np.median(n_digits)) >= 5
    # Normalised weights have mean 1.
    if are_computed and abs(mean - 1.0) <= 1e-3:
        return True
    if _OF_ROWS.fullmatch("".join(_words(name))):
        return spread > 0.3
    if spread > 1.5:
        return True
    if are_computed and (mean >= 1000 or observed.max() >= 4 * mean):
        return spread > 0.45
    are_whole = bool((observed == np.round(observed)).all())
    return mean >= 1000 and spread > 0.5 and are_whole
