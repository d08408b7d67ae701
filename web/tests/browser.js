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
    reducedMotion: "reduce", // nothing is dropped on a page that moves
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

// The contrast of WCAG 2 of a text against what is behind it.
export function lowContrasts() {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => {
      const part = c / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const low = [];
  for (const element of document.querySelectorAll("#page *:not(svg *)")) {
    const hasText = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== "");
    if (!hasText || element.closest(".skip, [hidden], :disabled")) continue;
    let behind = element;
    let ground = "rgba(0, 0, 0, 0)";
    while (behind !== null && channels(ground)[3] === 0) {
      ground = getComputedStyle(behind).backgroundColor;
      behind = behind.parentElement;
    }
    const [light, dark] = [getComputedStyle(element).color, ground]
      .map(luminance)
      .sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) low.push(`${element.tagName} ${element.className} ${contrast.toFixed(2)}`);
  }
  return low;
}

// Controls and pictures without a name.
export const unnamedControls = (page) =>
  page.$$eval("select, input, textarea, button, svg[role=img]", (all) =>
    all
      .filter(
        (one) =>
          !(one.labels?.length > 0 || one.textContent.trim() || one.getAttribute("aria-label")),
      )
      .map((one) => one.outerHTML.slice(0, 80)),
  );

// Drops files and folders of the disk on the page, as a person does.
export async function dropFiles(page, ...files) {
  const session = await page.context().newCDPSession(page);
  const at = { x: 200, y: 200 };
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await session.send("Input.dispatchDragEvent", { type, ...at, data });
  }
  await session.detach();
}
