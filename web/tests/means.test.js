// Sums and means in the reader's page, against what the program itself prints.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dropFiles, lowContrasts, openPage, startBrowser, unnamedControls } from "./browser.js";
import {
  makeRelease,
  parseCsv,
  randomNumbers,
  readText,
  residua,
  temporaryFolder,
} from "./release.js";
import { answerOf, numbersOf, show } from "./reader_page.js";

// Two numbers whose means are asked, one with decimals; one carrier has too few flights for a mean.
function flightsRelease() {
  const random = randomNumbers(29);
  const rows = Array.from({ length: 8000 }, (_, k) => [
    k === 0 ? "ZZ" : ["AA", "DL", "U A"][random(3)],
    1 + random(12),
    random(24),
    random(20) === 0 ? "" : random(120) - 30 + (random(30) === 0 ? 900 : 0),
    (random(2000) / 10).toFixed(1),
  ]);
  return makeRelease(
    ["carrier", "month", "hour", "arr delay", "distance"],
    rows,
    `[release]
title = "Flights"
[data]
source = "data.csv"
null_values = [""]
[privacy]
rho = 1
[attributes.carrier]
values = ["AA", "DL", "U A", "ZZ"]
hierarchy = { large = ["AA", "DL"], small = ["U A", "ZZ"] }
queries = "hierarchy"
[attributes.month]
integers = [1, 12]
[attributes.hour]
integers = [0, 23]
queries = "prefix"
[attributes."arr delay"]
integers = [-60, 600]
outside = "clamp"
null = true
queries = "mean"
[attributes.distance]
numbers = [0, 200]
step = 0.1
outside = "clamp"
[workload]
marginals = "<=3"
`,
  );
}

let browser;
let release;
before(async () => {
  browser = await startBrowser();
  release = flightsRelease();
});
after(() => browser.close());

const index = () => join(release, "index.html");
const measurements = () => join(release, "measurements.parquet");

// The program's table: labels, and the numbers of counts, sums and means; empty fields are missing.
function programTable(table, ...flags) {
  const folder = join(temporaryFolder(), "tables");
  const names = table.map((name) => (name.includes(" ") ? `"${name}"` : name)).join(",");
  residua("tables", measurements(), "--table", names, "--digits", "full", "-o", folder, ...flags);
  const [file, ...others] = readdirSync(folder).filter((name) => name.endsWith(".csv"));
  assert.deepEqual(others, []);
  const [head, ...rows] = parseCsv(readText(folder, file));
  const first = head.indexOf("estimate");
  const isLabel = head.slice(0, first).map((name) => !/_(level|lower|upper)$/.test(name));
  return {
    head,
    rows: rows.map((row) => ({
      labels: row.slice(0, first).filter((_, k) => isLabel[k]),
      count: row.slice(first, first + 4),
      sum: row.slice(first + 4, first + 8),
      mean: row.slice(first + 8, first + 12),
      note: row[first + 12],
    })),
  };
}

const numbersIn = (fields) => fields.filter((field) => field !== "").map(Number);

// The rows of the table that is shown: labels, all numbers, all words.
const shownTable = (page) =>
  page.$$eval("#tables .numbers tbody tr", (rows) =>
    rows.map((row) => ({
      labels: [...row.querySelectorAll("[dir=auto]")].map((cell) => cell.textContent),
      numbers: [...row.querySelectorAll("[data-value]")].map((cell) => Number(cell.dataset.value)),
      words: [...row.querySelectorAll(".word")].map((cell) => cell.textContent),
    })),
  );

