// Changes of the workload: which tables are asked for, and how much each counts.

import { keyOf } from "./spec";
import type { PlanNumbers, SpecEdit, SpecFacts, WeightedTable } from "./spec";
import { tomlString, tomlTables } from "./toml";

const kTables = ["workload", "tables"];
const kRules = ["workload", "marginals"];

// Fewer attributes first, then in their order: as plans list tables.
const inOrder = (tables: WeightedTable[]): WeightedTable[] =>
  [...tables].sort((a, b) => {
    const [x, y] = [a.attributes, b.attributes];
    if (x.length !== y.length) return x.length - y.length;
    const k = x.findIndex((i, place) => i !== y[place]);
    return k < 0 ? 0 : (x[k] ?? 0) - (y[k] ?? 0);
  });

const asEdit = (spec: SpecFacts, tables: WeightedTable[]): SpecEdit => ({
  path: kTables,
  value: tables.length === 0 ? null : tomlTables(inOrder(tables), spec.attributes),
});

export function weightsOf(spec: SpecFacts): Map<string, number> {
  return new Map(spec.tables.map((table) => [keyOf(table.attributes), table.weight]));
}

// Every table of the plan by name, with its weight, in place of the rules.
function listedTables(spec: SpecFacts, plan: PlanNumbers): WeightedTable[] {
  const weights = weightsOf(spec);
  return (plan.tables ?? []).map(({ set }) => ({
    attributes: set,
    weight: weights.get(keyOf(set)) ?? 1,
  }));
}

export function switchOn(spec: SpecFacts, set: number[]): SpecEdit[] {
  return [asEdit(spec, [...spec.tables, { attributes: set, weight: 1 }])];
}

// Where a rule asks for the table, the rule gives way to a list of all others.
export function switchOff(spec: SpecFacts, plan: PlanNumbers, set: number[]): SpecEdit[] {
  const others = listedTables(spec, plan).filter(
    ({ attributes }) => keyOf(attributes) !== keyOf(set),
  );
  return [asEdit(spec, others), { path: kRules, value: null }];
}

export function setWeight(spec: SpecFacts, set: number[], weight: number): SpecEdit[] {
  const others = spec.tables.filter(({ attributes }) => keyOf(attributes) !== keyOf(set));
  return [asEdit(spec, [...others, { attributes: set, weight }])];
}

export function setRule(rule: string): SpecEdit[] {
  return [{ path: kRules, value: rule.trim() === "" ? null : tomlString(rule.trim()) }];
}

// Only what the rule asks for.
export function setOnlyRule(rule: string): SpecEdit[] {
  return [...setRule(rule), { path: kTables, value: null }];
}

// Without the attribute, and without the tables that are about it.
export function removeAttribute(spec: SpecFacts, index: number): SpecEdit[] {
  const name = spec.attributes[index]?.name ?? "";
  const others = spec.tables.filter(({ attributes }) => !attributes.includes(index));
  const edits: SpecEdit[] = [{ path: ["attributes", name], value: null }];
  return spec.tables.length === 0 ? edits : [...edits, asEdit(spec, others)];
}
