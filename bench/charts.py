#!/usr/bin/env python3
"""Draws the charts of docs/: charts.py [--stages TSV] [--fairness CSV] [--folder FOLDER]

`stages_bench --tsv` writes the figures of bench_STAGE.svg, one file per stage, and `residua-paper
--csv` those of fairness.svg. Text stays text in the SVG files, and the same figures give the same
bytes.
"""

import argparse
import csv
import itertools
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# DejaVu Sans comes with matplotlib, so that the layout is the same on every machine.
plt.rcParams.update(
    {
        "font.family": ["DejaVu Sans", "sans-serif"],
        "font.size": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "residua",
        "axes.edgecolor": "#444444",
        "axes.labelcolor": "#222222",
        "axes.grid": True,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "grid.color": "#dddddd",
        "grid.linewidth": 0.7,
        "legend.frameon": False,
        "xtick.color": "#444444",
        "ytick.color": "#444444",
    }
)

# Okabe and Ito's palette, which people with any common kind of colour vision can tell apart;
# the markers differ too.
BLUE, ORANGE, GREEN, BLACK, GREY = "#0072b2", "#d55e00", "#009e73", "#000000", "#888888"
WAYS = {"residua": (BLUE, "o", "-"), "limit": (GREY, "s", "--"), "naive": (ORANGE, "^", "-")}
ORDERS = [
    ("total", BLACK, "D"),
    ("1 attribute", ORANGE, "s"),
    ("2 attributes", BLUE, "o"),
    ("3 attributes", GREEN, "^"),
]
WEIGHTINGS = {
    "equal": "equal weights",
    "sqrt-cells": "weights: square root of cells",
    "cells": "weights: number of cells",
}
# Inches.
PANEL_WIDTH, PANEL_HEIGHT = 3.2, 3.6


def rows_of(path, delimiter):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def panels_for(count, share):
    size = (PANEL_WIDTH * count + 0.3, PANEL_HEIGHT + 0.35)
    figure = plt.figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, count, sharex=share, sharey=share, squeeze=False)
    return figure, panels[0]


def finish(figure, legend, title, path):
    """The legend goes above all panels. `title` is not drawn, but read out by screen readers."""
    handles, labels = legend
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Title": title})
    plt.close(figure)


def tick_text(value, _):
    """0.001 to 1000 as they are, others as powers of ten."""
    if 0.001 <= value < 10_000:
        return f"{value:g}"
    digit, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if digit == "1" else f"${digit}\\cdot{power}$"


def label_logarithmic(axis):
    """Every power of ten has a label, and 2 and 5 times one where there are few of them."""
    first, last = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1,) if last / first >= 100 else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(tick_text))
    axis.set_minor_formatter(NullFormatter())


def show_threads(panel, counts):
    """Linear axes: a time that halves looks half as high."""
    panel.set(xscale="linear", yscale="linear", xlim=(0, max(counts) + 1), xticks=counts)
    panel.set_ylim(bottom=0)


def draw_stage(stage, rows, path):
    by_title = itertools.groupby(rows, key=lambda row: (row["title"], row["grows_with"]))
    growths = [list(points) for _, points in by_title]
    figure, panels = panels_for(len(growths), share=False)
    drawn = {}
    for panel, points in zip(panels, growths, strict=True):
        for way, (colour, marker, line) in WAYS.items():
            timed = [point for point in points if point[way]]
            if not timed:
                continue
            x = [float(point["x"]) for point in timed]
            y = [float(point[way]) for point in timed]
            look = {"color": colour, "marker": marker, "linestyle": line, "markersize": 4}
            (drawn[way],) = panel.loglog(x, y, **look)
        if points[0]["grows_with"] == "threads":
            show_threads(panel, [int(point["x"]) for point in points])
        else:
            label_logarithmic(panel.xaxis)
            label_logarithmic(panel.yaxis)
        panel.set_title(f"{stage}: {points[0]['title']}")
        panel.set_xlabel(points[0]["grows_with"])
    panels[0].set_ylabel("seconds")
    ways = [way for way in WAYS if way in drawn]
    finish(figure, ([drawn[way] for way in ways], ways), f"How the time to {stage} grows", path)


def draw_fairness(rows, path):
    figure, panels = panels_for(len(WEIGHTINGS), share=True)
    for panel, (weighting, title) in zip(panels, WEIGHTINGS.items(), strict=True):
        for order, (name, colour, marker) in reversed(list(enumerate(ORDERS))):
            key = (weighting, str(order))
            points = [row for row in rows if (row["weighting"], row["num_attributes"]) == key]
            x = [float(row["num_cells"]) for row in points]
            y = [float(row["variance"]) for row in points]
            look = {"color": colour, "marker": marker, "linestyle": "", "markersize": 4}
            panel.loglog(x, y, alpha=0.6, label=name, **look)
        panel.set_title(title)
        panel.set_xlabel("cells of the table")
    panels[0].set_ylabel("variance of a cell")
    handles, labels = panels[0].get_legend_handles_labels()
    title = "Variance of a cell against the number of cells of its table, by weighting"
    finish(figure, (handles[::-1], labels[::-1]), title, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", metavar="TSV", help="what stages_bench --tsv wrote")
    parser.add_argument("--fairness", metavar="CSV", help="what residua-paper --csv wrote")
    parser.add_argument("--folder", default="docs", type=pathlib.Path, help="where the charts go")
    options = parser.parse_args()
    if options.stages:
        times = rows_of(options.stages, "\t")
        for stage, rows in itertools.groupby(times, key=lambda row: row["stage"]):
            draw_stage(stage, list(rows), options.folder / f"bench_{stage}.svg")
    if options.fairness:
        draw_fairness(rows_of(options.fairness, ","), options.folder / "fairness.svg")


if __name__ == "__main__":
    main()
