// The section of questions: conditions to choose, the question as text, and its answer.

import { drawIntervals } from "./charts";
import { IsLeftOut, IsTooLarge, NeedsFile } from "./core";
import type { Attribute, Estimate } from "./core";
import { button, choice, element, snippet } from "./dom";
import { fileBox } from "./file_box";
import { isUnreliable, kUnreliable } from "./format";
import { conditionText, isOrdered, quantityIn, withQuantity } from "./question_text";
import type { AskedQuantity, Condition } from "./question_text";
import { isMissing } from "./shown_table";
import { answerWords, confidenceChoice, emptySection, quotedForShell } from "./tables";
import type { Context } from "./tables";

// What was chosen stays while the page is drawn again.
const builders: { first: Condition[]; second: Condition[] } = {
  first: [],
  second: [],
};
type Which = "first" | "second";

function checkbox(name: string, checked: boolean, onChange: (on: boolean) => void): HTMLElement {
  const box = element("input", {
    type: "checkbox",
    change: () => onChange(box.checked),
  });
  box.checked = checked;
  return element("label", { class: "check" }, box, element("span", { dir: "auto" }, name));
}

function toggled(list: number[], item: number, on: boolean): number[] {
  const rest = list.filter((other) => other !== item);
  return on ? [...rest, item].sort((a, b) => a - b) : rest;
}

function conditionField(context: Context, which: Which, k: number): HTMLElement {
  const { core, facts, texts } = context;
  const conditions = builders[which];
  const condition = conditions[k] as Condition;
  const attribute = core.attributes[condition.attribute] as Attribute;
  const about = facts.attributes[condition.attribute];
  if (about === undefined) return element("div");
  const changed = (): void => rewrite(context, which);
  const row = element(
    "fieldset",
    { class: "condition" },
    element("legend", { dir: "auto" }, attribute.name),
  );
  if (isOrdered(about)) {
    const cells = Array.from({ length: about.values }, (_, cell): [string, string] => [
      String(cell),
      attribute.cells[cell] ?? "",
    ]);
    row.append(
      choice(texts.from, cells, String(condition.from), (value) => {
        condition.from = Number(value);
        condition.to = Math.max(condition.to, condition.from);
        changed();
      }),
      choice(texts.to, cells, String(condition.to), (value) => {
        condition.to = Number(value);
        condition.from = Math.min(condition.from, condition.to);
        changed();
      }),
    );
    if (about.nullCell) {
      row.append(
        checkbox("null", condition.cells.includes(about.values), (on) => {
          condition.cells = toggled(condition.cells, about.values, on);
          changed();
        }),
      );
    }
  } else {
    const list = element("div", {
      class: "checks",
      role: "group",
      "aria-label": texts.values,
    });
    attribute.groups.forEach((group, g) =>
      list.append(
        checkbox(group.name, condition.groups.includes(g), (on) => {
          condition.groups = toggled(condition.groups, g, on);
          changed();
        }),
      ),
    );
    attribute.cells.forEach((label, cell) => {
      // Of a number whose mean is asked, only missing values were counted.
      if (attribute.kind === "mean" && cell < about.values) return;
      list.append(
        checkbox(label, condition.cells.includes(cell), (on) => {
          condition.cells = toggled(condition.cells, cell, on);
          changed();
        }),
      );
    });
    row.append(list);
  }
  row.append(
    button(
      texts.remove,
      () => {
        conditions.splice(k, 1);
        rewrite(context, which);
      },
      "quiet",
    ),
  );
  return row;
}

function conditionsText({ core, facts }: Context, which: Which): string {
  return builders[which]
    .map((condition) => {
      const attribute = core.attributes[condition.attribute];
      const about = facts.attributes[condition.attribute];
      return attribute && about ? conditionText(condition, attribute, about) : "";
    })
    .filter((term) => term !== "")
    .join(" ");
}

// Writes the question that the conditions make.
function rewrite(context: Context, which: Which): void {
  const text = conditionsText(context, which);
  ask(context, which, withQuantity(text, quantityIn(questionText(context, which))));
}

const questionText = ({ view }: Context, which: Which): string =>
  (which === "first" ? view.question : view.second) ?? "";

function ask({ view, changed }: Context, which: Which, question: string): void {
  if (which === "first") {
    view.question = question;
  } else {
    view.second = question;
  }
  changed("questions");
}

