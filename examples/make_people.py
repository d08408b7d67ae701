#!/usr/bin/env python3
"""Makes a table of people that nobody is: make_people.py ROWS > people.csv

Age, sex, region, education and income, correlated as one would expect; the same rows every time."""
import random
import sys

EDUCATION = ["primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
REGIONS = {"north": 0.20, "east": 0.31, "south": 0.27, "west": 0.22}


def person(draw):
    age = min(int(draw.triangular(0, 80, 35)) + int(draw.expovariate(1 / 6)), 108)
    sex = "female" if draw.random() < 0.49 + 0.0008 * age else "male"
    region = draw.choices(list(REGIONS), list(REGIONS.values()))[0]
    if age < 16:
        education = "primary" if age > 6 else ""
    else:
        level = draw.gauss(1.9 - max(0, age - 45) / 45 + (region == "east") * 0.4, 1.1)
        education = EDUCATION[max(0, min(5, round(level)))] if draw.random() > 0.02 else ""
    if age < 16:
        income = 0.0
    else:
        level = EDUCATION.index(education) if education else 1
        income = draw.lognormvariate(9.6 + 0.22 * level + 0.25 * (25 < age < 66) - 0.1 * (sex == "female"), 0.55)
    return f"{age},{sex},{region},{education},{income:.2f}"


draw = random.Random(20260101)
print("age,sex,region,education,income")
for _ in range(int(sys.argv[1])):
    print(person(draw))
