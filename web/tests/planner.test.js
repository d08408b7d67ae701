// The planning page in a real browser, against what the program says of the spec that it saves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lowContrasts, openPage, startBrowser, unnamedControls } from "./browser.js";
import { program, readText, residua, temporaryFolder } from "./release.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.close());

// Written as people write; much of it is nothing that the page changes.
const kPeople = `# Agreed on 3 May.
[release]
title = "People"   # for readers
[data]
source = "people.csv"
null_values = ["NA"]
[privacy]
epsilon = 1.0  # in words: low
delta = 1e-9
unit = "row"

[attributes.age]
integers = [0, 29]
outside = "clamp"
queries = "prefix"
[attributes.sex]
values = ["female", "male"]
[attributes.district]
values = ["N1", "N2", "S1"]
hierarchy = { north = ["N1", "N2"], south = ["S1"] }
queries = "hierarchy"
[attributes.day]
dates = ["2024-01-01", "2024-12-31"]
every = "month"
queries = "range"
[attributes.score]
size = 4
queries = "custom"
custom = { matrix = "score.csv" }

[workload]
marginals = "<=2"   # no more
`;

function makeSpec(text) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "people.toml"), text);
  writeFileSync(join(folder, "score.csv"), "1,1,0,0\n0,0,1,1\n1,0,0,1\n");
  const lines = ["age,sex,district,day,score"];
  for (let k = 0; k < 40; ++k) {
    lines.push(`${k % 30},${k % 2 ? "male" : "female"},N1,2024-0${1 + (k % 9)}-15,${k % 4}`);
  }
  writeFileSync(join(folder, "people.csv"), lines.join("\n") + "\n");
  return folder;
}

async function explore(text, options = {}) {
  const folder = makeSpec(text);
  const file = join(folder, "page.html");
  residua("explore", join(folder, "people.toml"), "-o", file, "--no-open");
  return { folder, ...(await openPage(browser, file, options)) };
}

// Does something that changes the spec, and waits until its plan is there.
async function change(page, action) {
  const before = Number(await page.getAttribute("#page", "data-answers"));
  await action();
  await page.waitForFunction(
    (count) => Number(document.getElementById("page").dataset.answers) > count,
    before,
    { timeout: 30_000 },
  );
}

const fill = (page, id, value) =>
  change(page, async () => {
    await page.fill(id, value);
    await page.press(id, "Enter");
  });

const choose = (page, id, value) => change(page, () => page.selectOption(id, value));

const problem = (page) => page.textContent(".problem");

// The text that is downloaded.
async function saved(page) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: /^Save / }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "people.toml");
  return readFileSync(await download.path(), "utf8");
}

// In all digits but the last few.
const inDigits = (number) => Number(number.toPrecision(13));

// All numbers of the page, with all digits.
async function shown(page) {
  const all = page.getByRole("button", { name: "Show all" });
  if (await all.count()) await all.click();
  await page.selectOption("#sort", "order");
  const facts = await page.$$eval("#results .facts tbody tr", (rows) =>
    rows.map((row) => row.querySelector("td").dataset.value),
  );
  const listed = await page.$$eval("#table-list tbody tr", (rows) =>
    rows.map((row) => [
      row.querySelector("th").textContent,
      ...[...row.querySelectorAll("[data-value]")]
        .slice(0, 3)
        .map((td) => Number(td.dataset.value)),
    ]),
  );
  const tables = listed.map(([name, answers, ...variances]) => [
    name,
    answers,
    ...variances.map(inDigits),
  ]);
  const [rmse, largest, , epsilon, rho, mu, pcost] = facts.map(Number);
  return { rmse, largest, epsilon, rho, mu, pcost, tables };
}

// The same as the program prints them: of tables with a mean, what it says of their counts. A standard
// deviation that was squared again has lost a digit.
function planned(folder, text, ...flags) {
  const file = join(folder, "saved.toml");
  writeFileSync(file, text);
  const plan = JSON.parse(residua("plan", file, "--json", "--variances", ...flags));
  return {
    numbers: {
      rmse: plan.rmse,
      largest: Math.sqrt(plan.max_variance),
      epsilon: plan.privacy.epsilon,
      rho: plan.privacy.rho,
      mu: plan.privacy.mu ?? 0,
      pcost: plan.privacy.pcost,
      tables: plan.tables.map((table) => [
        table.attributes.join(" × ") || "total",
        table.mean?.answers ?? table.cells,
        inDigits(table.mean ? table.mean.count_std_dev ** 2 : table.mean_variance),
        inDigits(table.max_variance),
      ]),
    },
    plan,
  };
}

