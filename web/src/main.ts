// The reader's page.

import "./style.css";
import { readAddress, writeAddress } from "./address";
import type { View } from "./address";
import { Core } from "./core";
import { element, marked, snippet } from "./dom";
import { readFacts } from "./facts";
import type { Facts } from "./facts";
import { kUnreliable, Numbers } from "./format";
import { languageChoice } from "./languages";
import { questionsSection } from "./questions";
import { tablesSection } from "./tables";
import type { Context } from "./tables";
import { texts as allTexts } from "./texts";
import type { Language, Texts } from "./texts";

const kSections = ["overview", "tables", "questions", "variables", "use"] as const;

const paragraphs = (lines: string[]): HTMLElement[] =>
  lines.map((line) => element("p", {}, marked(line)));

const card = (title: string, ...children: HTMLElement[]): HTMLElement =>
  element("div", { class: "card" }, element("h3", {}, title), ...children);

function overview(facts: Facts, texts: Texts, numbers: Numbers): HTMLElement {
  const about: [string, string][] = [
    [texts.publishedBy, facts.publisher],
    [texts.date, facts.date],
    [texts.contact, facts.contact],
    [texts.licence, facts.licence],
    [texts.contents, texts.contentsValue(facts.numTables, facts.attributes.length)],
  ];
  const list = element("dl", { class: "about" });
  for (const [name, value] of about) {
    if (value === "") continue;
    list.append(element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, value)));
  }
  return element(
    "section",
    { id: "overview", "aria-label": texts.sections.overview },
    ...facts.description
      .split(/\n\s*\n/)
      .filter((text) => text.trim() !== "")
      .map((text) => element("p", { class: "lead", dir: "auto" }, text.trim())),
    list,
    facts.numLeftOut > 0
      ? element("p", { class: "warning" }, texts.leftOut(facts.numLeftOut, facts.leftOut))
      : null,
    element(
      "div",
      { class: "cards" },
      card(
        texts.privateTitle,
        ...paragraphs(texts.private(facts.privacy)),
        element(
          "details",
          {},
          element("summary", {}, texts.technical),
          ...paragraphs(texts.technicalText(facts.privacy)),
        ),
      ),
      element(
        "div",
        { class: "stack" },
        card(texts.exactTitle, ...paragraphs(texts.exact(facts, numbers.percent(kUnreliable)))),
        card(texts.rowTitle, ...paragraphs(texts.row(facts.privacy, facts.isQuery))),
      ),
    ),
  );
}

function variables(core: Core, facts: Facts, texts: Texts): HTMLElement {
  const list = element("dl", { class: "variables" });
  facts.attributes.forEach((about, k) => {
    const attribute = core.attributes[k];
    const words = {
      labels: attribute?.cells ?? [],
      groups: attribute?.groups.map((group) => group.name) ?? [],
    };
    list.append(
      element(
        "div",
        {},
        element("dt", {}, element("code", { dir: "auto" }, about.name)),
        element("dd", {}, marked(texts.describe(about, words))),
      ),
    );
  });
  return element(
    "section",
    { id: "variables", "aria-labelledby": "variables-title" },
    element("h2", { id: "variables-title" }, texts.sections.variables),
    element("p", { class: "intro" }, texts.variablesIntro),
    list,
  );
}

function use(facts: Facts, texts: Texts, title: string): HTMLElement {
  const copyable = (text: string): HTMLElement => snippet(text, texts.copy, texts.copied);
  const [first] = facts.attributes;
  const name = first?.name ?? "total";
  return element(
    "section",
    { id: "use", "aria-labelledby": "use-title" },
    element("h2", { id: "use-title" }, texts.sections.use),
    element("h3", {}, texts.citeTitle),
    copyable(texts.cite(facts, title)),
    element("p", {}, texts.citeView),
    element("h3", {}, texts.loadTitle),
    element("h4", {}, texts.load.python),
    copyable(
      `import pandas, residua\ntable = pandas.read_csv("tables/${name}.csv")\nrelease = residua.load("measurements.parquet")`,
    ),
    element("h4", {}, texts.load.r),
    copyable(`table <- read.csv("tables/${name}.csv", check.names = FALSE)`),
    element("h4", {}, texts.load.sheet),
    element("p", {}, texts.load.sheetText),
    element("h4", {}, texts.load.shell),
    copyable("residua tables measurements.parquet -o tables\nresidua verify measurements.parquet"),
    element("h3", {}, texts.digest),
    copyable(facts.planDigest),
    element("footer", {}, texts.madeWith(facts.version)),
  );
}

