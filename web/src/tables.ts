// The section of tables: the choice, the picture, and the numbers beside it.

import type { View } from "./address";
import { chartKind, drawChart } from "./charts";
import { IsLeftOut, IsTooLarge, NeedsFile } from "./core";
import type { Core } from "./core";
import { button, choice, copyButton, element, snippet } from "./dom";
import { saveCsv, savePng, saveSvg } from "./download";
import { fileBox } from "./file_box";
import type { FileBoxContext } from "./file_box";
import { maxLevel, showTable, viewsOf } from "./shown_table";
import type { Row, ShownTable, ViewName } from "./shown_table";
import type { Texts } from "./texts";

export interface Context extends FileBoxContext {
  core: Core;
  view: View;
  isDark: boolean;
  changed: (section: "tables" | "questions") => void; // the view changed: show it, and its address
}

export const kConfidences = [0.8, 0.9, 0.95, 0.99];

export function confidenceChoice(context: Context, section: "tables" | "questions"): HTMLElement {
  const { texts, numbers, view } = context;
  const all = [...new Set([...kConfidences, view.confidence])].sort((a, b) => a - b);
  return choice(
    texts.confidence,
    all.map((value) => [String(value), numbers.percent(value)]),
    String(view.confidence),
    (value) => {
      view.confidence = Number(value);
      context.changed(section);
    },
  );
}

export const quotedForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const sorted = (set: number[]): number[] => [...set].sort((a, b) => a - b);

// The names of the view as indices, as far as they were measured together.
function chosenSet(core: Core, names: string[]): number[] {
  const chosen: number[] = [];
  for (const name of names) {
    const index = core.attributes.findIndex((attribute) => attribute.name === name);
    if (index >= 0 && !chosen.includes(index) && core.isMeasured([...chosen, index])) {
      chosen.push(index);
    }
  }
  return chosen;
}

function attributeChoices(context: Context, chosen: number[]): HTMLElement[] {
  const { core, texts, view } = context;
  const fields: HTMLElement[] = [];
  for (let k = 0; k <= Math.min(2, chosen.length); ++k) {
    const before = chosen.slice(0, k);
    const possible = core.attributes
      .map((_, i) => i)
      .filter((i) => !before.includes(i) && core.isMeasured([...before, i]));
    if (possible.length === 0) break;
    fields.push(
      choice(
        texts.attributeChoice[k] ?? "",
        [
          ["", k === 0 ? texts.total : texts.none],
          ...possible.map((i): [string, string] => {
            const name = core.attributes[i]?.name ?? "";
            const isAtHand = core.isAtHand([...before, i]);
            return [String(i), isAtHand ? name : texts.file.notInPage(name)];
          }),
        ],
        chosen[k] === undefined ? "" : String(chosen[k]),
        (value) => {
          const next = value === "" ? before : [...before, Number(value)];
          // What was chosen after it stays if it can.
          for (const i of value === "" ? [] : chosen.slice(k + 1)) {
            if (!next.includes(i) && core.isMeasured([...next, i])) next.push(i);
          }
          view.table = next.map((i) => core.attributes[i]?.name ?? "");
          context.changed("tables");
        },
      ),
    );
  }
  return fields;
}

type Column = "estimate" | "std_dev" | "ci_lower" | "ci_upper" | "reliability";
const kColumns: Column[] = ["estimate", "std_dev", "ci_lower", "ci_upper", "reliability"];
const kRowsAtFirst = 250;

