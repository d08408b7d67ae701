#!/usr/bin/env python3
"""Makes a table of invented hospital visits: make_visits.py PATIENTS > visits.csv

As hospitals export them: one row per visit and several visits of some patients; admission with a time; ages that are
missing (NA); rare diagnoses beside frequent ones; the days of a stay written like 3.0, and NA while it lasts. The same
rows every time."""
import datetime
import random
import sys

# Wards, and how many visits they get.
WARDS = {"general surgery": 9, "bones": 8, "heart": 6, "lungs": 7, "stomach": 6, "nerves": 5, "infants": 4, "children": 5}
# Diagnoses: the ward and the mean age that they are most frequent at, and how frequent they are.
DIAGNOSES = {
    "fracture": ("bones", 45, 12),
    "appendicitis": ("general surgery", 25, 6),
    "heart failure": ("heart", 75, 9),
    "pneumonia": ("lungs", 65, 11),
    "asthma": ("lungs", 30, 6),
    "stroke": ("nerves", 72, 7),
    "gallstones": ("stomach", 55, 6),
    "bronchitis": ("children", 4, 6),
    "premature birth": ("infants", 0, 3),
    "hernia": ("general surgery", 50, 5),
}
RARE = ["gout", "snake bite", "malaria", "narcolepsy", "scurvy", "tetanus", "Lyme disease", "frostbite", "mumps", "botulism"]
# How many of 100 visits begin in each hour of the day.
HOURS = [2, 2, 1, 1, 1, 2, 3, 6, 9, 9, 8, 7, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 2, 2]


def visit(draw: random.Random, patient: str, age: int) -> str:
    frequent = [weight * (0.2 + 2.718 ** -(((age - mean) / 20) ** 2)) for _, mean, weight in DIAGNOSES.values()]
    diagnosis = draw.choices(list(DIAGNOSES), frequent)[0]
    ward = DIAGNOSES[diagnosis][0]
    if draw.random() < 0.1:
        ward = draw.choices(list(WARDS), list(WARDS.values()))[0]
    if draw.random() < 0.06:
        diagnosis = draw.choice(RARE)
    if draw.random() < 0.03:
        diagnosis = "NA"
    day = draw.randrange(366)
    while (datetime.date(2024, 1, 1) + datetime.timedelta(day)).weekday() > 4 and draw.random() < 0.5:
        day = draw.randrange(366)
    at = datetime.datetime(2024, 1, 1) + datetime.timedelta(day, minutes=draw.randrange(60))
    at = at.replace(hour=draw.choices(range(24), HOURS)[0])
    days = min(int(draw.lognormvariate(0.8 + age / 90, 0.8)), 120)
    stays = f"{days}.0" if day + days < 366 else "NA"
    shown = "NA" if draw.random() < 0.02 else str(age)
    return f"{patient},{at:%Y-%m-%d %H:%M},{shown},{ward},{diagnosis},{stays}"


draw = random.Random(20240101)
rows: list[str] = []
for number in range(int(sys.argv[1])):
    age = min(int(draw.triangular(0, 100, 60)) + int(draw.expovariate(1 / 4)), 106)
    for _ in range(1 + int(draw.expovariate(1 / 0.9))):
        rows.append(visit(draw, f"P{number:06}", age))
print("patient,admitted,age,ward,diagnosis,days")
draw.shuffle(rows)
print("\n".join(rows))
