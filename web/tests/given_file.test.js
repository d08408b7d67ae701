// Tables that did not fit into a page are read from the measurement file when it is given to it.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dropFiles, lowContrasts, openPage, startBrowser, unnamedControls } from "./browser.js";
import { answerOf, numbersOf, programRows, questionOf, show, shownRows } from "./reader_page.js";
import { makeRelease, peopleRelease, randomNumbers, residua, temporaryFolder } from "./release.js";

let browser;
let measurements;
let folder;
let small; // a page without the largest tables, which are left out
before(async () => {
  browser = await startBrowser();
  measurements = join(peopleRelease(), "measurements.parquet");
  folder = temporaryFolder();
  small = smallPage(measurements, "small.html");
});
after(() => browser.close());

// The page of the measurements without its largest tables.
function smallPage(file, name, numLess = 45_000) {
  const output = join(folder, name);
  const pageOf = (...flags) => JSON.parse(residua("page", file, "-o", output, "--json", ...flags));
  pageOf();
  const megabytes = (statSync(output).size - numLess) / 1e6;
  const { left_out } = pageOf("--page-size", String(megabytes));
  assert.ok(left_out.length > 1, String(left_out));
  return { file: output, leftOut: left_out };
}

const namesOf = (table) => table.split(" x ");
const goTo = (page, parts) =>
  page.evaluate((hash) => (location.hash = hash), `#${new URLSearchParams(parts)}`);
const isOpen = (page) => page.waitForSelector("#overview .file-status:text-matches('is open')");
const problemOf = async (page) => {
  await page.waitForSelector("#overview [role=alert]");
  return page.textContent("#overview [role=alert]");
};
// What is read of the file is there.
const isRead = (page) => page.waitForFunction(() => document.querySelector(".reading") === null);

test("a hundred questions on tables that were left out have the program's answers", async () => {
  const random = randomNumbers(17);
  const questions = Array.from({ length: 100 }, (_, k) =>
    questionOf(random, namesOf(small.leftOut[k % small.leftOut.length])),
  );
  const { answers } = JSON.parse(residua("query", measurements, "--json", ...questions));
  const { page, problems, close } = await openPage(browser, small.file);
  // Before, the page says what is missing, and that it is not the question's fault.
  await goTo(page, { question: questions[0] });
  const box = page.locator("#questions .file-box");
  await box.waitFor();
  assert.match(await box.textContent(), /did not fit into this page/);
  await dropFiles(page, measurements);
  await isOpen(page);
  for (const [k, question] of questions.entries()) {
    await goTo(page, { question });
    await page.waitForFunction(
      (text) =>
        document.querySelector("#question-first")?.value === text &&
        document.querySelector("#questions [data-answer=first]") !== null &&
        document.querySelector(".reading") === null,
      question,
    );
    assert.deepEqual(await answerOf(page, "first"), numbersOf(answers[k]), question);
  }
  assert.deepEqual(problems, []);
  await close();
});

test("tables of the file, and comparisons across page and file, are the program's", async () => {
  const { page, problems, close } = await openPage(browser, small.file);
  await dropFiles(page, measurements);
  await isOpen(page);
  for (const table of [small.leftOut.at(-1), small.leftOut.at(-2), small.leftOut[0]]) {
    const names = namesOf(table);
    await show(page, names.map((name) => ["table", name]).concat([["show", "cells"]]));
    await page.waitForSelector("#tables .numbers tbody tr");
    await isRead(page);
    const more = page.getByRole("button", { name: /^Show all/ });
    if (await more.count()) await more.click();
    const labels = await shownRows(page);
    const want = new Map(
      programRows(measurements, names.join(","), "--answers", "cells").map((row) => [
        row.slice(0, names.length).join("|"),
        row,
      ]),
    );
    assert.ok(labels.length > 0);
    for (const row of labels) {
      assert.deepEqual(row, want.get(row.slice(0, names.length).join("|")), table);
    }
  }
  const [question, second] = [
    "sex=female",
    `${questionOf(randomNumbers(3), namesOf(small.leftOut[0]))}`,
  ];
  const both = JSON.parse(
    residua("query", measurements, "--covariance", "--json", question, second),
  );
  await goTo(page, { question, second });
  await page.waitForSelector("[data-answer=difference]");
  for (const which of ["first", "second", "difference", "sum"]) {
    assert.deepEqual(await answerOf(page, which), numbersOf(both[which]), which);
  }
  assert.deepEqual(problems, []);
  await close();
});