// The number of rows, or the sum or the mean of a number, where the release has any.
function quantityChoice(context: Context, which: Which): HTMLElement | null {
  const { core, texts } = context;
  const means = core.attributes.filter(({ kind }) => kind === "mean");
  if (means.length === 0) return null;
  const text = questionText(context, which);
  const choices: AskedQuantity[] = [
    { is: "count", name: "" },
    ...means.flatMap(({ name }): AskedQuantity[] => [
      { is: "mean", name },
      { is: "sum", name },
    ]),
  ];
  const asked = quantityIn(text);
  const chosen = choices.findIndex(({ is, name }) => is === asked.is && name === asked.name);
  return choice(
    texts.askFor,
    choices.map(({ is, name }, k) => [String(k), texts.askQuantity[is](name)]),
    String(chosen),
    (value) => {
      const next = choices[Number(value)];
      if (next === undefined) return;
      // What is asked for is not a condition too.
      const place = builders[which].findIndex(
        ({ attribute }) => core.attributes[attribute]?.name === next.name,
      );
      if (place >= 0) builders[which].splice(place, 1);
      const conditions = place >= 0 ? conditionsText(context, which) : text;
      ask(context, which, withQuantity(conditions, next));
    },
  );
}

function questionField(context: Context, which: Which): HTMLElement {
  const { core, facts, texts } = context;
  const conditions = builders[which];
  const asked = quantityIn(questionText(context, which));
  const used = conditions.map((condition) => condition.attribute);
  const summed = core.attributes.findIndex(
    ({ kind, name }) => kind === "mean" && asked.is !== "count" && name === asked.name,
  );
  if (summed >= 0) used.push(summed);
  const possible = core.attributes
    .map((attribute, i) => ({ attribute, i }))
    .filter(({ attribute }) => attribute.kind !== "mean" || attribute.nullCell)
    .map(({ i }) => i)
    .filter((i) => !used.includes(i) && core.isMeasured([...used, i]));
  const id = `question-${which}`;
  const input = element("input", {
    id,
    type: "text",
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: texts.questionHint,
    change: () => {
      conditions.length = 0;
      ask(context, which, input.value);
    },
  });
  input.value = questionText(context, which);
  const field = element(
    "div",
    { class: "question" },
    element(
      "div",
      { class: "field wide" },
      element("label", { for: id }, which === "first" ? texts.question : texts.secondQuestion),
      input,
    ),
    quantityChoice(context, which),
    ...conditions.map((_, k) => conditionField(context, which, k)),
  );
  if (possible.length > 0) {
    field.append(
      choice(
        texts.addCondition,
        [
          ["", texts.choose],
          ...possible.map((i): [string, string] => {
            const name = core.attributes[i]?.name ?? "";
            return [String(i), core.isAtHand([...used, i]) ? name : texts.file.notInPage(name)];
          }),
        ],
        "",
        (value) => {
          if (value === "") return;
          const attribute = Number(value);
          const numValues = facts.attributes[attribute]?.values ?? 1;
          const isMean = core.attributes[attribute]?.kind === "mean";
          conditions.push({
            attribute,
            from: 0,
            to: numValues - 1,
            cells: isMean ? [numValues] : [],
            groups: [],
          });
          rewrite(context, which);
        },
      ),
    );
  }
  return field;
}

function estimateRow(context: Context, name: string, key: string, answer: Estimate): HTMLElement {
  const { texts, numbers } = context;
  const shown = (value: number): string => numbers.estimate(value, answer.std_dev);
  const unreliable = isUnreliable(answer.estimate, answer.std_dev);
  return element(
    "tr",
    { "data-answer": key, class: unreliable ? "unreliable" : "" },
    element("th", { scope: "row", dir: "auto" }, name),
    element("td", { class: "number", "data-value": answer.estimate }, shown(answer.estimate)),
    element(
      "td",
      { class: "number", "data-value": answer.std_dev },
      numbers.stdDev(answer.std_dev),
    ),
    element("td", { class: "number", "data-value": answer.ci_lower }, shown(answer.ci_lower)),
    element("td", { class: "number", "data-value": answer.ci_upper }, shown(answer.ci_upper)),
    element("td", { class: "word" }, unreliable ? texts.unreliable : texts.reliable),
  );
}

function answerTable(context: Context, rows: HTMLElement[]): HTMLElement {
  const { columns, answer } = context.texts;
  const head = [columns.estimate, columns.std_dev, columns.ci_lower, columns.ci_upper];
  return element(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": answer },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          ...head.map((name) => element("th", { scope: "col", class: "number" }, name)),
          element("th", { scope: "col", class: "word" }, columns.reliability),
        ),
      ),
      element("tbody", {}, ...rows),
    ),
  );
}

