// The numbers of a table, which are also the picture's text alternative.

import type { Estimate, Quantity } from "./core";
import { button, element } from "./dom";
import { estimateOf, isMissing } from "./shown_table";
import type { Row, ShownTable } from "./shown_table";
import type { Context } from "./tables";

type Field = keyof Estimate | "reliability";

// A column of numbers, or of words on the quantity that is looked at.
interface NumberColumn {
  quantity: Quantity;
  field: Field;
}

// An attribute by its place, or a column of numbers.
type SortKey = number | NumberColumn;

const kFields: (keyof Estimate)[] = ["estimate", "std_dev", "ci_lower", "ci_upper"];
const kRowsAtFirst = 250;

function columnsOf(table: ShownTable): NumberColumn[] {
  return table.quantities.flatMap((quantity, k) => [
    ...kFields.map((field): NumberColumn => ({ quantity, field })),
    ...(k === 0 ? [{ quantity, field: "reliability" as const }] : []),
  ]);
}

// Rows without a number come last, whichever way they are sorted.
function compare(table: ShownTable, by: SortKey, down: boolean, a: Row, b: Row): number {
  const sign = down ? -1 : 1;
  if (typeof by === "number") return sign * ((a.places[by] ?? 0) - (b.places[by] ?? 0));
  if (by.field === "reliability") return sign * (Number(a.unreliable) - Number(b.unreliable));
  const of = estimateOf(table, a, by.quantity)[by.field];
  const other = estimateOf(table, b, by.quantity)[by.field];
  if (Number.isNaN(of) || Number.isNaN(other)) return Number.isNaN(of) ? 1 : -1;
  return sign * (of - other);
}

const isSame = (a: SortKey | undefined, b: SortKey): boolean =>
  typeof a === "object" && typeof b === "object"
    ? a.quantity === b.quantity && a.field === b.field
    : a === b;

function numberCells({ texts, numbers }: Context, answer: Estimate): HTMLElement[] {
  if (isMissing(answer)) {
    return [element("td", { class: "word", colspan: kFields.length }, texts.noMean)];
  }
  return kFields.map((field) =>
    element(
      "td",
      { class: "number", "data-value": answer[field] },
      numbers.estimate(answer[field], answer.std_dev),
    ),
  );
}

// Dates and other short labels are not broken at their hyphens.
const lengthOf = (label: string): string => (label.length <= 24 ? "short" : "");

function bodyRow(context: Context, table: ShownTable, row: Row): HTMLElement {
  const { texts } = context;
  const word = row.unreliable ? texts.unreliable : texts.reliable;
  return element(
    "tr",
    row.unreliable ? { class: "unreliable" } : {},
    ...row.labels.map((label, k) =>
      k === 0
        ? element("th", { scope: "row", dir: "auto", class: lengthOf(label) }, label)
        : element("td", { dir: "auto", class: `label ${lengthOf(label)}` }, label),
    ),
    ...table.quantities.flatMap((quantity, k) => [
      ...numberCells(context, estimateOf(table, row, quantity)),
      ...(k === 0 ? [element("td", { class: "word" }, word)] : []),
    ]),
  );
}

// Headers sort. Of a table with means, a line above them says which numbers are which.
export function numbersTable(context: Context, table: ShownTable, caption: string): HTMLElement {
  const { texts, numbers } = context;
  let order: { by: SortKey; down: boolean } | null = null;
  let limit = kRowsAtFirst;
  const holder = element("div", { class: "numbers" });
  const draw = (focus: SortKey | null): void => {
    const rows = [...table.rows];
    if (order !== null) {
      const { by, down } = order;
      rows.sort((a, b) => compare(table, by, down, a, b));
    }
    const header = (by: SortKey, name: string, kind: string): HTMLElement => {
      const isSorted = order !== null && isSame(order.by, by);
      const state = !isSorted ? "none" : order?.down === true ? "descending" : "ascending";
      const arrow = { none: "", descending: " ▾", ascending: " ▴" }[state];
      const sorter = element(
        "button",
        {
          type: "button",
          class: "sorter",
          title: texts.sortBy(name),
          click: () => {
            order =
              order !== null && isSame(order.by, by)
                ? { by, down: !order.down }
                : { by, down: typeof by === "object" };
            draw(by);
          },
        },
        element("span", { dir: "auto" }, name),
        element("span", { "aria-hidden": "true" }, arrow),
      );
      if (focus !== null && isSame(focus, by)) sorter.dataset["focus"] = "yes";
      return element("th", { scope: "col", class: kind, "aria-sort": state }, sorter);
    };
    const { mean } = table;
    const groups =
      mean === null
        ? null
        : element(
            "tr",
            { class: "groups" },
            ...table.names.map(() => element("td")),
            ...table.quantities.map((quantity, k) =>
              element(
                "th",
                { scope: "colgroup", colspan: kFields.length + (k === 0 ? 1 : 0), dir: "auto" },
                texts.quantityOf[quantity](mean.name),
              ),
            ),
          );
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
            groups,
            element(
              "tr",
              {},
              ...table.names.map((name, k) => header(k, name, "label")),
              ...columnsOf(table).map((by) =>
                header(by, texts.columns[by.field], by.field === "reliability" ? "word" : "number"),
              ),
            ),
          ),
          element("tbody", {}, ...rows.slice(0, limit).map((row) => bodyRow(context, table, row))),
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
