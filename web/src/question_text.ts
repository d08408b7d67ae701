// Questions in the language that `residua query` reads too.

import type { Attribute, Quantity } from "./core";
import type { AttributeFacts } from "./facts";

// What is asked of one attribute: consecutive cells, or some of its cells and groups.
export interface Condition {
  attribute: number;
  from: number;
  to: number;
  cells: number[];
  groups: number[];
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const word = (text: string): string =>
  /^[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u.test(text) && text !== "null" && text !== "all"
    ? text
    : quoted(text);

export const isOrdered = (facts: AttributeFacts): boolean =>
  ["integers", "cuts", "dates"].includes(facts.encoding);

const hasEnds = (facts: AttributeFacts): boolean => ["integers", "dates"].includes(facts.encoding);

function cellText(attribute: Attribute, facts: AttributeFacts, cell: number): string {
  if (facts.nullCell && cell === facts.values) return "null";
  const label = attribute.cells[cell] ?? "";
  return hasEnds(facts) ? label : word(label);
}

// Nothing if no value was chosen yet.
export function conditionText(
  condition: Condition,
  attribute: Attribute,
  facts: AttributeFacts,
): string {
  const cell = (k: number): string => cellText(attribute, facts, k);
  let values: string[];
  if (isOrdered(facts)) {
    const { from, to } = condition;
    if (hasEnds(facts)) {
      values = [from === to ? cell(from) : `${cell(from)}..${cell(to)}`];
    } else {
      values = Array.from({ length: to - from + 1 }, (_, k) => cell(from + k));
    }
    if (condition.cells.includes(facts.values)) values.push("null");
  } else {
    values = [
      ...condition.groups.map((k) => word(attribute.groups[k]?.name ?? "")),
      ...condition.cells.map(cell),
    ];
  }
  return values.length === 0 ? "" : `${word(attribute.name)}=${values.join("|")}`;
}

// sum(NAME) or mean(NAME), between spaces.
const kMoment = /(^|\s)(mean|sum)\(("(?:[^"]|"")*"|[^")]*)\)(?=\s|$)/;

export interface AskedQuantity {
  is: Quantity;
  name: string; // of the attribute, unless rows are counted
}

// What a question asks for, without looking at the rest of it.
export function quantityIn(question: string): AskedQuantity {
  const found = kMoment.exec(question);
  if (found === null) return { is: "count", name: "" };
  const name = found[3] ?? "";
  return {
    is: found[2] === "mean" ? "mean" : "sum",
    name: name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name,
  };
}

// The same conditions for another quantity.
export function withQuantity(question: string, { is, name }: AskedQuantity): string {
  const conditions = question.replace(kMoment, " ").trim();
  return is === "count" ? conditions : `${is}(${word(name)}) ${conditions}`.trim();
}
