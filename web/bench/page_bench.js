// Sizes and times of the pages, as docs/benchmarks.md has them: node bench/page_bench.js in web/.
//   node bench/page_bench.js reader | planner | cells | file [MEASUREMENTS]
// Each time is taken several times: the fastest and the median.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { dropFiles, openPage, startBrowser } from "../tests/browser.js";
import { residua, temporaryFolder } from "../tests/release.js";

const root = resolve("..");
const megabytes = (file) => `${(statSync(file).size / 1e6).toFixed(2)} MB`;
const print = (...cells) => console.log(`| ${cells.join(" | ")} |`);
const browser = await startBrowser();

function spread(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const shown = (ms) =>
    ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return `${shown(sorted[0])}, ${shown(sorted[Math.floor(sorted.length / 2)])}`;
}

async function repeated(count, run) {
  const times = [];
  for (let k = 0; k < count; ++k) times.push(await run(k));
  return times;
}

const firstPaint = (page) =>
  page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
const sinceStart = (page) => page.evaluate(() => performance.now());

async function opened(file) {
  const { page, close } = await openPage(browser, file);
  const times = [await firstPaint(page), await sinceStart(page)];
  await close();
  return times;
}

// A change of the address, until the page has drawn what it shows.
const shownIn = (page, parts) =>
  page.evaluate(
    async (hash) => {
      const start = performance.now();
      const drawn = new Promise((done) =>
        addEventListener("hashchange", () => requestAnimationFrame(() => setTimeout(done)), {
          once: true,
        }),
      );
      location.hash = hash;
      await drawn;
      return performance.now() - start;
    },
    `#${new URLSearchParams(parts)}`,
  );

// The demo's people with tables of up to three attributes.
async function reader() {
  const folder = temporaryFolder();
  const people = execFileSync("python3", [`${root}/examples/make_people.py`, "200000"], {
    maxBuffer: 1e9,
  });
  writeFileSync(join(folder, "people.csv"), people);
  const spec = readFileSync(`${root}/examples/people.toml`, "utf8");
  writeFileSync(join(folder, "people.toml"), spec.replace(/marginals = .*/, 'marginals = "<=3"'));
  residua("release", join(folder, "people.toml"), "-o", join(folder, "release"), "--yes");
  const file = join(folder, "release", "index.html");
  print("the page without a release, `web/dist/reader.html`", megabytes("dist/reader.html"));
  print("of that the core as WebAssembly, compressed", megabytes("core/reader.wasm.gz"));
  print("the demo's page", megabytes(file));
  const starts = await repeated(9, () => opened(file));
  print("first paint", spread(starts.map(([paint]) => paint)));
  print("until tables and questions are shown", spread(starts.map(([, ready]) => ready)));
  const { page, close } = await openPage(browser, file);
  const ask = (k) => shownIn(page, { question: `age=${k}..${k + 20} sex=female` });
  print("a question, until all is drawn again", spread(await repeated(25, ask)));
  const attributes = ["age", "district", "education", "occupation"];
  const table = (k) => shownIn(page, { table: attributes[k % attributes.length] });
  print("another table, until all is drawn again", spread(await repeated(24, table)));
  await close();
}

// Moves of the slider with Adult's sizes and all tables of up to three attributes.
async function planner() {
  const folder = temporaryFolder();
  const sizes = [85, 9, 100, 16, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42];
  const attributes = sizes.map((size, k) => `[attributes.a${k}]\nsize = ${size}\n`).join("");
  const budget = "[privacy]\nepsilon = 1\ndelta = 1e-9\n";
  writeFileSync(
    join(folder, "adult.toml"),
    `${budget}${attributes}[workload]\nmarginals = "<=3"\n`,
  );
  const file = join(folder, "adult.html");
  residua("explore", join(folder, "adult.toml"), "-o", file, "--no-open");
  print("the page, `adult.html`", megabytes(file));
  print("of that the core as WebAssembly, compressed", megabytes("core/planner.wasm.gz"));
  const starts = await repeated(5, () => opened(file));
  print("first paint", spread(starts.map(([paint]) => paint)));
  const { page, close } = await openPage(browser, file);
  await page.waitForFunction(() => Number(document.querySelector("#page").dataset.answers) > 0);
  await page.focus("#slider");
  const move = async () => {
    const before = await page.getAttribute("#page", "data-answers");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(
      (old) => document.querySelector("#page").dataset.answers !== old,
      before,
    );
    return Number(await page.getAttribute("#page", "data-milliseconds"));
  };
  print("a move of the slider", spread(await repeated(25, move)));
  await close();
}

