// What the reader's page shows, and what the program prints in its place.
import { join } from "node:path";
import { parseCsv, readText, residua, temporaryFolder } from "./release.js";

// Goes to another view of an open page.
export async function show(page, parts) {
  const hash = `#${new URLSearchParams(parts)}`;
  await page.evaluate((to) => (location.hash = to), hash);
  await page.waitForFunction(() => document.querySelector("#tables .picture")?.children.length > 0);
}

// The numbers of the table that is shown, with all digits.
export const shownRows = (page) =>
  page.$$eval("#tables .numbers tbody tr", (rows) =>
    rows.map((row) => [
      ...[...row.querySelectorAll("[dir=auto]")].map((cell) => cell.textContent),
      ...[...row.querySelectorAll("[data-value]")].map((cell) => Number(cell.dataset.value)),
    ]),
  );

// The rows of the program's table, with all digits.
export function programRows(measurements, table, ...flags) {
  const folder = join(temporaryFolder(), "tables");
  residua("tables", measurements, "--table", table, "--digits", "full", "-o", folder, ...flags);
  const [head, ...rows] = parseCsv(readText(folder, `${table.replaceAll(",", "_x_")}.csv`));
  // Without the columns of levels and bounds, which the page does not show.
  const isLabel = head.slice(0, -4).map((name) => !/_(level|lower|upper)$/.test(name));
  return rows.map((row) => [
    ...row.slice(0, -4).filter((_, k) => isLabel[k]),
    ...row.slice(-4).map(Number),
  ]);
}

const kTerms = {
  age: (random) => {
    const from = random(60);
    return [`${from}..${from + random(60 - from)}`, `<=${random(60)}`, "..17"][random(3)];
  },
  sex: (random) => ["female", "male"][random(2)],
  district: (random) => ["N1", "north|S2", "east", '"W 1"|S1', '"far west"'][random(5)],
  income: (random) => ["..20000", "5000..40000", "40000..", '"(5000, 10000]"'][random(4)],
  day: (random) => ["2024-03", "2024-01..2024-06", "2024-11.."][random(3)],
  level: (random) => ["low", "null", "low|high"][random(3)],
};

export function randomQuestion(random) {
  return questionOf(
    random,
    Object.keys(kTerms)
      .filter(() => random(2) === 0)
      .slice(0, 3),
  );
}

export function questionOf(random, names) {
  return names.map((name) => `${name}=${kTerms[name](random)}`).join(" ");
}

export const answerOf = (page, which) =>
  page.$$eval(`[data-answer=${which}] [data-value]`, (cells) =>
    cells.map((cell) => Number(cell.dataset.value)),
  );
export const numbersOf = ({ estimate, std_dev, ci_lower, ci_upper }) => [
  estimate,
  std_dev,
  ci_lower,
  ci_upper,
];
