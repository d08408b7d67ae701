// What texts of every language are made with.

import type { Facts } from "../facts";
import type { FileProblem } from "../given_file";

// Text from outside as code on one line.
export const code = (text: string): string =>
  "`" + text.replace(/\p{Cc}/gu, " ").replaceAll("`", "'") + "`";

// A number that came as English text.
export const decimalComma = (text: string): string => text.replace(/(\d)\.(?=\d)/g, "$1,");

export const kMaxLabels = 8;

export function firstFew(labels: string[]): string {
  if (labels.length <= kMaxLabels) return labels.map(code).join(", ");
  const first = labels
    .slice(0, kMaxLabels - 2)
    .map(code)
    .join(", ");
  return `${first}, ..., ${code(labels[labels.length - 1] ?? "")}`;
}

export function listed(items: string[], last: string): string {
  return items.length === 1
    ? (items[0] ?? "")
    : `${items.slice(0, -1).join(", ")} ${last} ${items[items.length - 1]}`;
}

// Publisher (date): title.
export function citedSource(facts: Facts, title: string): string {
  const date = facts.date === "" ? "" : ` (${facts.date})`;
  return facts.publisher === "" ? `${title}${date}` : `${facts.publisher}${date}: ${title}`;
}

// Of an attribute: its cells, what was counted, and what became of values without a cell.
export interface AttributeWords {
  labels: string[];
  groups: string[];
}

// Of the file that was given, and the one that is wanted.
export type FileProblemTexts = Record<FileProblem, (name: string, wanted: string) => string>;
