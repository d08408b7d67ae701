// The reader's page.

import "./style.css";
import "./reader.css";
import { readAddress, writeAddress } from "./address";
import type { View } from "./address";
import { Core, NeedsFile } from "./core";
import { element, marked, snippet } from "./dom";
import { readFacts } from "./facts";
import type { Facts } from "./facts";
import { fileBox, fileStatus } from "./file_box";
import type { FileBoxContext, GivenFile } from "./file_box";
import { kUnreliable, Numbers } from "./format";
import { droppedFile, FileRefused } from "./given_file";
import type { FileProblem } from "./given_file";
import { languageChoice } from "./languages";
import { questionsSection } from "./questions";
import { emptySection, tablesSection } from "./tables";
import type { Context } from "./tables";
import { texts as allTexts } from "./texts";
import type { Language, Texts } from "./texts";

type SectionName = "tables" | "questions";

const kSections = ["overview", "tables", "questions", "variables", "use"] as const;

const paragraphs = (lines: string[]): HTMLElement[] =>
  lines.map((line) => element("p", {}, marked(line)));

const card = (title: string, ...children: HTMLElement[]): HTMLElement =>
  element("div", { class: "card" }, element("h3", {}, title), ...children);

function overview(context: FileBoxContext): HTMLElement {
  const { facts, texts, numbers } = context;
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
      ? element(
          "div",
          { id: "more-tables" },
          element("h3", {}, texts.file.title),
          fileBox(context, texts.leftOut(facts.numLeftOut, facts.leftOut)),
        )
      : fileStatus(context),
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
      `import pandas, residua\ntable = pandas.read_csv("tables/${name}.csv")\nrelease = residua.load("${facts.file.name}")`,
    ),
    element("h4", {}, texts.load.r),
    copyable(`table <- read.csv("tables/${name}.csv", check.names = FALSE)`),
    element("h4", {}, texts.load.sheet),
    element("p", {}, texts.load.sheetText),
    element("h4", {}, texts.load.shell),
    copyable(`residua tables ${facts.file.name} -o tables\nresidua verify ${facts.file.name}`),
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
    quantity: "",
    levels: {},
    question: "",
    second: null,
    confidence: facts.confidence,
  };
  let language: Language = navigator.language.startsWith("de") ? "de" : "en";
  let view = readAddress(location.hash, defaults);
  let core: Core | null = null;
  let given: GivenFile = { state: "none" };

  const boxContext = (): FileBoxContext => ({
    facts,
    texts: allTexts[language],
    numbers: new Numbers(language),
    given,
    onFile: (file) => void open(file),
  });
  const contextOf = (loaded: Core): Context => ({
    ...boxContext(),
    core: loaded,
    view,
    isDark: dark.matches,
    changed: (section) => {
      view.section = section;
      history.replaceState(null, "", writeAddress(view));
      drawSection(section);
    },
  });

  // One section again; what had the focus in it keeps it, by its place.
  function drawSection(section: SectionName): void {
    const old = document.getElementById(section);
    if (core === null || old === null) return;
    const made = makeSection(section, core);
    if (made === null) return;
    const fields = "select, input, button";
    const place = [...old.querySelectorAll(fields)].indexOf(document.activeElement as Element);
    old.replaceWith(made);
    if (place >= 0) (made.querySelectorAll(fields)[place] as HTMLElement | undefined)?.focus();
  }

  // Nothing if values of the file must be read first: then the section is drawn when they are.
  function makeSection(section: SectionName, loaded: Core): HTMLElement | null {
    const make = (): HTMLElement =>
      (section === "tables" ? tablesSection : questionsSection)(contextOf(loaded));
    try {
      return make();
    } catch (error) {
      if (!(error instanceof NeedsFile)) throw error;
      const status = element("p", { class: "reading", role: "status" });
      const onPart = (part: number): void => {
        const percent = new Numbers(language).percent(Math.floor(part * 100) / 100);
        status.textContent = allTexts[language].file.reading(facts.file.name, percent);
        const shown = document.getElementById(section);
        shown?.querySelector(".reading")?.remove();
        shown?.append(status);
      };
      // When the section is in its place.
      queueMicrotask(() => onPart(0));
      loaded.read(make, onPart).then(
        () => drawSection(section),
        (refused: unknown) => {
          refuse(refused, given.state === "none" ? facts.file.name : given.name);
        },
      );
      return null;
    }
  }

  function refuse(refused: unknown, name: string): void {
    const problem: FileProblem = refused instanceof FileRefused ? refused.problem : "unreadable";
    given = { state: "refused", name, problem };
    draw();
    document.querySelector("#overview [role=alert]")?.scrollIntoView({ block: "center" });
  }

  async function open(file: File): Promise<void> {
    if (core === null) return;
    const { name } = file;
    given = { state: "opening", name };
    try {
      if (facts.numLeftOut === 0) throw new FileRefused("notNeeded");
      await core.open(file);
      given = { state: "open", name };
      draw();
    } catch (refused) {
      refuse(refused, name);
    }
  }

  function draw(): void {
    const texts = allTexts[language];
    const title = facts.title === "" ? texts.defaultTitle : facts.title;
    document.documentElement.lang = language;
    document.title = title;
    const main = element("main", {}, overview(boxContext()));
    if (core === null) {
      main.append(element("p", { class: "loading", role: "status" }, texts.loading));
    } else {
      main.append(
        makeSection("tables", core) ?? emptySection("tables", texts),
        makeSection("questions", core) ?? emptySection("questions", texts),
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
  // Files alone: a text that is dropped into a field goes there.
  const hasFiles = (event: DragEvent): boolean =>
    event.dataTransfer?.types.includes("Files") === true;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (facts.numLeftOut > 0) page.dataset["drop"] = allTexts[language].file.drop(facts.file.name);
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) delete page.dataset["drop"];
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    delete page.dataset["drop"];
    const dropped = droppedFile(event.dataTransfer);
    if (dropped instanceof File) {
      void open(dropped);
    } else {
      refuse(new FileRefused(dropped), "");
    }
  });
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
