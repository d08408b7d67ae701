// The reader's page in a real browser, against what the program itself prints.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lowContrasts, openPage, startBrowser, unnamedControls } from "./browser.js";
import {
  makeRelease,
  parseCsv,
  peopleRelease,
  randomNumbers,
  readText,
  residua,
  temporaryFolder,
} from "./release.js";
import {
  answerOf,
  numbersOf,
  programRows,
  randomQuestion,
  show,
  shownRows,
} from "./reader_page.js";

let browser;
let release;
before(async () => {
  browser = await startBrowser();
  release = peopleRelease();
});
after(() => browser.close());

const index = () => join(release, "index.html");
const measurements = () => join(release, "measurements.parquet");

test("opens from the disk without a network, and nothing complains", async () => {
  const { page, problems, close } = await openPage(browser, index());
  assert.equal(await page.title(), "People of five districts");
  const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
  assert.match(policy, /default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval';/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? |https?:/);
  for (const [table, view] of [
    ["age", "prefixes"],
    ["sex", ""],
    ["district", ""],
  ]) {
    await show(page, { table, show: view });
  }
  assert.deepEqual(problems, []);
  await close();
});

test("every kind of chart shows the numbers of the program's tables", async () => {
  const { page, problems, close } = await openPage(browser, index());
  const cases = [
    { table: ["sex"], kind: "bars", flags: [] },
    { table: ["age"], show: "prefixes", kind: "curve", flags: [] },
    { table: ["age"], show: "cells", kind: "curve", flags: ["--answers", "cells"] },
    { table: ["income"], show: "prefixes", kind: "curve", flags: ["--answers", "prefixes"] },
    { table: ["sex", "level"], kind: "heatmap", flags: [] },
    { table: ["age", "level"], show: "prefixes", kind: "curves", flags: [] },
    { table: ["sex", "day", "level"], kind: "multiples", flags: [] },
  ];
  for (const { table, show: view = "", kind, flags } of cases) {
    await show(page, [...table.map((name) => ["table", name]), ["show", view]]);
    const more = page.getByRole("button", { name: /^Show all/ });
    if (await more.count()) await more.click();
    assert.equal(await page.getAttribute("#tables svg.plot", "data-kind"), kind);
    const want = programRows(measurements(), table.join(","), ...flags);
    assert.deepEqual(await shownRows(page), want, table.join(" x "));
    const count = await page.$$eval(
      "#tables svg.plot",
      ([svg], what) => {
        const marks = svg.querySelectorAll(what.marks);
        return what.isPath
          ? [...marks].reduce(
              (sum, path) => sum + path.getAttribute("d").split(/[ML]/).length - 1,
              0,
            )
          : marks.length;
      },
      kind.startsWith("curve")
        ? { marks: ".line path", isPath: true }
        : { marks: kind === "bars" ? ".reliable rect, .unreliable rect" : ".cells rect" },
    );
    assert.equal(count, want.length, `marks of ${table.join(" x ")}`);
  }
  // Bars are as long as their numbers say, and intervals as wide.
  await show(page, { table: "sex" });
  const rows = await shownRows(page);
  const drawn = await page.$eval("#tables svg.plot", (svg) => ({
    bars: [...svg.querySelectorAll(".reliable rect")].map((bar) => bar.width.baseVal.value),
    lines: [...svg.querySelectorAll(".intervals line")].map(
      (line) => line.x2.baseVal.value - line.x1.baseVal.value,
    ),
  }));
  const perRow = drawn.bars[0] / rows[0][1];
  rows.forEach((row, k) => {
    assert.ok(Math.abs(drawn.bars[k] / row[1] / perRow - 1) < 1e-3);
    assert.ok(Math.abs(drawn.lines[k] / (row[4] - row[3]) / perRow - 1) < 1e-3);
  });
  assert.deepEqual(problems, []);
  await close();
});

test("the levels of a hierarchy are its groups, with the program's numbers", async () => {
  const { page, close } = await openPage(browser, index());
  const all = new Map(programRows(measurements(), "district").map((row) => [row[0], row]));
  for (const [level, names] of [
    ["0", ["N1", "N2", "S1", "S2", "W 1"]],
    ["1", ["north", "south", "far west"]],
    ["2", ["east", "west"]],
  ]) {
    await show(page, { table: "district", level: `${level} district` });
    const want = names.map((name) => all.get(name));
    assert.deepEqual(await shownRows(page), want);
  }
  await close();
});

test("a hundred random questions have the program's answers to the last digit", async () => {
  const random = randomNumbers(11);
  const questions = ["sex=female", ...Array.from({ length: 99 }, () => randomQuestion(random))];
  const { page, problems, close } = await openPage(browser, index());
  for (const confidence of ["0.95", "0.8"]) {
    const args = ["query", measurements(), "--json", "--confidence", confidence, ...questions];
    const { answers } = JSON.parse(residua(...args));
    const isHalf = confidence === "0.8";
    for (let k = 0; k < questions.length; k += isHalf ? 10 : 1) {
      await show(page, { question: questions[k], confidence });
      assert.deepEqual(await answerOf(page, "first"), numbersOf(answers[k]), questions[k]);
    }
  }
  assert.deepEqual(problems, []);
  await close();
});

test("two questions are compared with their exact covariance", async () => {
  const random = randomNumbers(13);
  const { page, close } = await openPage(browser, index());
  for (let k = 0; k < 12; ++k) {
    const [question, second] = [randomQuestion(random), randomQuestion(random)];
    const both = JSON.parse(
      residua("query", measurements(), "--covariance", "--json", question, second),
    );
    await show(page, { question, second });
    for (const which of ["first", "second", "difference", "sum"]) {
      assert.deepEqual(await answerOf(page, which), numbersOf(both[which]), `${which} ${k}`);
    }
    const { ratio } = both;
    const want = ratio === null ? [] : [ratio.estimate, ratio.ci_lower, ratio.ci_upper];
    assert.deepEqual(await answerOf(page, "ratio"), want);
  }
  await close();
});

test("a question is built by choosing, and is one that the program reads", async () => {
  const { page, close } = await openPage(browser, index());
  const questions = page.locator("#questions");
  await questions.getByLabel("Add a condition").selectOption("age");
  await questions.getByLabel("from").selectOption("18");
  await questions.getByLabel("to").selectOption("30");
  await questions.getByLabel("Add a condition").selectOption("district");
  await questions.getByLabel("far west").check();
  await questions.getByLabel("N1").check();
  const text = await questions.getByLabel("Question", { exact: true }).inputValue();
  assert.equal(text, 'age=18..30 district="far west"|N1');
  const { answers } = JSON.parse(residua("query", measurements(), "--json", text));
  assert.deepEqual(await answerOf(page, "first"), numbersOf(answers[0]));
  // Its address shows it again.
  const address = await page.evaluate(() => location.hash);
  const again = await openPage(browser, index(), { hash: address });
  assert.deepEqual(await answerOf(again.page, "first"), numbersOf(answers[0]));
  await again.close();
  await close();
});

test("what was not measured together is refused in words", async () => {
  const { page, close } = await openPage(browser, index());
  await show(page, { question: "age=1 sex=male income=..5000 level=low" });
  assert.match(await page.textContent("#questions .warning"), /was not measured; the closest/);
  await show(page, { question: "age=old" });
  assert.match(await page.textContent("#questions .warning"), /age/);
  await close();
});

test("what is said of privacy and of attributes is what summary.md says", async () => {
  const summary = readText(release, "summary.md").replaceAll("`", "").replaceAll("**", "");
  const { page, close } = await openPage(browser, index());
  const said = await page.$$eval(".cards > .card p, .stack .card:last-child p", (all) =>
    all.map((paragraph) => paragraph.textContent),
  );
  assert.ok(said.length >= 4);
  for (const paragraph of said) {
    assert.ok(summary.includes(paragraph.replace(/\.$/, "")), paragraph);
  }
  const attributes = await page.$$eval(".variables > div", (all) =>
    all.map(
      (one) => `${one.querySelector("dt").textContent}: ${one.querySelector("dd").textContent}`,
    ),
  );
  assert.equal(attributes.length, 6);
  for (const attribute of attributes) assert.ok(summary.includes(`- ${attribute}\n`), attribute);
  await close();
});

test("German is complete, and the page follows the reader's language", async () => {
  const { page, problems, close } = await openPage(browser, index(), { locale: "de-DE" });
  assert.equal(await page.getAttribute("html", "lang"), "de");
  await page.getByRole("heading", { name: "Tabellen", exact: true }).waitFor();
  const words = await page.textContent("main");
  assert.doesNotMatch(words, /undefined|\bthe\b|Standard deviation/);
  await page.getByRole("button", { name: "English" }).click();
  assert.equal(await page.getAttribute("html", "lang"), "en");
  assert.deepEqual(problems, []);
  await close();
});

test("hostile labels are text", async () => {
  const hostile = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "שלום עולם",
    "😀 | .. = '",
    "</script><!--",
    "a b, c; d",
  ];
  const values = hostile.map((label) => JSON.stringify(label)).join(", ");
  const folder = makeRelease(
    ["<b>x</b>", "y"],
    Array.from({ length: 600 }, (_, k) => [hostile[k % 6], k % 3]),
    `[release]
title = "<script>alert(3)</script> & co"
description = "<img src=x onerror=alert(4)>"
publisher = "</script><script>alert(5)</script>"
[data]
source = "data.csv"
[privacy]
rho = 2
[attributes."<b>x</b>"]
values = [${values}]
[attributes.y]
integers = [0, 2]
[workload]
marginals = "<=2"
`,
  );
  const { page, problems, close } = await openPage(browser, join(folder, "index.html"));
  let alerts = 0;
  page.on("dialog", (dialog) => (++alerts, void dialog.dismiss()));
  assert.equal(await page.title(), "<script>alert(3)</script> & co");
  assert.equal(await page.textContent("h1"), "<script>alert(3)</script> & co");
  await show(page, { table: "<b>x</b>" });
  const labels = (await shownRows(page)).map((row) => row[0]);
  assert.deepEqual(labels, hostile);
  const drawn = await page.$$eval("#tables svg.plot text", (all) => all.map((t) => t.textContent));
  assert.ok(drawn.includes("שלום עולם"));
  assert.equal(await page.$$eval("main img, main script, main b", (all) => all.length), 0);
  // Each can be asked for by choosing it.
  const questions = page.locator("#questions");
  await questions.getByLabel("Add a condition").selectOption("<b>x</b>");
  const rows = await shownRows(page);
  for (const [k, label] of hostile.entries()) {
    const box = questions.locator(".check input").nth(k);
    await box.check();
    const [estimate] = await answerOf(page, "first");
    assert.ok(Math.abs(estimate - rows[k][1]) < 1e-6, label);
    await questions.locator(".check input").nth(k).uncheck();
  }
  assert.equal(alerts, 0);
  assert.deepEqual(problems, []);
  await close();
});

