// What all pictures of tables share: labels, panels and colours.

import * as Plot from "@observablehq/plot";
import type { Numbers } from "./format";
import type { Axis } from "./shown_table";

export const kMaxLabel = 22;
export const numLetters = (text: string): number => Array.from(text).length;
export const short = (label: string): string => {
  const letters = Array.from(label);
  return letters.length <= kMaxLabel ? label : `${letters.slice(0, kMaxLabel - 1).join("")}…`;
};

// Every label, or some of them where there are many.
export function ticksOf(axis: Axis, most: number): number[] {
  const step = Math.max(1, Math.ceil(axis.labels.length / most));
  return axis.labels.map((_, k) => k).filter((k) => k % step === 0);
}

export const marginFor = (labels: string[]): number =>
  12 + 6.4 * Math.max(3, ...labels.map((label) => numLetters(short(label))));

export interface Look {
  width: number;
  isDark: boolean;
  numbers: Numbers;
  label: string; // for screen readers
  estimate: string; // the name of the axis of numbers
  noMean: string; // in place of a mean of too few rows
}

export const kBar = "var(--mark)";
export const kBand = "var(--band)";
export const kInk = "var(--ink)";

// Panels are laid out in rows of as many as fit.
export function panelGrid(
  look: Look,
  count: number,
  least: number,
): { columns: number; lines: number } {
  const columns = Math.max(1, Math.min(count, Math.floor(look.width / least)));
  return { columns, lines: Math.ceil(count / columns) };
}

export function panelTitles(axis: Axis, columns: number): Plot.Markish {
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
