// The section of tables: the choice, the picture, and the numbers beside it.

import type { View } from "./address";
import { chartKind, drawChart } from "./charts";
import { IsLeftOut, IsTooLarge, NeedsFile } from "./core";
import type { Core, Estimate, Quantity } from "./core";
import { button, choice, copyButton, element, snippet } from "./dom";
import { saveCsv, savePng, saveSvg } from "./download";
import { fileBox } from "./file_box";
import { numbersTable } from "./numbers_table";
import type { FileBoxContext } from "./file_box";
import { estimateOf, isMissing, maxLevel, quantitiesOf, showTable, viewsOf } from "./shown_table";
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

// An answer as a figure and in words.
export function answerWords(
  context: Context,
  quantity: Quantity,
  name: string,
  answer: Estimate,
  isSmall = false,
): HTMLElement[] {
  const { texts, numbers, view } = context;
  if (isMissing(answer)) return [element("p", { class: "warning" }, texts.noMeanSentence)];
  const shown = (value: number): string => numbers.estimate(value, answer.std_dev);
  const figure = element(
    "p",
    { class: isSmall ? "figure small" : "figure" },
    shown(answer.estimate),
  );
  const sentence = texts.answerSentence(
    quantity,
    name,
    shown(answer.estimate),
    shown(answer.ci_lower),
    shown(answer.ci_upper),
    numbers.percent(view.confidence),
  );
  return [figure, element("p", { class: "sentence", dir: "auto" }, sentence)];
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

function legendOf(context: Context, table: ShownTable): string {
  const { legend } = context.texts;
  const marks = table.numUnreliable > 0;
  const kind = chartKind(table);
  const words = {
    bars: () => [legend.bars, marks ? legend.unreliableBars : ""],
    dots: () => [legend.dots, marks ? legend.unreliableDots : ""],
    curve: () => [legend.curve, marks ? legend.unreliableCurve : ""],
    curves: () => [legend.curve],
    heatmap: () => [legend.heatmap(context.isDark), marks ? legend.unreliableCells : ""],
    multiples: () => [
      legend.multiples(table.names[2] ?? ""),
      legend.heatmap(context.isDark),
      marks ? legend.unreliableCells : "",
    ],
    none: () => [legend.tooLarge(context.numbers.count(table.rows.length))],
  }[kind]();
  const { mean } = table;
  if (mean !== null && table.quantities[0] === "mean" && kind !== "none") {
    const isGrid = kind === "heatmap" || kind === "multiples";
    const isCut = table.rows.some((row) => row.ci_lower < mean.low || row.ci_upper > mean.high);
    const { numbers } = context;
    if (table.numMissing > 0) words.push(isGrid ? legend.missingCells : legend.missing);
    if (isCut && !isGrid) {
      words.push(legend.cutOff(numbers.digits(mean.low, 15), numbers.digits(mean.high, 15)));
    }
  }
  return words.filter((word) => word !== "").join(" ");
}

// What the numbers are of.
function quantityName({ texts }: Context, table: ShownTable, quantity: Quantity): string {
  return table.mean === null ? texts.columns.estimate : texts.quantityOf[quantity](table.mean.name);
}

function nameOf(context: Context, table: ShownTable): string {
  const { texts } = context;
  const names = table.names.join(" × ");
  if (table.mean === null) return names === "" ? texts.total : names;
  const quantity = quantityName(context, table, table.quantities[0] ?? "mean");
  return names === "" ? quantity : texts.by(quantity, names);
}

// The only row of a table, in words: of all rows, or of a number without other attributes.
function totalFigure(context: Context, table: ShownTable, row: Row): HTMLElement {
  return element(
    "div",
    { class: "total" },
    ...table.quantities.flatMap((quantity, k) =>
      answerWords(
        context,
        quantity,
        table.mean?.name ?? "",
        estimateOf(table, row, quantity),
        k > 0,
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
  const hasMean = attributes.some(({ kind }) => kind === "mean");
  const shownView: ViewName = views.find((name) => name === view.view) ?? views[0] ?? "cells";
  const controls = element("div", { class: "controls" }, ...attributeChoices(context, chosen));
  if (views.length > 1) {
    controls.append(
      choice(
        texts.view,
        views.map((name) => [name, (hasMean ? texts.viewsOfMeans : texts.views)[name]]),
        shownView,
        (value) => {
          view.view = value;
          context.changed("tables");
        },
      ),
    );
  }
  const quantities = quantitiesOf(attributes, view.quantity);
  if (quantities.length > 1) {
    controls.append(
      choice(
        texts.quantity,
        (["mean", "sum", "count"] as const).map((name) => [name, texts.quantities[name]]),
        quantities[0] ?? "",
        (value) => {
          view.quantity = value;
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
    table = showTable(core, facts, set, shownView, view.quantity, view.levels, view.confidence);
  } catch (error) {
    if (error instanceof NeedsFile) throw error;
    section.append(insteadOf(context, set, error));
    return section;
  }
  const name = nameOf(context, table);
  const summary = texts.summary(
    numbers.count(table.rows.length),
    numbers.count(table.numUnreliable),
    numbers.count(table.numMissing),
    numbers.percent(view.confidence),
  );
  const picture = element("div", { class: "picture" });
  const actions = element("div", { class: "actions" });
  let chart: SVGSVGElement | null = null;
  const [total] = table.rows;
  const isTotal = table.axes.length === 0;
  if (isTotal && total !== undefined) {
    picture.append(totalFigure(context, table, total));
  } else {
    const draw = (): void => {
      const width = Math.max(280, Math.floor(picture.clientWidth));
      chart = drawChart(table, {
        width,
        isDark: context.isDark,
        numbers,
        label: `${name}. ${summary}`,
        estimate: quantityName(context, table, table.quantities[0] ?? "count"),
        noMean: texts.noMean,
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
  if (!isTotal && chartKind(table) !== "none") {
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
      { class: table.mean === null ? "table-view" : "table-view with-means" },
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
