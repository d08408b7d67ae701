// Pages of several releases of the same data: combined, and one made after another.
import assert from "node:assert/strict";
import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dropFiles, openPage, startBrowser } from "./browser.js";
import { randomNumbers, readText, residua, temporaryFolder } from "./release.js";
import { answerOf, numbersOf, programRows, show, shownRows } from "./reader_page.js";

const spec = (rho, marginals) => `[release]
title = "People, again"
[data]
source = "data.csv"
[privacy]
rho = ${rho}
[attributes.age]
integers = [0, 39]
queries = "prefix"
[attributes.sex]
values = ["female", "male"]
[attributes.region]
values = ["N", "S", "W", "E"]
[attributes.income]
integers = [0, 100]
outside = "clamp"
queries = "mean"
[workload]
marginals = "${marginals}"
`;

let browser;
let folder;
const file = (...parts) => join(folder, ...parts);
before(async () => {
  browser = await startBrowser();
  folder = temporaryFolder();
  const random = randomNumbers(41);
  const rows = Array.from({ length: 4000 }, () =>
    [random(40), ["female", "male"][random(2)], "NSWE"[random(4)], random(101)].join(","),
  );
  writeFileSync(file("data.csv"), ["age,sex,region,income", ...rows].join("\n") + "\n");
  writeFileSync(file("first.toml"), spec(0.5, "<=2"));
  writeFileSync(file("second.toml"), spec(0.25, "<=3"));
  const grant = ["--rho", "1", "--reason", "a test"];
  residua("ledger", "create", "--data", file("data.csv"), ...grant);
  residua("release", file("first.toml"), "-o", file("first"), "--yes");
  const flags = ["--after", file("first"), "-o", file("second"), "--yes"];
  residua("release", file("second.toml"), ...flags);
  residua("combine", ...parts(), "-o", file("both.parquet"));
});
after(() => browser.close());

const parts = () => [file("first", "measurements.parquet"), file("second", "measurements.parquet")];

const kTables = [["age"], ["sex", "region"], ["age", "sex"], ["sex", "region", "age"]];
const kQuestions = [
  "",
  "age=10..29",
  "sex=female region=N|W",
  "age=..17 sex=male region=S",
  "mean(income) sex=female",
  "sum(income) region=E age=20..",
];

// Every table and question of an open page against the measurement file.
async function compare(page, measurements) {
  for (const table of kTables) {
    const names = table.map((name) => ["table", name]);
    await show(page, [...names, ["show", "prefixes"]]);
    await page.waitForFunction(() => document.querySelector(".reading") === null);
    const more = page.locator("#tables").getByRole("button", { name: /^Show all/ });
    if (await more.count()) await more.click();
    const sorted = ["age", "sex", "region"].filter((name) => table.includes(name));
    const want = programRows(measurements, sorted.join(","));
    assert.deepEqual(await shownRows(page), want, table.join(" x "));
  }
  const { answers } = JSON.parse(residua("query", measurements, "--json", ...kQuestions));
  for (const [k, question] of kQuestions.entries()) {
    await show(page, { question });
    await page.waitForFunction(
      (want) => document.querySelector("[data-answer=first] [data-value]")?.dataset.value === want,
      String(answers[k].estimate),
    );
    assert.deepEqual(await answerOf(page, "first"), numbersOf(answers[k]), question);
  }
  const [question, second] = kQuestions.slice(3, 5);
  await show(page, { question, second });
  const pair = JSON.parse(
    residua("query", measurements, "--json", "--covariance", question, second),
  );
  for (const which of ["first", "second", "difference", "sum"]) {
    assert.deepEqual(await answerOf(page, which), numbersOf(pair[which]), which);
  }
}

test("the page of a combined release has its tables, answers and guarantee", async () => {
  residua("page", file("both.parquet"), "-o", file("both.html"));
  const { page, problems, close } = await openPage(browser, file("both.html"));
  await compare(page, file("both.parquet"));
  // The promise is that of all releases together.
  const technical = await page.textContent("#overview details");
  const rho = /rho = ([\d.]+)/.exec(technical)[1];
  assert.ok(Math.abs(Number(rho) - 0.75) < 1e-4, technical);
  assert.match(await page.textContent("#use"), /combined\.parquet/);
  assert.deepEqual(problems, []);
  await close();
});

test("a release after another has the page of both", async () => {
  const { page, problems, close } = await openPage(browser, file("second", "index.html"));
  await compare(page, file("second", "combined.parquet"));
  // What it says of privacy is what its summary says.
  const summary = readText(folder, "second", "summary.md").replaceAll("`", "").replaceAll("**", "");
  const said = await page.$$eval(".cards > .card p", (all) => all.map((one) => one.textContent));
  for (const paragraph of said) {
    assert.ok(summary.includes(paragraph.replace(/\.$/, "")), paragraph);
  }
  assert.ok(said.some((one) => one.includes("together with the earlier one that it is combined")));
  assert.deepEqual(problems, []);
  await close();
});

test("tables of a combined release that did not fit are read from its file", async () => {
  residua("page", file("both.parquet"), "-o", file("small.html"));
  const megabytes = (statSync(file("small.html")).size - 5_000) / 1e6;
  const flags = ["-o", file("small.html"), "--json", "--page-size", String(megabytes)];
  const { left_out } = JSON.parse(residua("page", file("both.parquet"), ...flags));
  assert.ok(left_out.length > 0);
  const { page, problems, close } = await openPage(browser, file("small.html"));
  assert.match(await page.textContent("#overview .file-box"), /combined\.parquet/);
  // One of the parts is not the file; its name does not matter.
  await dropFiles(page, parts()[1]);
  await page.waitForSelector("#overview [role=alert]");
  assert.match(await page.textContent("#overview [role=alert]"), /belongs to another release/);
  copyFileSync(file("both.parquet"), file("renamed.parquet"));
  await dropFiles(page, file("renamed.parquet"));
  await page.waitForSelector("#overview .file-status:text-matches('is open')");
  await compare(page, file("both.parquet"));
  assert.deepEqual(problems, []);
  await close();
});
