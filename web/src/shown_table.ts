// A table as it is looked at: which answers of which attributes, and their numbers.

import type { Answers, Attribute, Core, Estimate, EstimateColumns, Quantity } from "./core";
import { isUnreliable } from "./format";
import type { Facts } from "./facts";

export type ViewName = "cells" | "prefixes" | "planned";

// With the numbers of the quantity that is looked at.
export interface Row extends Estimate {
  labels: string[];
  places: number[]; // of each label along its axis
  unreliable: boolean;
  others: Estimate[]; // of the table's other quantities
}

// A mean of too few rows has no number.
export const isMissing = (answer: Estimate): boolean => Number.isNaN(answer.estimate);

export interface Axis {
  attribute: number;
  name: string;
  labels: string[];
  isOrdered: boolean; // its cells follow one another: numbers and dates
  isRunning: boolean; // its answers are running totals
}

// A row's numbers of one of the table's quantities.
export function estimateOf(table: ShownTable, row: Row, quantity: Quantity): Estimate {
  const place = table.quantities.indexOf(quantity);
  return row.others[place - 1] ?? row;
}

// The number whose mean a table has, and its range.
export interface MeanOfTable {
  name: string;
  low: number;
  high: number;
}

export interface ShownTable {
  names: string[]; // of the axes
  axes: Axis[];
  mean: MeanOfTable | null;
  quantities: Quantity[]; // the first is looked at
  rows: Row[];
  numUnreliable: number; // those without a number not included
  numMissing: number;
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

// What is looked at, and what else the table has.
const kQuantities: Quantity[] = ["mean", "count", "sum"];
export function quantitiesOf(attributes: Attribute[], chosen: string): Quantity[] {
  if (!attributes.some(({ kind }) => kind === "mean")) return ["count"];
  const first = kQuantities.find((quantity) => quantity === chosen) ?? "mean";
  return [first, ...kQuantities.filter((quantity) => quantity !== first)];
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
  quantity: string,
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
  const quantities = quantitiesOf(attributes, quantity);
  const columns = quantities.map((one) =>
    one === "count" || numbers.moments === null ? numbers.count : numbers.moments[one],
  );
  const estimateAt = (of: EstimateColumns | undefined, at: number): Estimate => ({
    estimate: of?.estimate[at] ?? NaN,
    std_dev: of?.std_dev[at] ?? NaN,
    ci_lower: of?.ci_lower[at] ?? NaN,
    ci_upper: of?.ci_upper[at] ?? NaN,
  });
  const otherColumns = columns.slice(1);
  const noOthers: Estimate[] = [];
  const isMean = (axis: number): boolean => attributes[axis]?.kind === "mean";
  const rows: Row[] = [];
  const visit = (axis: number, at: number, places: number[]): void => {
    if (axis === set.length) {
      const shown = estimateAt(columns[0], at);
      rows.push({
        labels: places.map((place, k) => axes[k]?.labels[place] ?? ""),
        places,
        ...shown,
        unreliable: isUnreliable(shown.estimate, shown.std_dev),
        others: otherColumns.length === 0 ? noOthers : otherColumns.map((of) => estimateAt(of, at)),
      });
      return;
    }
    if (isMean(axis)) {
      visit(axis + 1, at, places);
      return;
    }
    const size = numbers.labels[axis]?.length ?? 0;
    (kept[axis] ?? []).forEach((place, k) => visit(axis + 1, at * size + place, [...places, k]));
  };
  const axes = attributes
    .map((attribute, k) => ({
      attribute: set[k] ?? 0,
      name: attribute.name,
      labels: (kept[k] ?? []).map((place) => numbers.labels[k]?.[place] ?? ""),
      isOrdered: !["values", "size"].includes(facts.attributes[set[k] ?? 0]?.encoding ?? "size"),
      isRunning: answers[k] === "prefixes",
    }))
    .filter((_, k) => !isMean(k));
  visit(0, 0, []);
  const asked = facts.attributes[set.find((_, k) => isMean(k)) ?? -1];
  const allNames = attributes.map((attribute) => attribute.name);
  const fileName = allNames.length === 0 ? "total" : allNames.join("_x_");
  return {
    names: axes.map((axis) => axis.name),
    axes,
    mean:
      asked === undefined
        ? null
        : { name: asked.name, low: Number(asked.low), high: Number(asked.high) },
    quantities,
    rows,
    numUnreliable: rows.filter((row) => row.unreliable && !isMissing(row)).length,
    numMissing: rows.filter(isMissing).length,
    fileName: fileName.replace(/[^\p{L}\p{N}_.-]/gu, "_").slice(0, 100),
  };
}