// The numbers, which are also the picture's text alternative. Headers sort.
function numbersTable(context: Context, table: ShownTable, caption: string): HTMLElement {
  const { texts, numbers } = context;
  let order: { by: Column | number; down: boolean } | null = null;
  let limit = kRowsAtFirst;
  const holder = element("div", { class: "numbers" });
  const compare = (by: Column | number, a: Row, b: Row): number => {
    if (typeof by === "number") return (a.places[by] ?? 0) - (b.places[by] ?? 0);
    if (by === "reliability") return Number(a.unreliable) - Number(b.unreliable);
    return a[by] - b[by];
  };
  const draw = (focus: Column | number | null): void => {
    const rows = [...table.rows];
    if (order !== null) {
      const { by, down } = order;
      rows.sort((a, b) => (down ? -1 : 1) * compare(by, a, b));
    }
    const header = (by: Column | number, name: string, kind: string): HTMLElement => {
      const state = order?.by !== by ? "none" : order.down ? "descending" : "ascending";
      const arrow = { none: "", descending: " ▾", ascending: " ▴" }[state];
      const sorter = element(
        "button",
        {
          type: "button",
          class: "sorter",
          title: texts.sortBy(name),
          click: () => {
            const isNumber = typeof by === "string";
            order = order?.by === by ? { by, down: !order.down } : { by, down: isNumber };
            draw(by);
          },
        },
        element("span", { dir: "auto" }, name),
        element("span", { "aria-hidden": "true" }, arrow),
      );
      if (by === focus) sorter.dataset["focus"] = "yes";
      return element("th", { scope: "col", class: kind, "aria-sort": state }, sorter);
    };
    const body = element("tbody");
    for (const row of rows.slice(0, limit)) {
      body.append(
        element(
          "tr",
          row.unreliable ? { class: "unreliable" } : {},
          ...row.labels.map((label, k) =>
            k === 0
              ? element("th", { scope: "row", dir: "auto" }, label)
              : element("td", { dir: "auto", class: "label" }, label),
          ),
          element(
            "td",
            { class: "number", "data-value": row.estimate },
            numbers.estimate(row.estimate, row.std_dev),
          ),
          element(
            "td",
            { class: "number", "data-value": row.std_dev },
            numbers.stdDev(row.std_dev),
          ),
          element(
            "td",
            { class: "number", "data-value": row.ci_lower },
            numbers.estimate(row.ci_lower, row.std_dev),
          ),
          element(
            "td",
            { class: "number", "data-value": row.ci_upper },
            numbers.estimate(row.ci_upper, row.std_dev),
          ),
          element("td", { class: "word" }, row.unreliable ? texts.unreliable : texts.reliable),
        ),
      );
    }
    const count = numbers.count(rows.length);
    holder.replaceChildren(
      element(
        "div",
        {
          class: "scroller",
          tabindex: 0,
          role: "region",
          "aria-label": texts.numbers,
        },
        element(
          "table",
          {},
          element("caption", {}, caption),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              ...table.names.map((name, k) => header(k, name, "label")),
              ...kColumns.map((by) =>
                header(by, texts.columns[by], by === "reliability" ? "word" : "number"),
              ),
            ),
          ),
          body,
        ),
      ),
      rows.length > limit
        ? element(
            "p",
            { class: "more" },
            `${texts.rowsShown(numbers.count(limit), count)} `,
            button(texts.showAll(count), () => {
              limit = Infinity;
              draw(null);
            }),
          )
        : "",
    );
    holder.querySelector<HTMLElement>("[data-focus]")?.focus();
  };
  draw(null);
  return holder;
}

function legendOf(context: Context, table: ShownTable): string {
  const { legend } = context.texts;
  const marks = table.numUnreliable > 0;
  switch (chartKind(table)) {
    case "bars":
      return [legend.bars, marks ? legend.unreliableBars : ""].join(" ");
    case "curve":
      return [legend.curve, marks ? legend.unreliableCurve : ""].join(" ");
    case "curves":
      return legend.curve;
    case "heatmap":
      return [legend.heatmap, marks ? legend.unreliableCells : ""].join(" ");
    case "multiples":
      return [
        legend.multiples(table.names[2] ?? ""),
        legend.heatmap,
        marks ? legend.unreliableCells : "",
      ].join(" ");
    case "none":
      return legend.tooLarge(context.numbers.count(table.rows.length));
  }
}

function totalFigure(context: Context, row: Row): HTMLElement {
  const { texts, numbers, view } = context;
  const shown = (value: number): string => numbers.estimate(value, row.std_dev);
  return element(
    "div",
    { class: "total" },
    element("p", { class: "figure" }, shown(row.estimate)),
    element(
      "p",
      {},
      texts.totalSentence(
        shown(row.estimate),
        shown(row.ci_lower),
        shown(row.ci_upper),
        numbers.percent(view.confidence),
      ),
    ),
  );
}

// The section as it is while there is no table to show.
export function emptySection(name: "tables" | "questions", texts: Texts): HTMLElement {
  return element(
    "section",
    { id: name, "aria-labelledby": `${name}-title` },
    element("h2", { id: `${name}-title` }, texts.sections[name]),
    element("p", { class: "intro" }, name === "tables" ? texts.tablesIntro : texts.questionsIntro),
  );
}