test("the page is a function of the measurements, and says nothing of the data", () => {
  const folder = temporaryFolder();
  const pages = ["a.html", "b.html"].map((name) => {
    residua("page", measurements(), "-o", join(folder, name));
    return readText(folder, name);
  });
  assert.equal(pages[0], pages[1]);
  assert.ok(!readText(index()).includes("data.csv"));
  // A release's own page differs in what its spec says only.
  const spec = join(release, "..", "spec.toml");
  residua("page", measurements(), "-o", join(folder, "c.html"), "--spec", spec);
  assert.equal(readText(folder, "c.html"), readText(index()));
});

test("tables that do not fit are left out, and named", async () => {
  const output = join(temporaryFolder(), "small.html");
  const bytes = statSync(index()).size - 60_000;
  const flags = ["-o", output, "--page-size", String(bytes / 1e6), "--json"];
  const { left_out } = JSON.parse(residua("page", measurements(), ...flags));
  assert.ok(left_out.length > 0 && left_out[0].startsWith("age x "));
  assert.ok(statSync(output).size <= bytes);
  const { page, problems, close } = await openPage(browser, output);
  assert.ok((await page.textContent("#overview .file-box")).includes(left_out[0]));
  await show(page, { table: "age" });
  assert.equal((await shownRows(page)).length, 60);
  assert.deepEqual(problems, []);
  await close();
});