// The question on the command line.
function commandOf({ facts, view }: Context): string {
  const level = view.confidence === 0.95 ? "" : ` --confidence ${view.confidence}`;
  const asked =
    view.second === null
      ? quotedForShell(view.question)
      : `--covariance ${quotedForShell(view.question)} ${quotedForShell(view.second)}`;
  return `residua query ${facts.file.name} ${asked}${level}`;
}

function answerParts(context: Context): HTMLElement[] {
  const { core, texts, numbers, view } = context;
  const warning = (answer: Estimate): HTMLElement[] =>
    isUnreliable(answer.estimate, answer.std_dev) && !isMissing(answer)
      ? [element("p", { class: "warning" }, texts.isUnreliable(numbers.percent(kUnreliable)))]
      : [];
  const command = snippet(commandOf(context), texts.copy, texts.copied);
  if (view.second === null) {
    const answer = core.ask(view.question, view.confidence);
    const { is, of } = answer.quantity;
    return [
      ...answerWords(context, is, of === null ? "" : (core.attributes[of]?.name ?? ""), answer),
      ...warning(answer),
      isMissing(answer)
        ? null
        : answerTable(context, [estimateRow(context, texts.answer, "first", answer)]),
      element("h4", {}, texts.commandLine),
      command,
    ].filter((part) => part !== null);
  }
  const both = core.compare(view.question, view.second, view.confidence);
  const { comparison } = texts;
  const ratio = element(
    "tr",
    { "data-answer": "ratio" },
    element("th", { scope: "row" }, comparison.ratio),
    ...(both.ratio === null
      ? [element("td", { colspan: 5 }, comparison.noRatio)]
      : [
          element(
            "td",
            { class: "number", "data-value": both.ratio.estimate },
            numbers.digits(both.ratio.estimate, 4),
          ),
          element("td"),
          element(
            "td",
            { class: "number", "data-value": both.ratio.ci_lower },
            numbers.digits(both.ratio.ci_lower, 4),
          ),
          element(
            "td",
            { class: "number", "data-value": both.ratio.ci_upper },
            numbers.digits(both.ratio.ci_upper, 4),
          ),
          element("td"),
        ]),
  );
  const picture = element("div", { class: "picture" });
  new ResizeObserver((_entries, observer) => {
    observer.disconnect();
    picture.replaceChildren(
      drawIntervals(
        [
          { label: comparison.first, ...both.first },
          { label: comparison.second, ...both.second },
        ],
        {
          width: Math.max(280, Math.min(720, picture.clientWidth)),
          isDark: context.isDark,
          numbers,
          label: texts.answer,
          estimate: texts.columns.estimate,
          noMean: texts.noMean,
        },
      ),
    );
  }).observe(picture);
  return [
    picture,
    answerTable(context, [
      estimateRow(context, comparison.first, "first", both.first),
      estimateRow(context, comparison.second, "second", both.second),
      estimateRow(context, comparison.difference, "difference", both.difference),
      estimateRow(context, comparison.sum, "sum", both.sum),
      ratio,
    ]),
    element("p", {}, comparison.correlation(numbers.digits(both.correlation, 3))),
    ...(both.hasMean ? [element("p", {}, comparison.deltaMethod)] : []),
    element("h4", {}, texts.commandLine),
    command,
  ];
}

// Why a question cannot be answered, and what its reader can do.
function insteadOf(context: Context, error: unknown): HTMLElement[] {
  const { facts, texts, numbers } = context;
  if (error instanceof IsLeftOut) {
    return [fileBox(context, texts.file.questionLeftOut(error.table))];
  }
  if (error instanceof IsTooLarge) {
    const count = numbers.count(error.count);
    return [
      element("p", {}, texts.file.questionTooLarge(count, facts.file.name)),
      snippet(commandOf(context), texts.copy, texts.copied),
    ];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [element("p", { class: "warning", dir: "auto" }, message)];
}

export function questionsSection(context: Context): HTMLElement {
  const { texts, view } = context;
  const answer = element("div", {
    class: "answer",
    role: "status",
    "aria-live": "polite",
  });
  answer.append(element("h3", {}, texts.answer));
  try {
    answer.append(...answerParts(context));
  } catch (error) {
    if (error instanceof NeedsFile) throw error;
    answer.append(...insteadOf(context, error));
  }
  const section = emptySection("questions", texts);
  section.append(
    element(
      "div",
      { class: "question-view" },
      element(
        "div",
        { class: "asking" },
        questionField(context, "first"),
        checkbox(texts.compare, view.second !== null, (on) => {
          view.second = on ? "" : null;
          builders.second = [];
          context.changed("questions");
        }),
        view.second === null ? null : questionField(context, "second"),
        confidenceChoice(context, "questions"),
      ),
      answer,
    ),
  );
  return section;
}
