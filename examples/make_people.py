#!/usr/bin/env python3
"""Makes a table of invented people: make_people.py ROWS > people.csv

Age, sex, region, education, occupation, hours worked a week and income, correlated as one would expect; the same rows
every time."""
import random
import sys

EDUCATION = ["primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
# Districts of four regions, and how many live there.
DISTRICTS = {"N1": 8, "N2": 7, "N3": 5, "E1": 14, "E2": 9, "E3": 8, "S1": 11, "S2": 10, "S3": 6, "W1": 9, "W2": 8, "W3": 5}
# Occupations: the education they need, their hours and their pay.
OCCUPATIONS = {
    "agriculture": (0.5, 46, -0.2),
    "construction": (1.2, 42, 0.05),
    "manufacturing": (1.4, 40, 0.05),
    "retail": (1.1, 33, -0.2),
    "transport": (1.0, 43, 0.0),
    "office": (2.0, 38, 0.0),
    "health": (2.8, 36, 0.1),
    "teaching": (3.4, 37, 0.05),
    "technology": (3.3, 41, 0.35),
    "management": (3.2, 46, 0.5),
}


def person(draw: random.Random) -> str:
    age = min(int(draw.triangular(0, 80, 35)) + int(draw.expovariate(1 / 6)), 108)
    sex = "female" if draw.random() < 0.49 + 0.0008 * age else "male"
    district = draw.choices(list(DISTRICTS), list(DISTRICTS.values()))[0]
    if age < 16:
        return f"{age},{sex},{district},{'primary' if age > 6 else ''},none,0,0.00"
    mean = 1.9 - max(0, age - 45) / 45 + (district[0] == "E") * 0.4
    level = max(0, min(5, round(draw.gauss(mean, 1.1))))
    education = EDUCATION[level] if draw.random() > 0.02 else ""
    works = draw.random() < (0.82 if 20 <= age < 64 else 0.25 if age < 72 else 0.03)
    occupation, hours, pay = "none", 0, -0.6
    if works:
        weights = [2.718 ** (-((level - asked) ** 2)) for asked, _, _ in OCCUPATIONS.values()]
        occupation = draw.choices(list(OCCUPATIONS), weights)[0]
        _, usual, pay = OCCUPATIONS[occupation]
        hours = max(1, min(80, round(draw.gauss(usual - 6 * (sex == "female"), 7))))
    income = draw.lognormvariate(9.6 + 0.2 * level + pay + 0.012 * hours - 0.08 * (sex == "female"), 0.45)
    return f"{age},{sex},{district},{education},{occupation},{hours},{income:.2f}"


draw = random.Random(20260101)
print("age,sex,district,education,occupation,hours,income")
for _ in range(int(sys.argv[1])):
    print(person(draw))
