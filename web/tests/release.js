// Releases to test pages with, made by the program itself.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const program = resolve(process.env.RESIDUA ?? "../build/release/residua");

export function residua(...args) {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const folders = [];
process.on("exit", () => folders.forEach((folder) => rmSync(folder, { recursive: true })));

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "residua-page-"));
  folders.push(folder);
  return folder;
}

// A sequence that looks random and is the same in every run.
export function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const field = (text) => `"${text.replaceAll('"', '""')}"`;

// Writes data and spec, releases them, and gives the folder of the release.
export function makeRelease(columns, rows, spec, ...flags) {
  const folder = temporaryFolder();
  const lines = [columns, ...rows].map((row) => row.map((v) => field(String(v))).join(","));
  writeFileSync(join(folder, "data.csv"), lines.join("\n") + "\n");
  writeFileSync(join(folder, "spec.toml"), spec);
  const release = join(folder, "release");
  residua("release", join(folder, "spec.toml"), "-o", release, "--yes", ...flags);
  return release;
}

// Every kind of attribute, and tables of up to three of them.
export function peopleRelease() {
  const random = randomNumbers(7);
  const districts = ["N1", "N2", "S1", "S2", "W 1"];
  const rows = Array.from({ length: 6000 }, () => [
    random(60),
    ["female", "male"][random(2)],
    districts[Math.min(random(5), random(5))],
    random(50000),
    `2024-${String(1 + random(12)).padStart(2, "0")}-15`,
    ["low", "middle", "high", ""][random(4)],
  ]);
  return makeRelease(
    ["age", "sex", "district", "income", "day", "level"],
    rows,
    `[release]
title = "People of five districts"
description = "A made-up table."
publisher = "Office for Tests"
date = 2026-05-01
contact = "tests@example.org"
licence = "CC BY 4.0"
[data]
source = "data.csv"
null_values = [""]
[privacy]
epsilon = 2
delta = 1e-9
[attributes.age]
integers = [0, 59]
queries = "prefix"
[attributes.sex]
values = ["female", "male"]
[attributes.district]
values = ["N1", "N2", "S1", "S2", "W 1"]
hierarchy = { east = { north = ["N1", "N2"], south = ["S1", "S2"] }, west = { "far west" = ["W 1"] } }
queries = "hierarchy"
[attributes.income]
cuts = [5000, 10000, 20000, 40000]
queries = "range"
[attributes.day]
dates = ["2024-01-01", "2024-12-31"]
every = "month"
[attributes.level]
values = ["low", "middle", "high"]
null = true
[workload]
marginals = "<=3"
`,
  );
}

export const readText = (...parts) => readFileSync(join(...parts), "utf8");

// The rows of a CSV file whose fields may be in quotes.
export function parseCsv(text) {
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
        .slice(0, -1)
        .map(([, f]) => (f.startsWith('"') ? f.slice(1, -1).replaceAll('""', '"') : f)),
    );
}
