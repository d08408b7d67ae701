// Values as TOML writes them.

import type { SpecAttribute, WeightedTable } from "./spec";

// JSON's escapes are TOML's, which also asks for one of DEL.
export const tomlString = (text: string): string =>
  JSON.stringify(text).replaceAll("\u007f", "\\u007f");

const kNumber = /^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

// A number as it was typed, or in quotes, such as "1/3".
export function tomlNumber(text: string): string {
  const trimmed = text.trim();
  return kNumber.test(trimmed) ? trimmed : tomlString(trimmed);
}

// The text of a number or string of a spec, as people type it.
export function plainText(toml: string): string {
  if (toml.startsWith('"')) {
    try {
      return String(JSON.parse(toml));
    } catch {
      return toml;
    }
  }
  return toml.replaceAll("_", "");
}

// The tables of a workload, one per line.
export function tomlTables(tables: WeightedTable[], attributes: SpecAttribute[]): string {
  const lines = tables.map(({ attributes: set, weight }) => {
    const names = set.map((i) => tomlString(attributes[i]?.name ?? ""));
    const list = set.length === 0 ? '"total"' : `[${names.join(", ")}]`;
    return weight === 1 ? list : `{ attributes = ${list}, weight = ${weight} }`;
  });
  return lines.length === 0 ? "[]" : `[\n${lines.map((line) => `  ${line},\n`).join("")}]`;
}

export const kEncodings = ["values", "integers", "numbers", "cuts", "size"] as const;
export type EncodingKind = (typeof kEncodings)[number];

// What was typed as the cells of an attribute: TOML, or a list with commas; for integers and numbers
// also FIRST..LAST.
export function tomlCells(kind: EncodingKind, typed: string): string {
  const text = typed.trim();
  if (text.startsWith("[") || kind === "size") return text;
  const parts = text
    .replace(/^(.*[^.])\.\.([^.].*)$/, "$1,$2")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const items = kind === "values" ? parts.map(tomlString) : parts;
  return `[${items.join(", ")}]`;
}