test("a release of 21 million cells opens", async () => {
  const size = 276; // 276^3 is 21 million
  const rows = Array.from({ length: 1000 }, (_, k) => [k % size, (k * 7) % size, (k * 31) % size]);
  const axes = ["a", "b", "c"].map((name) => `[attributes.${name}]\nintegers = [0, ${size - 1}]\n`);
  const folder = temporaryFolder();
  writeFileSync(join(folder, "data.csv"), ["a,b,c", ...rows.map(String)].join("\n") + "\n");
  writeFileSync(
    join(folder, "spec.toml"),
    `[data]\nsource = "data.csv"\n[privacy]\nrho = 1\n${axes.join("")}[workload]\nmarginals = "3"\n`,
  );
  const file = (name) => join(folder, name);
  residua("plan", file("spec.toml"), "-o", file("plan.json"));
  residua("measure", file("plan.json"), "-o", file("measurements.parquet"));
  residua("page", file("measurements.parquet"), "-o", file("page.html"));
  assert.ok(statSync(file("page.html")).size <= 20e6);
  const { page, problems, close } = await openPage(browser, file("page.html"));
  assert.match(await page.textContent("#overview .file-box"), /a x b x c/);
  await page.evaluate(() => (location.hash = "#question=a%3D3..40+b%3D7"));
  await page.waitForSelector("[data-answer=first]");
  const [answer] = JSON.parse(
    residua("query", file("measurements.parquet"), "--json", "a=3..40 b=7"),
  ).answers;
  await page.waitForFunction(
    (want) => document.querySelector("[data-answer=first] [data-value]")?.dataset.value === want,
    String(answer.estimate),
  );
  assert.deepEqual(problems, []);
  await close();
});