test("opens from the disk without a network, and nothing complains", async () => {
  const { page, problems, close } = await explore(kPeople);
  assert.equal(await page.title(), "Plan of people.toml");
  const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
  assert.match(policy, /default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval';/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? |https?:|data:/);
  await page.waitForSelector("#page[data-certified=yes]");
  assert.equal(await page.locator("#frontier svg .line").count(), 1);
  assert.deepEqual(problems, []);
  await close();
});

test("every number is the program's, to the last digit", async () => {
  const { page, folder, problems, close } = await explore(kPeople);
  const compare = async (what) => {
    const text = await saved(page);
    const { numbers, plan } = planned(folder, text);
    assert.deepEqual(await shown(page), numbers, what);
    return plan;
  };
  await page.waitForSelector("#page[data-certified=yes]");
  const { above_lower_bound: above } = await compare("as it was");
  const certificate = page.locator("#results tr", { hasText: "any mechanism" }).locator("td");
  assert.equal(Number(await certificate.getAttribute("data-value")), above);
  for (const [id, value] of [
    ["#unit", "rho"],
    ["#unit", "max_std_dev"],
    ["#unit", "epsilon"],
    ["#neighbours", "replace-one"],
    ["#objective", "max-variance"],
    ["#weights", "cells"],
    ["#pick", "<=3"],
    ["#objective", "p-norm=2"],
  ]) {
    await choose(page, id, value);
    assert.equal(await problem(page), "");
    await compare(`${id} ${value}`);
  }
  await choose(page, "#neighbours", "add-remove");
  await fill(page, "#identifier", "person");
  await fill(page, "#max-rows", "4");
  await fill(page, "#delta", "1e-7");
  await compare("identifier");
  assert.deepEqual(problems, []);
  await close();
});

test("the slider moves the budget, also by keyboard", async () => {
  const { page, folder, close } = await explore(kPeople);
  await page.focus("#slider");
  for (const key of ["ArrowRight", "ArrowRight", "PageDown", "Home", "ArrowUp"]) {
    await change(page, () => page.keyboard.press(key));
  }
  assert.equal(await page.evaluate(() => document.activeElement.id), "slider");
  const text = await saved(page);
  assert.match(text, /^epsilon = 0\.0102 {2}# in words: low$/m);
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  assert.equal(await page.inputValue("#budget"), "0.0102");
  await close();
});

test("what the page does not change stays as it was written", async () => {
  const { page, folder, close } = await explore(kPeople);
  await fill(page, "#budget", "1/3");
  const text = await saved(page);
  assert.equal(text, kPeople.replace("epsilon = 1.0  #", 'epsilon = "1/3"  #'));
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  await change(page, () => page.getByRole("button", { name: "Undo" }).click());
  assert.equal(await page.inputValue("#spec-text"), kPeople);
  await close();
});

test("tables, weights and attributes are changed, and the spec passes check", async () => {
  const { page, folder, problems, close } = await explore(kPeople);
  await change(page, () => page.getByLabel("sex × district", { exact: true }).uncheck());
  assert.equal(await page.locator("#table-list tbody tr").count(), 15);
  await change(page, () => page.getByLabel("sex × district", { exact: true }).check());
  // The row goes with its table: there is no box left to look at.
  await change(page, () => page.getByLabel("age: on").click());
  const weight = page.getByLabel("Weight of sex × day");
  await change(page, async () => {
    await weight.fill("2.5");
    await weight.press("Enter");
  });
  for (const [place, value] of [
    [1, "sex"],
    [2, "district"],
    [3, "day"],
  ]) {
    await page.getByLabel(`Attribute ${place}`).selectOption({ label: value });
  }
  await change(page, () => page.getByRole("button", { name: "Add the table" }).click());
  await change(page, () =>
    page.getByLabel("What is counted of sex", { exact: true }).selectOption("prefix"),
  );
  await change(page, () => page.getByRole("button", { name: "Remove score" }).click());
  assert.equal(await problem(page), "");
  const text = await saved(page);
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  assert.match(text, /\{ attributes = \["sex", "day"\], weight = 2.5 \},/);
  assert.match(text, /\["sex", "district", "day"\],/);
  assert.doesNotMatch(text, /score|marginals|\["age"\]/);
  assert.match(text, /^# Agreed on 3 May\.\n/);
  residua("check", join(folder, "saved.toml"));
  assert.deepEqual(problems, []);
  await close();
});

test("hostile names are text", async () => {
  const names = ["<script>alert(1)</script>", 'quo"te\\', "\u202eright", "a=b, c", "😀"];
  const attributes = names
    .map((name) => `[attributes.${JSON.stringify(name)}]\nvalues = ["<b>", "y"]\n`)
    .join("");
  const { page, folder, problems, close } = await explore(
    `[privacy]\nrho = 1\n${attributes}[workload]\nmarginals = "<=2"\n`,
  );
  const shownNames = await page.$$eval("#attribute-list tbody th", (all) =>
    all.map((one) => one.textContent),
  );
  assert.deepEqual(shownNames, names);
  const pair = `${names[0]} × ${names[1]}`;
  await change(page, () => page.getByLabel(pair, { exact: true }).uncheck());
  const text = await saved(page);
  assert.equal(await problem(page), "");
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  assert.equal(await page.locator("#page script, #page b").count(), 0);
  assert.deepEqual(problems, []);
  await close();
});

test("what cannot be done is refused in words, and nothing is lost", async () => {
  const { page, problems, close } = await explore(kPeople);
  for (const [id, value, words] of [
    ["#budget", "-1", /privacy/],
    ["#budget", "many", /many/],
    ["#delta", "2", /delta/],
    ["#rule", "<=", /workload\.marginals/],
  ]) {
    await fill(page, id, value);
    assert.match(await problem(page), /^Not changed\./);
    assert.match(await problem(page), words);
    assert.equal(await page.inputValue("#spec-text"), kPeople);
  }
  // A text that cannot be read stays to be mended, and is not saved.
  await change(page, async () => {
    await page.fill("#spec-text", kPeople.replace("[workload]", "[workload"));
    await page.press("#spec-text", "Tab");
  });
  assert.match(await problem(page), /people\.toml:\d+: not valid TOML/);
  assert.match(await page.inputValue("#spec-text"), /\[workload\n/);
  await change(page, async () => {
    await page.fill("#spec-text", kPeople.replace("<=2", "<=1"));
    await page.press("#spec-text", "Tab");
  });
  assert.equal(await problem(page), "");
  assert.equal(await page.locator("#table-list tbody tr").count(), 6);
  assert.deepEqual(problems, []);
  await close();
});

test("two plans side by side, and the budget that an error costs", async () => {
  const { page, folder, close } = await explore(kPeople);
  const first = (await shown(page)).rmse;
  await page.getByRole("button", { name: /^Keep this plan/ }).click();
  await fill(page, "#budget", "2");
  const cells = await page.$$eval("#results .facts tbody tr:first-child td", (all) =>
    all.map((one) => Number(one.dataset.value)),
  );
  assert.equal(cells[1], first);
  assert.ok(cells[0] < first);
  await change(page, () => page.getByRole("button", { name: "Swap" }).click());
  assert.equal((await shown(page)).rmse, first);
  // Within 5 for the table of ages, and with the budget that this costs.
  await page.selectOption("#cost-table", { label: "age" });
  await page.fill("#cost-within", "5");
  await page.getByRole("button", { name: "Compute the least budget" }).click();
  await page.waitForSelector("#frontier .answer .figure");
  const epsilon = Number(await page.getAttribute("#frontier .answer .figure", "data-value"));
  await change(page, () => page.getByRole("button", { name: "Use this budget" }).click());
  const { plan } = planned(folder, await saved(page));
  const age = plan.tables.find(({ attributes }) => attributes.join() === "age");
  assert.ok(age.mean_variance <= 25 && age.mean_variance > 24.9, `${age.mean_variance}`);
  assert.ok(Math.abs(plan.privacy.epsilon / epsilon - 1) < 2e-3);
  await close();
});

test("the guess of the number of rows gives relative errors and warnings", async () => {
  const { page, folder, close } = await explore(kPeople);
  await fill(page, "#rows", "50");
  assert.match(await page.textContent("#results"), /most answers will be mostly noise/);
  const text = await saved(page);
  assert.match(text, /^rows = 50$/m);
  const { plan } = planned(folder, text);
  const row = page.locator("#table-list tbody tr", { hasText: "total" });
  const total = plan.tables.find(({ attributes }) => attributes.length === 0);
  const percent = Number((await row.locator("td").nth(4).textContent()).replace(" %", ""));
  assert.ok(Math.abs(percent / ((100 * Math.sqrt(total.mean_variance)) / 50) - 1) < 0.01);
  await close();
});

test("without a spec it begins with an example that can be planned", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "blank.html");
  residua("explore", "-o", file, "--no-open");
  const { page, problems, close } = await openPage(browser, file);
  await page.fill("#new-name", "region");
  await page.fill("#new-cells", "north, south, far west");
  await change(page, () => page.getByRole("button", { name: "Add the attribute" }).click());
  await change(page, () => page.getByRole("button", { name: "Remove sex" }).click());
  const text = await page.inputValue("#spec-text");
  assert.match(text, /\[attributes\.region\]\nvalues = \["north", "south", "far west"\]\n/);
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  assert.deepEqual(problems, []);
  await close();
});

test("means are planned as the program plans them, and can be asked for", async () => {
  const { page, folder, problems, close } = await explore(
    `[data]
source = "data.csv"
[privacy]
rho = 0.5
[attributes.carrier]
values = ["AA", "DL", "UA"]
[attributes.delay]
integers = [-60, 600]
queries = "prefix"
[attributes.distance]
numbers = [0, 200]
step = 0.5
[workload]
marginals = "<=2"
`,
  );
  const queries = page.locator("#attribute-list select");
  assert.equal(await queries.nth(2).inputValue(), "mean");
  assert.ok(await queries.nth(2).isDisabled());
  assert.deepEqual(await shown(page), planned(folder, await saved(page)).numbers);
  assert.match(await page.textContent("#tables"), /distance have counts, sums and means/);
  await change(page, () => queries.nth(1).selectOption("mean"));
  const text = await saved(page);
  assert.match(text, /queries = "mean"/);
  assert.deepEqual(await shown(page), planned(folder, text).numbers);
  // A table has one mean at most: the matrix has no box for both.
  assert.equal(await page.locator(".matrix [aria-label='delay × distance']").count(), 0);
  assert.equal(await page.locator(".matrix [aria-label='carrier × delay']").isChecked(), true);
  assert.deepEqual(problems, []);
  await close();
});

test("Adult's tables of up to three attributes stay live", async () => {
  const sizes = [85, 9, 100, 16, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42];
  const attributes = sizes.map((size, k) => `[attributes.a${k}]\nsize = ${size}\n`).join("");
  const { page, folder, close } = await explore(
    `[privacy]\nepsilon = 1\ndelta = 1e-9\n${attributes}[workload]\nmarginals = "<=3"\n`,
  );
  await page.focus("#slider");
  for (let k = 0; k < 5; ++k) await change(page, () => page.keyboard.press("ArrowRight"));
  const numbers = await shown(page);
  assert.equal(numbers.tables.length, 470);
  assert.deepEqual(numbers, planned(folder, await saved(page)).numbers);
  await close();
});

test("German is complete, and contrast, names and narrow screens are as needed", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await explore(kPeople, { colorScheme, locale: "de-DE" });
    assert.equal(await page.title(), "Plan von people.toml");
    await fill(page, "#budget", "20");
    await page.getByRole("button", { name: /^Diesen Plan/ }).click();
    assert.deepEqual(await page.evaluate(lowContrasts), [], colorScheme);
    assert.deepEqual(await unnamedControls(page), []);
    await close();
  }
  const { page, close } = await explore(kPeople, { viewport: { width: 360, height: 740 } });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `${width} pixels wide`);
  await close();
});

test("the command opens the page where there is a display", () => {
  const folder = makeSpec(kPeople);
  const opener = join(folder, "xdg-open");
  writeFileSync(
    opener,
    `#!/bin/sh\necho "$1" > "${folder}/opened.part"\nmv "${folder}/opened.part" "${folder}/opened"\n`,
  );
  chmodSync(opener, 0o755);
  const run = (display, ...flags) =>
    execFileSync(program, ["explore", "people.toml", ...flags], {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...process.env,
        DISPLAY: display,
        WAYLAND_DISPLAY: "",
        PATH: `${folder}:${process.env.PATH}`,
      },
    });
  assert.match(
    run(":0"),
    /^Written to people\.explore\.html, \d\.\d MB\. Your browser opens it\.\n$/,
  );
  for (let k = 0; k < 200 && !existsSync(join(folder, "opened")); ++k) {
    execFileSync("sleep", ["0.05"]);
  }
  assert.match(readText(folder, "opened"), /^\/.*people\.explore\.html\n$/);
  assert.match(run(""), /Open it in a browser\.\n$/);
  assert.match(run(":0", "--no-open"), /Open it in a browser\.\n$/);
});