test("tables with means show counts, sums and means as the program has them", async () => {
  const { page, problems, close } = await openPage(browser, index());
  const cases = [
    {
      table: ["carrier", "arr delay"],
      rows: 4,
      kind: { mean: "dots", sum: "bars", count: "bars" },
    },
    { table: ["month", "distance"], rows: 12, kind: { mean: "dots", sum: "bars" } },
    { table: ["hour", "arr delay"], show: "prefixes", rows: 24, kind: { mean: "curve" } },
    {
      table: ["hour", "arr delay"],
      show: "cells",
      rows: 24,
      kind: { mean: "dots" },
      flags: ["--answers", "cells"],
    },
    {
      table: ["carrier", "month", "arr delay"],
      rows: 48,
      kind: { mean: "heatmap", sum: "heatmap" },
    },
    {
      table: ["carrier", "hour", "distance"],
      show: "prefixes",
      rows: 96,
      kind: { mean: "curves" },
    },
  ];
  let numMissing = 0;
  for (const { table, show: view = "", rows, kind, flags = [] } of cases) {
    const want = programTable(table, ...flags).rows;
    // Of a hierarchy, the page shows the values; its groups come after them.
    const isShown = ({ labels }) =>
      !table.includes("carrier") || ["AA", "DL", "U A", "ZZ"].includes(labels[0]);
    const expected = want.filter(isShown);
    assert.equal(expected.length, rows, table.join(" x "));
    for (const [quantity, chart] of Object.entries(kind)) {
      await show(page, [...table.map((name) => ["table", name]), ["show", view], ["of", quantity]]);
      assert.equal(await page.getAttribute("#tables svg.plot", "data-kind"), chart);
      const others = ["mean", "count", "sum"].filter((other) => other !== quantity);
      const shown = await shownTable(page);
      assert.deepEqual(
        shown.map(({ labels, numbers }) => ({ labels, numbers })),
        expected.map((row) => ({
          labels: row.labels,
          numbers: [quantity, ...others].flatMap((name) => numbersIn(row[name])),
        })),
        `${table.join(" x ")} ${quantity}`,
      );
      for (const [k, row] of expected.entries()) {
        const isMissing = row.mean[0] === "";
        assert.equal((row.note ?? "") !== "", isMissing);
        assert.equal(shown[k].words.includes("too few rows"), isMissing);
        numMissing += isMissing ? 1 : 0;
      }
    }
  }
  assert.ok(numMissing > 0, "some mean must be missing, or the test tests nothing");
  assert.deepEqual(problems, []);
  await close();
});

test("dots of means are where their numbers are, and a missing mean is said in words", async () => {
  const { page, close } = await openPage(browser, index(), {
    hash: "#table=carrier&table=arr+delay",
  });
  await page.waitForSelector("#tables svg.plot");
  const drawn = await page.$eval("#tables svg.plot", (svg) => ({
    dots: [...svg.querySelectorAll(".reliable circle, .unreliable circle")].map((dot) => [
      dot.cy.baseVal.value,
      dot.cx.baseVal.value,
    ]),
    missing: [...svg.querySelectorAll(".missing text")].map((text) => text.textContent),
  }));
  const shown = await shownTable(page);
  const missing = shown.filter(({ words }) => words.includes("too few rows"));
  assert.deepEqual(
    drawn.missing,
    missing.map(() => "too few rows"),
  );
  assert.ok(missing.some(({ labels }) => labels[0] === "ZZ"));
  const means = shown.filter((row) => !missing.includes(row)).map(({ numbers }) => numbers[0]);
  const xs = drawn.dots.sort((a, b) => a[0] - b[0]).map(([, x]) => x);
  assert.equal(xs.length, means.length);
  // One unit is as long everywhere.
  const perUnit = (xs[1] - xs[0]) / (means[1] - means[0]);
  assert.ok(Math.abs((xs[2] - xs[0]) / (means[2] - means[0]) / perUnit - 1) < 1e-3);
  assert.match(await page.textContent("#tables figcaption"), /Mean of arr delay by carrier/);
  assert.match(await page.textContent("#tables figcaption"), /1 without a mean/);
  assert.match(await page.textContent("#tables .legend"), /there is no mean/);
  await close();
});

test("a number alone has its mean, its count and its sum in words", async () => {
  const { page, close } = await openPage(browser, index(), { hash: "#table=arr+delay" });
  const said = await page.textContent("#tables .total");
  assert.match(said, /The mean of arr delay is about/);
  assert.match(said, /The sum of arr delay is about/);
  const [row] = programTable(["arr delay"]).rows;
  const [shown] = await shownTable(page);
  assert.deepEqual(shown.numbers, numbersIn([...row.mean, ...row.count, ...row.sum]));
  await close();
});