// Why a table cannot be shown, and what its reader can do.
function insteadOf(context: Context, set: number[], error: unknown): HTMLElement {
  const { core, facts, texts, numbers } = context;
  if (error instanceof IsLeftOut) return fileBox(context, texts.file.tableLeftOut(error.table));
  if (!(error instanceof IsTooLarge)) {
    const message = error instanceof Error ? error.message : String(error);
    return element("p", { class: "warning", dir: "auto" }, message);
  }
  const names = set.map((i) => core.attributes[i]?.name ?? "").join(",");
  const command = `residua tables ${facts.file.name} --table ${quotedForShell(names)} -o tables`;
  return element(
    "div",
    { class: "file-box" },
    element("p", {}, texts.legend.tooLargeToShow(numbers.count(error.count))),
    snippet(command, texts.copy, texts.copied),
  );
}

export function tablesSection(context: Context): HTMLElement {
  const { core, facts, texts, numbers, view } = context;
  const chosen = chosenSet(core, view.table);
  const set = sorted(chosen);
  const attributes = set.map((i) => core.attributes[i]).filter((found) => found !== undefined);
  const views = viewsOf(attributes);
  const shownView: ViewName = views.find((name) => name === view.view) ?? views[0] ?? "cells";
  const controls = element("div", { class: "controls" }, ...attributeChoices(context, chosen));
  if (views.length > 1) {
    controls.append(
      choice(
        texts.view,
        views.map((name) => [name, texts.views[name]]),
        shownView,
        (value) => {
          view.view = value;
          context.changed("tables");
        },
      ),
    );
  }
  for (const attribute of attributes) {
    const highest = maxLevel(attribute);
    if (attribute.kind !== "hierarchy" || highest === 0) continue;
    const levels = Array.from({ length: highest + 1 }, (_, level) => level);
    controls.append(
      choice(
        texts.level(attribute.name),
        levels.map((level) => [String(level), texts.levelName(level)]),
        String(view.levels[attribute.name] ?? 0),
        (value) => {
          view.levels[attribute.name] = Number(value);
          context.changed("tables");
        },
      ),
    );
  }
  controls.append(confidenceChoice(context, "tables"));

  const section = emptySection("tables", texts);
  section.append(controls);
  let table: ShownTable;
  try {
    table = showTable(core, facts, set, shownView, view.levels, view.confidence);
  } catch (error) {
    if (error instanceof NeedsFile) throw error;
    section.append(insteadOf(context, set, error));
    return section;
  }
  const name = table.names.length === 0 ? texts.total : table.names.join(" × ");
  const summary = texts.summary(
    numbers.count(table.rows.length),
    numbers.count(table.numUnreliable),
    numbers.percent(view.confidence),
  );
  const picture = element("div", { class: "picture" });
  const actions = element("div", { class: "actions" });
  let chart: SVGSVGElement | null = null;
  const [total] = table.rows;
  if (set.length === 0 && total !== undefined) {
    picture.append(totalFigure(context, total));
  } else {
    const draw = (): void => {
      const width = Math.max(280, Math.floor(picture.clientWidth));
      chart = drawChart(table, {
        width,
        isDark: context.isDark,
        numbers,
        label: `${name}. ${summary}`,
        estimate: texts.columns.estimate,
      });
      picture.replaceChildren(
        chart ?? "",
        element("p", { class: "legend" }, legendOf(context, table)),
      );
    };
    // It is drawn when its width is known, and again when that changes.
    let drawnAt = 0;
    new ResizeObserver(() => {
      if (Math.abs(picture.clientWidth - drawnAt) < 8) return;
      drawnAt = picture.clientWidth;
      draw();
    }).observe(picture);
  }
  actions.append(
    element("span", { class: "actions-name" }, texts.download),
    button(texts.asCsv, () => saveCsv(table)),
  );
  if (set.length > 0 && chartKind(table) !== "none") {
    actions.append(
      button(texts.asSvg, () => chart !== null && saveSvg(chart, table.fileName)),
      button(texts.asPng, () => {
        if (chart !== null) void savePng(chart, table.fileName);
      }),
    );
  }
  actions.append(copyButton(() => location.href, texts.copyLink, texts.copied));
  section.append(
    element(
      "div",
      { class: "table-view" },
      element(
        "figure",
        {},
        element("figcaption", {}, element("h3", { dir: "auto" }, name), element("p", {}, summary)),
        picture,
      ),
      numbersTable(context, table, name),
    ),
    actions,
  );
  return section;
}
