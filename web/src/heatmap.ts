// Two attributes as a grid of colours, and three as several of them.

import * as Plot from "@observablehq/plot";
import {
  kMaxLabel,
  marginFor,
  numLetters,
  panelGrid,
  panelTitles,
  short,
  ticksOf,
} from "./chart_parts";
import type { Look } from "./chart_parts";
import { isMissing } from "./shown_table";
import type { Axis, Row, ShownTable } from "./shown_table";

// Of means, the half that is known best: the others may be anything.
function knownBest(rows: Row[]): Row[] {
  const widths = rows.map((row) => row.ci_upper - row.ci_lower).sort((a, b) => a - b);
  const median = widths[Math.floor(widths.length / 2)] ?? 0;
  return rows.filter((row) => row.ci_upper - row.ci_lower <= median);
}

// Counts, and sums that are all positive, begin at 0.
function colours(look: Look, table: ShownTable): Plot.ScaleOptions & { domain: [number, number] } {
  const [quantity] = table.quantities;
  const known = table.rows.filter((row) => !isMissing(row));
  const rows = quantity === "mean" ? knownBest(known) : known;
  let [smallest, largest] = [Infinity, -Infinity];
  for (const { estimate } of rows) {
    smallest = Math.min(smallest, estimate);
    largest = Math.max(largest, estimate);
  }
  const from =
    quantity === "mean" && rows.length > 0
      ? smallest
      : quantity === "sum"
        ? Math.min(0, smallest)
        : 0;
  return {
    type: "linear",
    domain: [from, Math.max(from + 1e-9, largest)],
    range: look.isDark ? ["#16212e", "#8ec5ff"] : ["#f1f5fa", "#0b4a8f"],
    clamp: true,
    legend: false,
  };
}

// The larger attribute goes downwards.
export function heatmap(table: ShownTable, look: Look): Plot.PlotOptions {
  const third = table.axes[2];
  const flips = (table.axes[1]?.labels.length ?? 0) > (table.axes[0]?.labels.length ?? 0);
  const down = flips ? 1 : 0;
  const across = 1 - down;
  const axisX = table.axes[across] as Axis;
  const axisY = table.axes[down] as Axis;
  const marginLeft = marginFor(axisY.labels) + 10;
  const { columns, lines } = panelGrid(
    look,
    third?.labels.length ?? 1,
    Math.max(150, marginLeft + 12 * axisX.labels.length) * (third === undefined ? 0.1 : 0.8),
  );
  const isSmall = third === undefined && axisX.labels.length <= 14 && axisY.labels.length <= 40;
  const wide = (look.width - marginLeft - 10) / columns / axisX.labels.length;
  const showsNumbers = isSmall && wide >= 46;
  const tall =
    third === undefined ? (axisY.labels.length > 40 ? 8 : 24) : axisY.labels.length > 20 ? 6 : 14;
  const panel = (row: Row): number => row.places[2] ?? 0;
  const facets =
    third === undefined
      ? {}
      : {
          fx: (row: Row) => panel(row) % columns,
          fy: (row: Row) => Math.floor(panel(row) / columns),
        };
  const x = (row: Row): number => row.places[across] ?? 0;
  const y = (row: Row): number => row.places[down] ?? 0;
  const scale = colours(look, table);
  const [from, to] = scale.domain;
  const known = table.rows.filter((row) => !isMissing(row));
  const onDark = (row: Row): boolean => (row.estimate - from) / (to - from) > 0.5 !== look.isDark;
  const xLabels = axisX.labels.map(short);
  const turns = wide < 7 * Math.max(...xLabels.map((label) => numLetters(label)));
  return {
    height:
      (turns ? 24 + 6 * Math.min(kMaxLabel, Math.max(...xLabels.map((l) => numLetters(l)))) : 44) +
      50 +
      lines * (tall * axisY.labels.length + (third === undefined ? 0 : 34)),
    marginLeft,
    marginTop: third === undefined ? 14 : 34,
    marginBottom: turns
      ? 30 + 6 * Math.min(kMaxLabel, Math.max(...xLabels.map((l) => numLetters(l))))
      : 44,
    x: {
      type: "band",
      domain: axisX.labels.map((_, k) => k),
      label: axisX.name,
      ticks: ticksOf(axisX, Math.max(3, Math.floor((look.width - marginLeft) / columns / 14))),
      tickFormat: (k: number) => xLabels[k] ?? "",
      tickRotate: turns ? -90 : 0,
      padding: axisX.labels.length > 40 ? 0 : 0.04,
    },
    y: {
      type: "band",
      domain: axisY.labels.map((_, k) => k),
      label: axisY.name,
      ticks: ticksOf(axisY, 40),
      tickFormat: (k: number) => short(axisY.labels[k] ?? ""),
      padding: axisY.labels.length > 40 ? 0 : 0.04,
    },
    fx: { axis: null, padding: 0.08 },
    fy: {
      axis: null,
      padding: third === undefined ? 0 : 34 / (tall * axisY.labels.length + 34),
    },
    color: scale,
    marks: [
      Plot.cell(known, {
        ...facets,
        x,
        y,
        fill: "estimate",
        className: "cells",
      }),
      Plot.text(table.rows.filter(isMissing), {
        ...facets,
        x,
        y,
        text: () => "–",
        className: "missing",
      }),
      Plot.dot(
        known.filter((row) => row.unreliable),
        {
          ...facets,
          x,
          y,
          symbol: "times",
          r: Math.max(1.5, Math.min(4, tall / 4, wide / 5)),
          dx: showsNumbers ? wide / 2 - 9 : 0,
          stroke: (row: Row) => (onDark(row) ? "#ffffff" : "#1b2733"),
          strokeOpacity: 0.75,
          className: "unreliable",
        },
      ),
      showsNumbers
        ? Plot.text(known, {
            x,
            y,
            text: (row: Row) => look.numbers.estimate(row.estimate, row.std_dev * 10),
            fill: (row: Row) => (onDark(row) ? "#ffffff" : "#10202f"),
            className: "cell-number",
          })
        : null,
      third === undefined ? null : panelTitles(third, columns),
    ],
  };
}
