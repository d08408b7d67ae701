// Debian's Chromium, without a network.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export async function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`${executablePath} is missing; run scripts/setup.sh web`);
  }
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

// Opens a page from the disk and waits until it is ready. `problems` collects what the console, the
// policy and the network complain of: every request but the file itself is one.
export async function openPage(browser, file, { hash = "", ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    offline: true,
    locale: "en-GB",
    ...options,
  });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|blob):/.test(request.url())) problems.push(`request of ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForSelector("#page[data-ready]", { timeout: 60_000 });
  return { page, problems, close: () => context.close() };
}