test("contrast, names and the keyboard are as readers need them", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await openPage(browser, index(), {
      colorScheme,
      hash: "#table=district&table=age",
    });
    assert.deepEqual(await page.evaluate(lowContrasts), [], colorScheme);
    await close();
  }
  const { page, close } = await openPage(browser, index(), { hash: "#table=sex" });
  // Every control has a name, every picture too, and the numbers beside it are a table.
  assert.deepEqual(await unnamedControls(page), []);
  assert.equal(await page.getByRole("img").count(), 1);
  assert.match(await page.getByRole("img").getAttribute("aria-label"), /sex\. 2 answers/);
  assert.equal(await page.getByRole("table").count(), 2);
  // Sorting by keyboard, and the focus stays.
  const sorter = page.getByRole("button", { name: "Estimate" });
  await sorter.focus();
  await page.keyboard.press("Enter");
  const estimates = (await shownRows(page)).map((row) => row[1]);
  assert.ok(estimates[0] >= estimates[1]);
  const header = page.locator("#tables th[aria-sort=descending]");
  assert.equal(await header.count(), 1);
  assert.ok(await header.locator("button").evaluate((one) => one === document.activeElement));
  await close();
});

test("narrow screens need no sideways scrolling, and printing shows the numbers", async () => {
  const { page, close } = await openPage(browser, index(), {
    viewport: { width: 360, height: 740 },
    hash: "#table=age&table=district",
  });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `${width} pixels wide`);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#tables .controls").isVisible(), false);
  assert.equal(await page.locator("#tables .numbers table").isVisible(), true);
  // Paper is white, whatever the screen is.
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), "rgb(22, 32, 43)");
  await close();
});

test("numbers and pictures are downloaded as files of their own", async () => {
  const { page, problems, close } = await openPage(browser, index(), {
    hash: "#table=district&level=0+district",
    acceptDownloads: true,
  });
  const download = async (name) => {
    const waiting = page.waitForEvent("download");
    await page.locator("#tables").getByRole("button", { name }).click();
    const file = await waiting;
    return [file.suggestedFilename(), readFileSync(await file.path())];
  };
  const [csvName, csv] = await download("CSV");
  assert.equal(csvName, "district.csv");
  const [head, ...rows] = parseCsv(csv.toString());
  assert.deepEqual(head, ["district", "estimate", "std_dev", "ci_lower", "ci_upper"]);
  const want = programRows(measurements(), "district").slice(0, 5);
  assert.deepEqual(
    rows.map((row) => [row[0], ...row.slice(1).map(Number)]),
    want,
  );
  const [svgName, svg] = await download("SVG");
  assert.equal(svgName, "district.svg");
  assert.match(svg.toString(), /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.doesNotMatch(svg.toString(), /var\(/);
  const [pngName, png] = await download("PNG");
  assert.equal(pngName, "district.png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.deepEqual(problems, []);
  await close();
});