function header(
  texts: Texts,
  title: string,
  language: Language,
  onLanguage: (language: Language) => void,
): HTMLElement {
  return element(
    "header",
    {},
    element("a", { class: "skip", href: "#tables-title" }, texts.skip),
    element(
      "div",
      { class: "bar" },
      element("h1", { dir: "auto" }, title),
      languageChoice(language, onLanguage),
    ),
    element(
      "nav",
      { "aria-label": texts.contents },
      ...kSections.map((name) =>
        element(
          "a",
          {
            href: `#${name}`,
            click: (event) => {
              event.preventDefault();
              document.getElementById(name)?.scrollIntoView();
            },
          },
          texts.sections[name],
        ),
      ),
    ),
  );
}

function start(): void {
  const facts = readFacts();
  const page = document.getElementById("page") as HTMLElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const defaults: View = {
    section: "",
    table: facts.attributes.slice(0, 1).map((attribute) => attribute.name),
    view: "",
    levels: {},
    question: "",
    second: null,
    confidence: facts.confidence,
  };
  let language: Language = navigator.language.startsWith("de") ? "de" : "en";
  let view = readAddress(location.hash, defaults);
  let core: Core | null = null;

  const contextOf = (loaded: Core): Context => ({
    core: loaded,
    facts,
    texts: allTexts[language],
    numbers: new Numbers(language),
    view,
    isDark: dark.matches,
    changed: (section) => {
      view.section = section;
      history.replaceState(null, "", writeAddress(view));
      drawSection(section);
    },
  });

  // One section again; what had the focus in it keeps it, by its place.
  function drawSection(section: string): void {
    const old = document.getElementById(section);
    if (core === null || old === null) return;
    const fields = "select, input, button";
    const place = [...old.querySelectorAll(fields)].indexOf(document.activeElement as Element);
    const made = (section === "tables" ? tablesSection : questionsSection)(contextOf(core));
    old.replaceWith(made);
    if (place >= 0) (made.querySelectorAll(fields)[place] as HTMLElement | undefined)?.focus();
  }

  function draw(): void {
    const texts = allTexts[language];
    const title = facts.title === "" ? texts.defaultTitle : facts.title;
    document.documentElement.lang = language;
    document.title = title;
    const main = element("main", {}, overview(facts, texts, new Numbers(language)));
    if (core === null) {
      main.append(element("p", { class: "loading", role: "status" }, texts.loading));
    } else {
      const context = contextOf(core);
      main.append(
        tablesSection(context),
        questionsSection(context),
        variables(core, facts, texts),
        use(facts, texts, title),
      );
    }
    const chosen = (other: Language): void => {
      language = other;
      draw();
    };
    page.replaceChildren(header(texts, title, language, chosen), main);
  }

  draw();
  dark.addEventListener("change", () => {
    drawSection("tables");
    drawSection("questions");
  });
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    view = readAddress(location.hash, defaults);
    draw();
    document.getElementById(view.section)?.scrollIntoView();
  });
  Core.start().then(
    (loaded) => {
      core = loaded;
      draw();
      if (view.section !== "") document.getElementById(view.section)?.scrollIntoView();
      page.dataset["ready"] = "yes";
    },
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      page
        .querySelector(".loading")
        ?.replaceWith(
          element("p", { class: "warning", role: "alert" }, allTexts[language].failed(message)),
        );
    },
  );
}

start();