test("the file is chosen with the keyboard, and only what is needed of it is read", async () => {
  // Tables with row groups of their own.
  const names = ["a", "b", "c", "d"];
  const rows = Array.from({ length: 500 }, (_, k) => [k % 300, (7 * k) % 300, k % 11, k % 13]);
  const axes = names.map((name) => `[attributes.${name}]\nintegers = [0, 299]\n`).join("");
  const spec = `[data]\nsource = "data.csv"\n[privacy]\nrho = 1\n${axes}[workload]\nmarginals = "2"\n`;
  const pairs = join(makeRelease(names, rows, spec), "measurements.parquet");
  const { file, leftOut } = smallPage(pairs, "pairs.html", 600_000);
  const { page, problems, close } = await openPage(browser, file, {
    hash: `#${new URLSearchParams(namesOf(leftOut[0]).map((name) => ["table", name]))}`,
  });
  assert.deepEqual(await unnamedControls(page), []);
  assert.deepEqual(await page.evaluate(lowContrasts), []);
  await page.evaluate(() => {
    const { slice } = Blob.prototype;
    globalThis.numRead = 0;
    Blob.prototype.slice = function (from, to, ...rest) {
      const part = slice.call(this, from, to, ...rest);
      globalThis.numRead += part.size;
      return part;
    };
  });
  const tables = page.locator("#tables");
  const choose = tables.getByRole("button", { name: "Choose measurements.parquet" });
  const chooser = page.waitForEvent("filechooser");
  await choose.press("Enter");
  await (await chooser).setFiles(pairs);
  await isOpen(page);
  await page.waitForSelector("#tables .numbers tbody tr");
  const numRead = await page.evaluate(() => globalThis.numRead);
  assert.ok(numRead < statSync(pairs).size / 2, `${numRead} of ${statSync(pairs).size} bytes`);
  const want = programRows(pairs, namesOf(leftOut[0]).join(",")).slice(0, 250);
  assert.deepEqual(await shownRows(page), want);
  assert.deepEqual(problems, []);
  await close();
});

