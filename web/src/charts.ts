// The picture of a table: bars, curves with bands, heatmaps and small multiples.

import * as Plot from "@observablehq/plot";
import type { Axis, Row, ShownTable } from "./shown_table";
import type { Numbers } from "./format";

export type ChartKind = "bars" | "curve" | "heatmap" | "multiples" | "curves" | "none";

// More answers than this make no picture that anybody can read.
const kMaxMarks = 20_000;
// Ordered attributes with more cells than this are drawn as curves.
const kMaxBars = 40;
const kMaxPanels = 60;

export function chartKind(table: ShownTable): ChartKind {
  const [first, second, third] = table.axes;
  if (first === undefined || table.rows.length > kMaxMarks) return "none";
  const isCurve = (axis: Axis): boolean =>
    axis.isRunning || (axis.isOrdered && axis.labels.length > kMaxBars);
  if (second === undefined) {
    if (isCurve(first)) return "curve";
    return first.labels.length <= 300 ? "bars" : "none";
  }
  if (third === undefined) {
    const running = table.axes.filter((axis) => axis.isRunning);
    if (running.length > 0) return panelsOf(table) <= kMaxPanels ? "curves" : "heatmap";
    return "heatmap";
  }
  return third.labels.length <= kMaxPanels ? "multiples" : "none";
}

// For curves of two attributes: the axis along which they run, and the one with a curve for each.
function runningAxis(table: ShownTable): number {
  return table.axes[0]?.isRunning && !(table.axes[1]?.isRunning ?? false)
    ? 0
    : table.axes[1]?.isRunning && !(table.axes[0]?.isRunning ?? false)
      ? 1
      : (table.axes[0]?.labels.length ?? 0) >= (table.axes[1]?.labels.length ?? 0)
        ? 0
        : 1;
}

function panelsOf(table: ShownTable): number {
  return table.axes[1 - runningAxis(table)]?.labels.length ?? 0;
}

const kMaxLabel = 22;
const numLetters = (text: string): number => Array.from(text).length;
const short = (label: string): string => {
  const letters = Array.from(label);
  return letters.length <= kMaxLabel ? label : `${letters.slice(0, kMaxLabel - 1).join("")}…`;
};

// Every label, or some of them where there are many.
function ticksOf(axis: Axis, most: number): number[] {
  const step = Math.max(1, Math.ceil(axis.labels.length / most));
  return axis.labels.map((_, k) => k).filter((k) => k % step === 0);
}

const marginFor = (labels: string[]): number =>
  12 + 6.4 * Math.max(3, ...labels.map((label) => numLetters(short(label))));

interface Look {
  width: number;
  isDark: boolean;
  numbers: Numbers;
  label: string; // for screen readers
  estimate: string; // the name of the axis of numbers
}

const kBar = "var(--mark)";
const kBand = "var(--band)";
const kInk = "var(--ink)";

function colours(look: Look, rows: Row[]): Plot.ScaleOptions {
  const largest = Math.max(1e-9, ...rows.map((row) => row.estimate));
  return {
    type: "linear",
    domain: [0, largest],
    range: look.isDark ? ["#16212e", "#8ec5ff"] : ["#f1f5fa", "#0b4a8f"],
    clamp: true,
    legend: false,
  };
}

function bars(table: ShownTable, look: Look): Plot.PlotOptions {
  const axis = table.axes[0] as Axis;
  const y = (row: Row): number => row.places[0] ?? 0;
  const reliable = table.rows.filter((row) => !row.unreliable);
  const unreliable = table.rows.filter((row) => row.unreliable);
  return {
    height: 56 + 24 * axis.labels.length,
    marginLeft: marginFor(axis.labels),
    marginRight: 24,
    x: {
      label: look.estimate,
      grid: true,
      tickFormat: (v: number) => look.numbers.digits(v, 4),
    },
    y: {
      type: "band",
      domain: axis.labels.map((_, k) => k),
      label: null,
      tickFormat: (k: number) => short(axis.labels[k] ?? ""),
      padding: 0.3,
    },
    marks: [
      Plot.ruleX([0], { stroke: kInk, strokeOpacity: 0.5 }),
      Plot.barX(reliable, {
        x: "estimate",
        y,
        fill: kBar,
        className: "reliable",
      }),
      Plot.barX(unreliable, {
        x: "estimate",
        y,
        fill: kBar,
        fillOpacity: 0.3,
        stroke: kBar,
        strokeDasharray: "3 2",
        className: "unreliable",
      }),
      Plot.ruleY(table.rows, {
        x1: "ci_lower",
        x2: "ci_upper",
        y,
        stroke: kInk,
        strokeWidth: 1.5,
        marker: "tick",
        className: "intervals",
      }),
    ],
  };
}

function curve(table: ShownTable, look: Look): Plot.PlotOptions {
  const axis = table.axes[0] as Axis;
  const x = (row: Row): number => row.places[0] ?? 0;
  const most = Math.max(2, Math.floor(look.width / 64));
  return {
    height: Math.min(420, Math.max(260, look.width * 0.55)),
    marginLeft: 64,
    marginBottom: 44,
    x: {
      label: axis.name,
      ticks: ticksOf(axis, most),
      tickFormat: (k: number) => short(axis.labels[k] ?? ""),
    },
    y: {
      label: look.estimate,
      grid: true,
      tickFormat: (v: number) => look.numbers.digits(v, 4),
    },
    marks: [
      Plot.ruleY([0], { stroke: kInk, strokeOpacity: 0.5 }),
      Plot.areaY(table.rows, {
        x,
        y1: "ci_lower",
        y2: "ci_upper",
        fill: kBand,
        className: "band",
      }),
      Plot.lineY(table.rows, {
        x,
        y: "estimate",
        stroke: kBar,
        strokeWidth: 2,
        className: "line",
      }),
      Plot.dot(
        table.rows.filter((row) => row.unreliable),
        {
          x,
          y: "estimate",
          r: 3,
          stroke: kBar,
          fill: "var(--paper)",
          className: "unreliable",
        },
      ),
    ],
  };
}