test("the CSV of a table with means is the program's", async () => {
  const { page, close } = await openPage(browser, index(), {
    hash: "#table=month&table=arr+delay&of=sum",
    acceptDownloads: true,
  });
  const waiting = page.waitForEvent("download");
  await page.locator("#tables").getByRole("button", { name: "CSV" }).click();
  const file = await waiting;
  const [head, ...rows] = parseCsv(readFileSync(await file.path(), "utf8"));
  const want = programTable(["month", "arr delay"]);
  assert.deepEqual(head, want.head);
  assert.deepEqual(
    rows.map((row) => row.slice(1, 13).map((text) => (text === "" ? "" : Number(text)))),
    want.rows.map(({ count, sum, mean }) =>
      [...count, ...sum, ...mean].map((text) => (text === "" ? "" : Number(text))),
    ),
  );
  assert.deepEqual(
    rows.map((row) => [row[0], row[13]]),
    want.rows.map(({ labels, note }) => [labels[0], note]),
  );
  await close();
});

const kTerms = {
  carrier: ["AA", "DL|AA", "large", '"U A"', "ZZ"],
  month: ["1..6", "7", "10.."],
  hour: ["..11", "6..18", "<=20"],
};
function randomQuestions(count) {
  const random = randomNumbers(31);
  const moments = ["mean", "sum"].flatMap((is) => [`${is}("arr delay")`, `${is}(distance)`]);
  return Array.from({ length: count }, (_, k) => {
    const names = Object.keys(kTerms).filter(() => random(2) === 0);
    const terms = names
      .slice(0, 2)
      .map((name) => `${name}=${kTerms[name][random(kTerms[name].length)]}`);
    if (k % 10 === 9) return [`"arr delay"=null`, ...terms].join(" ");
    terms.splice(random(terms.length + 1), 0, moments[k % 4]);
    return terms.join(" ");
  });
}