test("a file that is not the page's is refused in one line, and the page stays usable", async () => {
  const spec = (seed) => `[data]\nsource = "data.csv"\n[privacy]\nrho = ${seed}
[attributes.a]\nintegers = [0, 9]\n[workload]\nmarginals = "1"\n`;
  const other = join(makeRelease(["a"], [[1], [2]], spec(1)), "measurements.parquet");
  const bytes = readFileSync(measurements);
  const write = (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const changedAt = (place) => {
    const changed = Buffer.from(bytes);
    changed[place] ^= 1;
    return changed;
  };
  // The same plan, measured again.
  const again = join(folder, "again.parquet");
  const copy = join(folder, "people.csv");
  copyFileSync(join(measurements, "../../data.csv"), copy);
  residua("measure", join(measurements, "../plan.json"), "-o", again, "--data", copy);
  mkdirSync(join(folder, "a folder"));
  const sample = join(import.meta.dirname, "../../tests/samples/0.1.0/wide.parquet");
  const cases = [
    [[write("data.csv", "a,b\n1,2\n")], /data\.csv is not a measurement file/],
    [[write("none.parquet", "")], /none\.parquet is empty/],
    [[write("tiny.parquet", "PAR1")], /tiny\.parquet is not whole/],
    [[write("cut.parquet", bytes.subarray(0, bytes.length - 1000))], /cut\.parquet is not whole/],
    [
      [write("footer.parquet", changedAt(bytes.length - 3000))],
      /footer\.parquet (was changed|is not whole)/,
    ],
    [
      [
        write(
          "huge.parquet",
          Buffer.concat([
            bytes.subarray(0, 999),
            Buffer.from([255, 255, 255, 127]),
            Buffer.from("PAR1"),
          ]),
        ),
      ],
      /huge\.parquet is not whole/,
    ],
    [[other], /measurements\.parquet belongs to another release/],
    [[sample], /wide\.parquet belongs to another release/],
    [[again], /again\.parquet was made with the same plan, but it is another measurement/],
    [[join(folder, "a folder")], /That is a folder/],
    [[measurements, other], /These are several files/],
  ];
  const { page, problems, close } = await openPage(browser, small.file);
  for (const [files, expected] of cases) {
    await page.evaluate(() => document.querySelector("#overview [role=alert]")?.remove());
    await dropFiles(page, ...files);
    const problem = await problemOf(page);
    assert.match(problem, expected);
    assert.ok(problem.length < 200, problem);
    await show(page, { table: "sex" });
    assert.equal((await shownRows(page)).length, 2);
  }
  // In German too, and the right file is taken after all of these.
  await page.getByRole("button", { name: "Deutsch" }).click();
  assert.match(await problemOf(page), /Das sind mehrere Dateien/);
  await page.getByRole("button", { name: "English" }).click();
  await dropFiles(page, measurements);
  await isOpen(page);
  assert.deepEqual(problems, []);
  await close();
});

test("rows that were changed, and a file that went away, are refused when they are read", async () => {
  const copy = join(folder, "measurements.parquet");
  const bytes = readFileSync(measurements);
  const footer = bytes.readUInt32LE(bytes.length - 8);
  bytes[bytes.length - 8 - footer - 2000] ^= 4;
  writeFileSync(copy, bytes);
  const { page, problems, close } = await openPage(browser, small.file, { hash: "#table=sex" });
  await dropFiles(page, copy);
  await isOpen(page);
  await goTo(
    page,
    namesOf(small.leftOut[0]).map((name) => ["table", name]),
  );
  assert.match(await problemOf(page), /^measurements.parquet was changed or is damaged/);
  await goTo(page, { table: "sex" });
  copyFileSync(measurements, copy);
  await dropFiles(page, copy);
  await isOpen(page);
  rmSync(copy);
  await goTo(page, { question: questionOf(randomNumbers(5), namesOf(small.leftOut[0])) });
  assert.match(await problemOf(page), /^measurements.parquet cannot be read/);
  await dropFiles(page, measurements);
  await isOpen(page);
  await page.waitForSelector("#questions [data-answer=first]");
  assert.deepEqual(problems, []);
  await close();
});

test("a page that has all tables needs no file, and says so", async () => {
  const whole = join(folder, "whole.html");
  residua("page", measurements, "-o", whole);
  const { page, close } = await openPage(browser, whole);
  assert.equal(await page.locator(".file-box").count(), 0);
  await dropFiles(page, measurements);
  assert.match(await problemOf(page), /It needs no file/);
  await close();
});

test("a page of format 1 says that its file cannot be read here", async () => {
  const sample = join(
    import.meta.dirname,
    "../../tests/samples/0.1.0/release/measurements.parquet",
  );
  const output = join(folder, "old.html");
  residua("page", sample, "-o", output);
  const size = statSync(output).size / 1e6;
  residua("page", sample, "-o", output, "--page-size", String(size - 1e-6));
  const { page, close } = await openPage(browser, output);
  assert.match(await page.textContent("#overview .file-box"), /its format is too old/);
  await dropFiles(page, sample);
  assert.match(await problemOf(page), /has format 1/);
  await close();
});