function measured(sizes, marginals) {
  const folder = temporaryFolder();
  const names = sizes.map((_, k) => `a${k}`);
  const rows = Array.from({ length: 1000 }, (_, r) =>
    sizes.map((size, k) => (r * (7 + 4 * k)) % size).join(","),
  );
  writeFileSync(join(folder, "data.csv"), [names.join(","), ...rows].join("\n") + "\n");
  const axes = sizes.map((size, k) => `[attributes.a${k}]\nintegers = [0, ${size - 1}]\n`);
  writeFileSync(
    join(folder, "spec.toml"),
    `[data]\nsource = "data.csv"\n[privacy]\nrho = 1\n${axes.join("")}[workload]\nmarginals = "${marginals}"\n`,
  );
  residua("plan", join(folder, "spec.toml"), "-o", join(folder, "plan.json"));
  const file = join(folder, "measurements.parquet");
  residua("measure", join(folder, "plan.json"), "-o", file);
  return file;
}

// The resident memory of the browser's processes that show pages, in MB.
function rendererMegabytes() {
  const lines = execFileSync("ps", ["-eo", "rss,args"], { encoding: "utf8" }).split("\n");
  const pages = lines.filter((line) => line.includes("--type=renderer"));
  return Math.max(...pages.map((line) => parseInt(line, 10))) / 1000;
}

// A page of 20 MB, and the file that has the rest.
async function fileOf(measurements, question) {
  const folder = temporaryFolder();
  const file = join(folder, "page.html");
  residua("page", measurements, "-o", file);
  print("the measurement file", megabytes(measurements));
  print("the page", megabytes(file));
  const starts = await repeated(3, () => opened(file));
  print("first paint", spread(starts.map(([paint]) => paint)));
  print("until the page is ready", spread(starts.map(([, ready]) => ready)));
  const answered = [];
  const openTimes = [];
  let megabytesHeld = 0;
  for (let k = 0; k < 3; ++k) {
    const { page, close } = await openPage(browser, file);
    const start = Date.now();
    await dropFiles(page, measurements);
    await page.waitForSelector("#overview .file-status:text-matches('is open')");
    openTimes.push(Date.now() - start);
    await page.evaluate((hash) => (location.hash = hash), `#${new URLSearchParams({ question })}`);
    await page.waitForFunction(
      (text) =>
        document.querySelector("#question-first")?.value === text &&
        document.querySelector("#questions [data-answer=first]") !== null &&
        document.querySelector(".reading") === null,
      question,
    );
    answered.push(Date.now() - start);
    megabytesHeld = Math.max(megabytesHeld, rendererMegabytes());
    await close();
  }
  print("from the drop until the file is open", spread(openTimes));
  print(`from the drop until \`${question}\` is answered`, spread(answered));
  print("memory of the tab then", `${Math.round(megabytesHeld)} MB`);
}

const kJobs = {
  reader,
  planner,
  cells: () => fileOf(measured([276, 276, 276], "3"), "a0=3..40 a1=7 a2=9"),
  file: () => {
    const given = process.argv[3];
    const sizes = Array.from({ length: 10 }, () => 110);
    return fileOf(
      given === undefined ? measured(sizes, "<=3") : resolve(given),
      process.argv[4] ?? "a0=3..40 a1=7 a2=9",
    );
  },
};
const chosen = process.argv[2];
for (const [name, job] of Object.entries(kJobs)) {
  if (chosen !== undefined && chosen !== name) continue;
  console.log(`\n${name}: fastest, median`);
  await job();
}
await browser.close();
