// What the core says of a spec and of its plan: planner_core.cc writes it.

import type { PrivacyFacts } from "../facts";

export type QueryKind = "identity" | "prefix" | "range" | "hierarchy" | "custom" | "mean";

export interface SpecAttribute {
  name: string;
  size: number;
  queries: QueryKind;
  labels: string[]; // the first few
  last: string;
  readFromData: boolean;
  range?: number; // from the lowest to the highest, of a number whose mean is asked
}

export interface WeightedTable {
  attributes: number[];
  weight: number;
}

export interface SpecFacts {
  title: string;
  attributes: SpecAttribute[];
  rules: string[];
  tables: WeightedTable[];
  objective: string;
  weights: string;
  neighbours: "add-remove" | "replace-one";
  identifier: string;
  maxRows: number;
  rows: number | null;
  hasData: boolean;
  settings: [string[], string][]; // the values as they are written
}

export interface Guarantee {
  pcost: number;
  rho: number;
  mu: number | null;
  epsilon: number;
  delta: number;
}

export interface PlannedTable {
  set: number[];
  attributes: string[];
  cells: number;
  mean_variance: number;
  max_variance: number;
  alone_variance: number; // with noise of its own, table by table
  average: number; // of its answers, if the number of rows is known; 0 if not
}

export interface Warning {
  kind: "epsilon" | "delta" | "noise";
  value: number;
  limit: number;
  words: string; // in English
}

export interface PlanNumbers {
  privacy: Guarantee;
  loss: number;
  rmse: number;
  alone_rmse: number;
  max_variance: number;
  relative_gap: number;
  converged: boolean;
  marginals: number;
  cells: number;
  better_alone: { number: number };
  tables?: PlannedTable[]; // unless they are too many
  promise: PrivacyFacts;
  warnings: Warning[];
}

export interface Certificate {
  lower_bound: number | null;
  above_lower_bound: number | null;
}

export interface Cost extends Guarantee {
  std_dev: number;
}

export interface SpecEdit {
  path: string[];
  value: string | null;
}

export const kUnits = ["epsilon", "rho", "mu", "pcost", "max_std_dev", "target_loss"] as const;
export type Unit = (typeof kUnits)[number];

export function settingOf(spec: SpecFacts, ...path: string[]): string | undefined {
  return spec.settings.find(
    ([other]) => other.length === path.length && other.every((key, k) => key === path[k]),
  )?.[1];
}

export function unitOf(spec: SpecFacts): Unit | undefined {
  return kUnits.find((unit) => settingOf(spec, "privacy", unit) !== undefined);
}

export const keyOf = (set: number[]): string => set.join(",");
