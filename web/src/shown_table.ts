// A table as it is looked at: which answers of which attributes, and their numbers.

import type { Answers, Attribute, Core } from "./core";
import { isUnreliable } from "./format";
import type { Facts } from "./facts";

export type ViewName = "cells" | "prefixes" | "planned";

export interface Row {
  labels: string[];
  places: number[]; // of each label along its axis
  estimate: number;
  std_dev: number;
  ci_lower: number;
  ci_upper: number;
  unreliable: boolean;
}

export interface Axis {
  attribute: number;
  name: string;
  labels: string[];
  isOrdered: boolean; // its cells follow one another: numbers and dates
  isRunning: boolean; // its answers are running totals
}

export interface ShownTable {
  names: string[];
  axes: Axis[];
  rows: Row[];
  numUnreliable: number;
  fileName: string;
}

// The groups of a hierarchy by level: those of values are level 1, those of groups above. A group
// comes after its parts, of which there may be one only.
export function levelsOf(attribute: Attribute): number[] {
  const levels: number[] = [];
  attribute.groups.forEach((group, k) => {
    const cells = new Set(group.cells);
    let level = 1;
    for (let below = 0; below < k; ++below) {
      const other = attribute.groups[below]?.cells ?? [];
      if (other.every((cell) => cells.has(cell))) {
        level = Math.max(level, (levels[below] ?? 0) + 1);
      }
    }
    levels.push(level);
  });
  return levels;
}

export function maxLevel(attribute: Attribute): number {
  return Math.max(0, ...levelsOf(attribute));
}

// The views that a table has more than one of.
export function viewsOf(attributes: Attribute[]): ViewName[] {
  const views: ViewName[] = [];
  if (attributes.every((attribute) => attribute.tellsCellsApart)) views.push("cells");
  if (attributes.some(({ kind }) => kind === "prefix" || kind === "range")) views.push("prefixes");
  if (attributes.some(({ kind }) => kind === "custom")) views.push("planned");
  return views;
}

function answersFor(attribute: Attribute, view: ViewName): Answers {
  switch (attribute.kind) {
    case "prefix":
    case "range":
      return view === "prefixes" || !attribute.tellsCellsApart ? "prefixes" : "cells";
    case "custom":
      return view === "planned" || !attribute.tellsCellsApart ? "planned" : "cells";
    default:
      return "planned";
  }
}

export function showTable(
  core: Core,
  facts: Facts,
  set: number[],
  view: ViewName,
  levels: Record<string, number>,
  confidence: number,
): ShownTable {
  const attributes = set.map((i) => core.attributes[i] as Attribute);
  const answers = attributes.map((attribute) => answersFor(attribute, view));
  const numbers = core.table(set, answers, confidence);
  // Of a hierarchy, the answers of the level that is looked at.
  const kept = attributes.map((attribute, k) => {
    const all = (numbers.labels[k] ?? []).map((_, place) => place);
    if (attribute.kind !== "hierarchy") return all;
    const level = levels[attribute.name] ?? 0;
    const numCells = attribute.cells.length;
    if (level === 0) return all.slice(0, numCells);
    const groupLevels = levelsOf(attribute);
    return all.filter((place) => place >= numCells && groupLevels[place - numCells] === level);
  });
  const rows: Row[] = [];
  const visit = (axis: number, at: number, places: number[]): void => {
    if (axis === set.length) {
      const estimate = numbers.estimate[at] ?? NaN;
      const std_dev = numbers.std_dev[at] ?? NaN;
      rows.push({
        labels: places.map((place, k) => numbers.labels[k]?.[kept[k]?.[place] ?? 0] ?? ""),
        places,
        estimate,
        std_dev,
        ci_lower: numbers.ci_lower[at] ?? NaN,
        ci_upper: numbers.ci_upper[at] ?? NaN,
        unreliable: isUnreliable(estimate, std_dev),
      });
      return;
    }
    const size = numbers.labels[axis]?.length ?? 0;
    (kept[axis] ?? []).forEach((place, k) => visit(axis + 1, at * size + place, [...places, k]));
  };
  visit(0, 0, []);
  const axes = attributes.map((attribute, k) => ({
    attribute: set[k] ?? 0,
    name: attribute.name,
    labels: (kept[k] ?? []).map((place) => numbers.labels[k]?.[place] ?? ""),
    isOrdered: !["values", "size"].includes(facts.attributes[set[k] ?? 0]?.encoding ?? "size"),
    isRunning: answers[k] === "prefixes",
  }));
  const names = axes.map((axis) => axis.name);
  const fileName = names.length === 0 ? "total" : names.join("_x_");
  return {
    names,
    axes,
    rows,
    numUnreliable: rows.filter((row) => row.unreliable).length,
    fileName: fileName.replace(/[^\p{L}\p{N}_.-]/gu, "_").slice(0, 100),
  };
}
