// The picture of a table: bars, dots, curves with bands, heatmaps and small multiples.

import * as Plot from "@observablehq/plot";
import { isMissing } from "./shown_table";
import type { Axis, Row, ShownTable } from "./shown_table";
import {
  kBand,
  kBar,
  kInk,
  marginFor,
  panelGrid,
  panelTitles,
  short,
  ticksOf,
} from "./chart_parts";
import type { Look } from "./chart_parts";
import { heatmap } from "./heatmap";

export type ChartKind = "bars" | "dots" | "curve" | "heatmap" | "multiples" | "curves" | "none";

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
    if (first.labels.length > 300) return "none";
    return table.quantities[0] === "mean" ? "dots" : "bars";
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

// One line per label, one below the other, and estimates to the right.
function lines(axis: Axis, look: Look): Plot.PlotOptions & { x: Plot.ScaleOptions } {
  return {
    height: 66 + 24 * axis.labels.length,
    marginBottom: 40,
    marginLeft: marginFor(axis.labels),
    marginRight: 24,
    x: {
      label: look.estimate,
      labelOffset: 38,
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
  };
}

function bars(table: ShownTable, look: Look): Plot.PlotOptions {
  const axis = table.axes[0] as Axis;
  const y = (row: Row): number => row.places[0] ?? 0;
  const reliable = table.rows.filter((row) => !row.unreliable);
  const unreliable = table.rows.filter((row) => row.unreliable);
  return {
    ...lines(axis, look),
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

// What the axis of means shows. A true mean is in the range of its number; intervals that reach
// beyond it are cut off, so that a few uncertain means do not hide the others.
function meanDomain(table: ShownTable): [number, number] | undefined {
  const { mean } = table;
  const known = table.rows.filter((row) => !isMissing(row));
  if (mean === null || table.quantities[0] !== "mean" || known.length === 0) return undefined;
  let [from, to] = [Infinity, -Infinity];
  for (const row of known) {
    from = Math.min(from, row.estimate, Math.max(row.ci_lower, mean.low));
    to = Math.max(to, row.estimate, Math.min(row.ci_upper, mean.high));
  }
  const margin = (to - from) / 50;
  return [from - margin, to + margin];
}

const domainOf = (table: ShownTable): Plot.ScaleOptions => {
  const domain = meanDomain(table);
  return domain === undefined ? {} : { domain };
};

// Counts and sums are drawn from 0 on.
const zeroRule = (table: ShownTable): Plot.Markish =>
  table.quantities[0] === "mean" ? null : Plot.ruleY([0], { stroke: kInk, strokeOpacity: 0.5 });

// Means with their intervals. There is no bar, because 0 means nothing to many numbers.
function dots(table: ShownTable, look: Look): Plot.PlotOptions {
  const axis = table.axes[0] as Axis;
  const y = (row: Row): number => row.places[0] ?? 0;
  const known = table.rows.filter((row) => !isMissing(row));
  const shared = lines(axis, look);
  return {
    ...shared,
    x: { ...shared.x, domain: meanDomain(table) ?? [0, 1] },
    marks: [
      Plot.ruleY(known, {
        x1: "ci_lower",
        x2: "ci_upper",
        y,
        stroke: kInk,
        strokeWidth: 1.5,
        marker: "tick",
        clip: "frame",
        className: "intervals",
      }),
      Plot.dot(
        known.filter((row) => !row.unreliable),
        { x: "estimate", y, r: 4.5, fill: kBar, stroke: kBar, className: "reliable" },
      ),
      Plot.dot(
        known.filter((row) => row.unreliable),
        {
          x: "estimate",
          y,
          r: 4.5,
          fill: "var(--paper)",
          stroke: kBar,
          strokeWidth: 1.5,
          className: "unreliable",
        },
      ),
      Plot.text(table.rows.filter(isMissing), {
        y,
        frameAnchor: "left",
        dx: 6,
        text: () => look.noMean,
        fontStyle: "italic",
        className: "missing",
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
      ...domainOf(table),
      tickFormat: (v: number) => look.numbers.digits(v, 4),
    },
    marks: [
      zeroRule(table),
      Plot.areaY(table.rows, {
        x,
        y1: "ci_lower",
        y2: "ci_upper",
        fill: kBand,
        clip: "frame",
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
        table.rows.filter((row) => row.unreliable && !isMissing(row)),
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
      ...domainOf(table),
      tickFormat: (v: number) => look.numbers.digits(v, 4),
    },
    fx: { axis: null, padding: 0.12 },
    fy: { axis: null, padding: 0.22 },
    marks: [
      zeroRule(table),
      Plot.areaY(table.rows, {
        ...facets,
        x,
        y1: "ci_lower",
        y2: "ci_upper",
        z: panel,
        fill: kBand,
        clip: "frame",
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

export function drawChart(table: ShownTable, look: Look): SVGSVGElement | null {
  const kind = chartKind(table);
  if (kind === "none") return null;
  const options = {
    bars,
    dots,
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
