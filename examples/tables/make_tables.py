"""Writes the tables of this folder; needs NumPy and openpyxl."""

import csv
from pathlib import Path

import numpy as np
from openpyxl import Workbook

HERE = Path(__file__).parent
rng = np.random.default_rng(20260)


def write(name, columns, **options):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", **options)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def with_gaps(values, gaps):
    return np.where(gaps, "", np.asarray(values, dtype=object))


def loans(n=400):
    """Who gives no income, or no employer, defaults more often."""
    income, debt = rng.normal(42, 11, n).round(1), rng.gamma(3, 4, n).round(2)
    no_income, no_job = rng.random(n) < 0.15, rng.random(n) < 0.1
    job = rng.choice(["office", "sales", "trade", "own firm"], n)
    logit = -2.6 + 0.08 * debt - 0.02 * (income - 42) + 3.2 * no_income + 1.5 * no_job
    late = rng.random(n) < 1 / (1 + np.exp(-logit))
    years = rng.integers(0, 30, n)
    return {
        "income": with_gaps(income, no_income),
        "debt": debt,
        "employer": with_gaps(job, no_job),
        # Missing in one row: too few to learn from.
        "years_at_address": with_gaps(years, np.arange(n) == 17),
        "outcome": np.where(late, "default", "paid"),
    }


def visits(n=150):
    age, pressure = rng.integers(25, 80, n), rng.normal(130, 15, n).round(1)
    ward = rng.choice(["007", "010", "012"], n)
    logit = 0.06 * (age - 55) + 0.05 * (pressure - 130) + 0.8 * (ward == "010")
    again = rng.random(n) < 1 / (1 + np.exp(-logit))
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    return {
        "visit": day.tolist(), "age": age.tolist(), "pressure": pressure.tolist(),
        "ward": ward.tolist(), "smoker": (rng.random(n) < 0.3).tolist(),
        "came_again": np.where(again, "yes", "no").tolist(),
    }  # fmt: skip


def workbook(name, columns):
    book = Workbook()
    book.active.title = "notes"
    book.active.append(["what", "when"])
    book.active.append(["generated", "2024"])
    sheet = book.create_sheet("visits")
    sheet.append(["Visits of 2024"])
    sheet.append([])
    sheet.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        sheet.append(row)
    book.save(HERE / name)


def german(n=120):
    area, price = rng.normal(80, 20, n).round(1), rng.normal(2500, 600, n).round(2)
    sold = rng.random(n) < 1 / (1 + np.exp(0.002 * (price - 2500) - 0.05 * (area - 80)))

    def commas(values):
        return [f"{one:,}".translate(str.maketrans(",.", ".,")) for one in values]

    return {
        "Fläche": commas(area.tolist()), "Preis": commas(price.tolist()),
        "Ort": rng.choice(["Köln", "Aachen", "Bonn"], n),
        "verkauft": np.where(sold, "ja", "nein"),
    }  # fmt: skip


def genes(n=40, p=300):
    """Genes in rows, samples in columns; the labels are in a file of their own."""
    X = rng.gamma(2, 2, (p, n))
    kind = np.arange(n) % 2
    X[[12, 77, 200]] += 3 * kind
    names = [f"S{k + 1:02}" for k in range(n)]
    table = {"gene": [f"G{j:03}" for j in range(p)]}
    table |= {name: X[:, k].round(3) for k, name in enumerate(names)}
    # Two samples have no label, and one label has no sample.
    order = rng.permutation(n)[2:]
    labels = {
        "sample": [*(names[k] for k in order), "S99"],
        "type": [*np.array(["ALL", "AML"])[kind[order]], "AML"],
    }
    return table, labels


def shops(n=240):
    """A few large cities, and many small ones; some rows have no label yet."""
    small = [f"Village {k}" for k in range(1, 13)]
    city = rng.choice(["Lyon", "Turin", "Graz"], n).astype(object)
    rare = rng.permutation(n) < 2 * len(small)
    city[rare] = rng.permutation(small * 2)
    basket = rng.gamma(4, 8, n).round(2)
    logit = 0.04 * (basket - 32) + 1.6 * rare - 0.7 * (city == "Graz")
    back = rng.random(n) < 1 / (1 + np.exp(-logit))
    state = np.where(back, "returned", "lost")
    return {"city": city, "basket": basket, "customer": state}


def loans_coded(n=300):
    """Another program has made 0/1 columns of two categorical variables."""
    purposes, shares = ["car", "tv", "repairs", "training"], [0.4, 0.3, 0.2, 0.1]
    purpose = rng.choice(purposes, n, p=shares)
    housing = rng.choice(["own", "rent", "free"], n, p=[0.6, 0.3, 0.1])
    months, amount = rng.integers(6, 60, n), rng.gamma(3, 900, n).round()
    logit = 0.06 * (months - 30) - 1.2 * (purpose == "tv")
    logit += 1.5 * (purpose == "training")
    late = rng.random(n) < 1 / (1 + np.exp(-logit))
    coded = {
        f"{name}_{one}": (values == one).astype(int)
        for name, values in (("purpose", purpose), ("housing", housing))
        for one in np.unique(values)
    }
    amounts = {"months": months, "amount": amount.astype(int)}
    return amounts | coded | {"outcome": np.where(late, "default", "paid")}


def payments(n=600):
    """One payment in twenty-five is a fraud."""
    fraud = rng.permutation(n) < n // 25
    return {
        "amount": (rng.gamma(2, 30, n) + 60 * fraud).round(2),
        "hour": np.where(fraud, rng.integers(0, 8, n), rng.integers(6, 24, n)),
        "tries": 1 + rng.poisson(0.2 + 0.8 * fraud),
        "country": rng.choice(["FR", "IT", "AT", "DE"], n),
        "fraud": np.where(fraud, "yes", "no"),
    }


def members(n=250):
    """As a database exports them: with numbers, days and words of no use to a model."""
    visits, age = rng.poisson(6, n), rng.integers(18, 75, n)
    first, second = (["Ada", "Bo", "Cy", "Di", "Ed"], ["Frei", "Gans", "Horn", "Igel"])
    words = ["asked for a towel", "wants a later course", "paid in cash", "was late"]
    stays = rng.random(n) < 1 / (1 + np.exp(-0.5 * (visits - 6) - 0.03 * (age - 46)))
    since = np.datetime64("2019-01-01") + rng.integers(0, 1500, n)
    return {
        "member no": 10_000 + 7 * rng.permutation(n),
        "e-mail": [f"{rng.choice(first)}.{rng.choice(second)}{k}@example.org".lower()
                   for k in range(n)],
        "since": since, "age": age, "visits": visits,
        "course": rng.choice(["yoga", "weights", "swimming"], n),
        "note": [f"{rng.choice(words)}, {rng.choice(words)} {rng.integers(2, 9)} times"
                 for _ in range(n)],
        "club": np.full(n, "North"),
        "member": np.where(stays, "stays", "leaves"),
    }  # fmt: skip


def main():
    write("loans_with_gaps.csv", loans())
    workbook("visits.xlsx", visits())
    write("german.csv", german(), delimiter=";")
    table, labels = genes()
    write("genes.csv", table)
    write("samples.csv", labels)
    cities = shops()
    write("rare_cities.csv", cities)
    cities["customer"] = with_gaps(cities["customer"], rng.random(240) < 0.05)
    write("without_labels.csv", cities)
    write("loans_coded.csv", loans_coded())
    write("payments.csv", payments())
    write("members.csv", members())


if __name__ == "__main__":
    main()