test("sums and means that are asked for have the program's answers to the last digit", async () => {
  const questions = ['mean("arr delay") carrier=ZZ', ...randomQuestions(60)];
  const { page, problems, close } = await openPage(browser, index());
  let numMissing = 0;
  for (const confidence of ["0.95", "0.8"]) {
    const args = ["query", measurements(), "--json", "--confidence", confidence, ...questions];
    const { answers } = JSON.parse(residua(...args));
    for (const [k, question] of questions.entries()) {
      await show(page, { question, confidence });
      if (answers[k].estimate === null) {
        ++numMissing;
        assert.match(await page.textContent("#questions .warning"), /too few rows for a mean/);
        assert.equal(await page.locator("#questions [data-value]").count(), 0);
      } else {
        assert.deepEqual(await answerOf(page, "first"), numbersOf(answers[k]), question);
        const is = /^(mean|sum)|\s(mean|sum)\(/.exec(question);
        const words = await page.textContent("#questions .sentence");
        const noun = is === null ? "rows" : `${is[1] ?? is[2]} of`;
        assert.ok(words.includes(noun), `${question}: ${words}`);
      }
    }
  }
  assert.ok(numMissing > 0);
  assert.deepEqual(problems, []);
  await close();
});

test("differences of means have the program's covariance", async () => {
  const pairs = [
    ['mean("arr delay") carrier=AA', 'mean("arr delay") carrier=DL'],
    ['mean("arr delay") carrier=AA month=1..6', 'mean("arr delay") carrier=AA'],
    ["sum(distance) month=3", "sum(distance)"],
    ["mean(distance)", "sum(distance) carrier=large"],
    ['mean("arr delay")', "carrier=AA"],
  ];
  const { page, problems, close } = await openPage(browser, index());
  for (const [question, second] of pairs) {
    await show(page, { question, second });
    const want = JSON.parse(
      residua("query", measurements(), "--json", "--covariance", question, second),
    );
    for (const which of ["first", "second", "difference", "sum"]) {
      assert.deepEqual(await answerOf(page, which), numbersOf(want[which]), `${question} ${which}`);
    }
    const { ratio } = want;
    assert.deepEqual(
      await answerOf(page, "ratio"),
      ratio === null ? [] : [ratio.estimate, ratio.ci_lower, ratio.ci_upper],
    );
    const said = await page.textContent("#questions .answer");
    assert.equal(said.includes("delta method"), want.method === "delta method");
  }
  await show(page, { question: 'mean("arr delay") carrier=ZZ', second: "carrier=AA" });
  assert.match(
    await page.textContent("#questions .warning"),
    /too uncertain to compare|too few rows/,
  );
  assert.deepEqual(problems, []);
  await close();
});

test("a mean is chosen, with conditions, and its address shows it again", async () => {
  const { page, problems, close } = await openPage(browser, index());
  const questions = page.locator("#questions");
  await questions.getByLabel("Ask for").selectOption("the mean of arr delay");
  await questions.getByLabel("Add a condition").selectOption("month");
  await questions.getByLabel("to", { exact: true }).selectOption("6");
  assert.equal(await page.inputValue("#question-first"), 'mean("arr delay") month=1..6');
  const [answer] = JSON.parse(
    residua("query", measurements(), "--json", 'mean("arr delay") month=1..6'),
  ).answers;
  assert.deepEqual(await answerOf(page, "first"), numbersOf(answer));
  await questions.getByLabel("Ask for").selectOption("the sum of distance");
  assert.equal(await page.inputValue("#question-first"), "sum(distance) month=1..6");
  await questions.getByLabel("Ask for").selectOption("the number of rows");
  assert.equal(await page.inputValue("#question-first"), "month=1..6");
  // Missing values of the number are a condition; its values are not.
  await questions.getByLabel("Add a condition").selectOption("arr delay");
  assert.equal(await page.inputValue("#question-first"), 'month=1..6 "arr delay"=null');
  await questions.getByLabel("Ask for").selectOption("the mean of arr delay");
  assert.equal(await page.inputValue("#question-first"), 'mean("arr delay") month=1..6');
  const address = await page.evaluate(() => location.hash);
  const again = await openPage(browser, index(), { hash: address });
  assert.deepEqual(await answerOf(again.page, "first"), numbersOf(answer));
  assert.equal(
    await again.page.locator("#questions").getByLabel("Ask for").inputValue(),
    "1", // the first mean
  );
  await again.close();
  assert.deepEqual(problems, []);
  await close();
});

test("pages with means are as readers need them, in both languages", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await openPage(browser, index(), {
      colorScheme,
      hash: "#table=carrier&table=arr+delay",
    });
    assert.deepEqual(await page.evaluate(lowContrasts), [], colorScheme);
    assert.deepEqual(await unnamedControls(page), []);
    await close();
  }
  const { page, problems, close } = await openPage(browser, index(), {
    locale: "de-DE",
    viewport: { width: 360, height: 740 },
    hash: "#table=carrier&table=month&table=arr+delay",
  });
  const words = await page.textContent("main");
  assert.doesNotMatch(words, /undefined|NaN|\bthe\b|Standard deviation|uncertain/);
  assert.match(words, /ganze Zahlen von -60 bis 600/);
  assert.match(words, /Zahlen von 0.0 bis 200.0 in Schritten von 0.1|Zahlen von 0 bis 200/);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  assert.deepEqual(problems, []);
  await close();
});

test("tables with means that did not fit are read from the file", async () => {
  const output = join(temporaryFolder(), "small.html");
  residua("page", measurements(), "-o", output);
  const bytes = readFileSync(output).length - 7_000;
  const { left_out } = JSON.parse(
    residua("page", measurements(), "-o", output, "--json", "--page-size", String(bytes / 1e6)),
  );
  const table = left_out.find((name) => /distance|arr delay/.test(name));
  assert.ok(table !== undefined, left_out.join("; "));
  const { page, problems, close } = await openPage(browser, output);
  await dropFiles(page, measurements());
  await page.waitForSelector("#overview .file-status:text-matches('is open')");
  const question = table.includes("distance") ? "mean(distance)" : 'mean("arr delay")';
  const conditions = table
    .split(" x ")
    .filter((name) => name in kTerms)
    .map((name) => `${name}=${kTerms[name][0]}`);
  const asked = [question, ...conditions].join(" ");
  const [answer] = JSON.parse(residua("query", measurements(), "--json", asked)).answers;
  await page.evaluate(
    (hash) => (location.hash = hash),
    `#${new URLSearchParams({ question: asked })}`,
  );
  await page.waitForFunction(
    (want) => document.querySelector("[data-answer=first] [data-value]")?.dataset.value === want,
    String(answer.estimate),
  );
  assert.deepEqual(await answerOf(page, "first"), numbersOf(answer));
  assert.deepEqual(problems, []);
  await close();
});