// Panels are laid out in rows of as many as fit.
function panelGrid(look: Look, count: number, least: number): { columns: number; lines: number } {
  const columns = Math.max(1, Math.min(count, Math.floor(look.width / least)));
  return { columns, lines: Math.ceil(count / columns) };
}

function panelTitles(axis: Axis, columns: number): Plot.Markish {
  return Plot.text(
    axis.labels.map((_, k) => k),
    {
      fx: (k: number) => k % columns,
      fy: (k: number) => Math.floor(k / columns),
      text: (k: number) => short(axis.labels[k] ?? ""),
      frameAnchor: "top-left",
      dy: -15,
      fontWeight: "600",
      className: "panel-title",
    },
  );
}

function curves(table: ShownTable, look: Look): Plot.PlotOptions {
  const running = runningAxis(table);
  const along = table.axes[running] as Axis;
  const panels = table.axes[1 - running] as Axis;
  const { columns, lines } = panelGrid(look, panels.labels.length, 190);
  const panel = (row: Row): number => row.places[1 - running] ?? 0;
  const x = (row: Row): number => row.places[running] ?? 0;
  const facets = {
    fx: (row: Row) => panel(row) % columns,
    fy: (row: Row) => Math.floor(panel(row) / columns),
  };
  return {
    height: 60 + lines * 150,
    marginLeft: 60,
    marginBottom: 44,
    marginTop: 30,
    x: {
      label: along.name,
      ticks: ticksOf(along, Math.max(2, Math.floor(look.width / columns / 64))),
      tickFormat: (k: number) => short(along.labels[k] ?? ""),
    },
    y: {
      label: look.estimate,
      grid: true,
      ticks: 4,
      tickFormat: (v: number) => look.numbers.digits(v, 4),
    },
    fx: { axis: null, padding: 0.12 },
    fy: { axis: null, padding: 0.22 },
    marks: [
      Plot.ruleY([0], { stroke: kInk, strokeOpacity: 0.5 }),
      Plot.areaY(table.rows, {
        ...facets,
        x,
        y1: "ci_lower",
        y2: "ci_upper",
        z: panel,
        fill: kBand,
        className: "band",
      }),
      Plot.lineY(table.rows, {
        ...facets,
        x,
        y: "estimate",
        z: panel,
        stroke: kBar,
        strokeWidth: 1.8,
        className: "line",
      }),
      panelTitles(panels, columns),
    ],
  };
}

// Two attributes as a grid, the larger one downwards.
function heatmap(table: ShownTable, look: Look): Plot.PlotOptions {
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
  const scale = colours(look, table.rows);
  const largest = (scale.domain as number[])[1] ?? 1;
  const onDark = (row: Row): boolean => row.estimate / largest > 0.5 !== look.isDark;
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
      Plot.cell(table.rows, {
        ...facets,
        x,
        y,
        fill: "estimate",
        className: "cells",
      }),
      Plot.dot(
        table.rows.filter((row) => row.unreliable),
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
        ? Plot.text(table.rows, {
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

export function drawChart(table: ShownTable, look: Look): SVGSVGElement | null {
  const kind = chartKind(table);
  if (kind === "none") return null;
  const options = {
    bars,
    curve,
    curves,
    heatmap,
    multiples: heatmap,
  }[kind](table, look);
  // Colours of the scale may be constants too.
  const chart = Plot.plot({
    ...options,
    width: look.width,
    className: "plot",
    ariaLabel: look.label,
    style: { background: "none", overflow: "visible" },
  }) as SVGSVGElement;
  chart.setAttribute("role", "img");
  // The page's own style has what this would set: the policy allows no other.
  chart.querySelectorAll("style").forEach((style) => style.remove());
  chart.dataset["kind"] = kind;
  return chart;
}

// One or two answers with their intervals, for questions.
export function drawIntervals(
  answers: {
    label: string;
    estimate: number;
    ci_lower: number;
    ci_upper: number;
  }[],
  look: Look,
): SVGSVGElement {
  const places = answers.map((_, k) => k);
  const chart = Plot.plot({
    width: look.width,
    height: 40 + 34 * answers.length,
    marginLeft: marginFor(answers.map((answer) => answer.label)),
    marginRight: 30,
    className: "plot",
    ariaLabel: look.label,
    style: { background: "none", overflow: "visible" },
    x: {
      label: null,
      grid: true,
      nice: true,
      ticks: Math.max(3, Math.floor(look.width / 110)),
      tickFormat: (v: number) => look.numbers.digits(v, 6),
    },
    y: {
      type: "band",
      domain: places,
      label: null,
      tickFormat: (k: number) => short(answers[k]?.label ?? ""),
    },
    marks: [
      Plot.ruleY(places, {
        x1: (k: number) => answers[k]?.ci_lower,
        x2: (k: number) => answers[k]?.ci_upper,
        y: (k: number) => k,
        stroke: kInk,
        strokeWidth: 2,
        marker: "tick",
      }),
      Plot.dot(places, {
        x: (k: number) => answers[k]?.estimate,
        y: (k: number) => k,
        r: 5,
        fill: kBar,
      }),
    ],
  }) as SVGSVGElement;
  chart.setAttribute("role", "img");
  chart.querySelectorAll("style").forEach((style) => style.remove());
  return chart;
}
