// The tables: which are asked for, how much each counts, and how large its errors will be.

import { button, element } from "../dom";
import { keyOf } from "./spec";
import type { PlannedTable, SpecFacts } from "./spec";
import { labelled, selectField, setField, textField } from "./view";
import type { Context, View } from "./view";
import { setOnlyRule, setRule, setWeight, switchOff, switchOn, weightsOf } from "./workload";

// A matrix of more attributes than this is wider than a screen.
const kMaxMatrix = 24;
const kShown = 60;

type Order = "error" | "order" | "relative";

const stdDev = (table: PlannedTable): number => Math.sqrt(table.mean_variance);
const relative = (table: PlannedTable): number => stdDev(table) / table.average;

// Adds a table of up to three attributes or more: one choice after the other.
function adder({ state, texts }: Context): View {
  const chosen: number[] = [];
  const box = element("div", { class: "controls" });
  const draw = (): void => {
    const { spec } = state;
    if (spec === null) return;
    const fields = [...chosen, -1].slice(0, spec.attributes.length).map((current, place) => {
      const free = spec.attributes
        .map(({ name }, i): [string, string] => [String(i), name])
        .filter(([i]) => !chosen.includes(Number(i)) || Number(i) === current);
      const field = selectField([["-1", texts.nothing], ...free], (value) => {
        chosen.splice(place, 1, ...(value === "-1" ? [] : [Number(value)]));
        draw();
        box.querySelectorAll("select")[place]?.focus();
      });
      field.value = String(current);
      return labelled(texts.attributeOf(place + 1), field);
    });
    const add = button(texts.addTable, () => {
      const set = [...chosen].sort((a, b) => a - b);
      chosen.length = 0;
      state.edit(...switchOn(spec, set));
      draw();
    });
    box.replaceChildren(...fields, add);
  };
  let shape = "";
  const update = (): void => {
    const names = JSON.stringify(state.spec?.attributes.map(({ name }) => name));
    if (names === shape) return;
    shape = names;
    chosen.length = 0;
    draw();
  };
  return { node: box, update };
}

// One and two attributes: a box for each pair, on the diagonal for each attribute.
function matrix({ state, texts }: Context): View {
  const box = element("div", { class: "scroller matrix" });
  const boxes = new Map<string, HTMLInputElement>();
  let shape = "";
  const build = (spec: SpecFacts): void => {
    boxes.clear();
    const names = spec.attributes.map(({ name }) => name);
    if (names.length > kMaxMatrix) {
      box.replaceChildren(element("p", { class: "more" }, texts.noMatrix));
      return;
    }
    const cell = (i: number, j: number): HTMLElement => {
      if (j > i) return element("td", {});
      // A table has at most one number whose mean is asked.
      const isMean = (k: number): boolean => spec.attributes[k]?.queries === "mean";
      if (i !== j && isMean(i) && isMean(j)) return element("td", {}, "–");
      const set = i === j ? [i] : [j, i];
      const label = set.map((k) => names[k] ?? "").join(" × ");
      const input = element("input", {
        type: "checkbox",
        "aria-label": label,
        change: () => flip(set, input.checked),
      });
      boxes.set(keyOf(set), input);
      return element("td", { title: label }, input);
    };
    const flip = (set: number[], isOn: boolean): void => {
      const { spec: now, plan } = state;
      if (now === null) return;
      if (isOn) state.edit(...switchOn(now, set));
      else if (plan !== null) state.edit(...switchOff(now, plan, set));
    };
    const rows = names.map((name, i) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", dir: "auto" }, name),
        ...names.map((_, j) => cell(i, j)),
      ),
    );
    const head = element(
      "tr",
      {},
      element("td", {}),
      ...names.map((name) =>
        element("th", { scope: "col", dir: "auto", title: name }, element("span", {}, name)),
      ),
    );
    box.replaceChildren(
      element(
        "table",
        {},
        element("caption", {}, texts.matrixCaption),
        element("thead", {}, head),
        element("tbody", {}, ...rows),
      ),
    );
  };
  const update = (): void => {
    const { spec, plan } = state;
    if (spec === null) return;
    const now = JSON.stringify(spec.attributes.map(({ name, queries }) => [name, queries]));
    if (now !== shape) build(spec);
    shape = now;
    const on = new Set((plan?.tables ?? []).map(({ set }) => keyOf(set)));
    for (const [key, input] of boxes) input.checked = on.has(key);
  };
  return { node: box, update };
}

interface ListRow {
  node: HTMLTableRowElement;
  bar: HTMLElement;
  keptBar: HTMLElement;
  numbers: HTMLElement[]; // answers, error, relative error, table by table, kept
  weight: HTMLInputElement;
}

// Every table of the plan, with a bar for its error.
function list(context: Context): View & { order: (order: Order) => void } {
  const { state, texts, numbers } = context;
  const rows = new Map<string, ListRow>();
  const body = element("tbody", {});
  const keptHead = element("th", { scope: "col", class: "number" }, texts.columns.kept);
  const more = element("p", { class: "more" });
  const meanNotes = element("div", {});
  let order: Order = "error";
  let isAll = false;
  let filter = "";

  const makeRow = (table: PlannedTable): ListRow => {
    const { set } = table;
    const name = table.attributes.length === 0 ? texts.total : table.attributes.join(" × ");
    const box = element("input", {
      type: "checkbox",
      checked: true,
      "aria-label": texts.switchOff(name),
      change: () => {
        if (state.spec !== null && state.plan !== null) {
          state.edit(...switchOff(state.spec, state.plan, set));
        }
      },
    });
    const weight = textField(
      (value) => {
        if (state.spec !== null) state.edit(...setWeight(state.spec, set, Number(value)));
      },
      { "aria-label": texts.weightOf(name), class: "weight", inputmode: "decimal" },
    );
    const bar = element("span", { class: "fill" });
    const keptBar = element("span", { class: "fill kept" });
    const cells = [0, 1, 2, 3, 4].map(() => element("td", { class: "number" }));
    const node = element(
      "tr",
      {},
      element("td", {}, box),
      element("th", { scope: "row", dir: "auto" }, name),
      cells[0] ?? null,
      element("td", { class: "bars" }, bar, keptBar),
      ...cells.slice(1),
      element("td", {}, weight),
    );
    return { node, bar, keptBar, numbers: cells, weight };
  };

  const update = (): void => {
    const { spec, plan, kept } = state;
    const tables = plan?.tables ?? [];
    const found = filter.trim().toLowerCase();
    const isNamed = ({ attributes }: PlannedTable): boolean =>
      attributes.join(" × ").toLowerCase().includes(found);
    const sorted = tables.filter((table) => found === "" || isNamed(table));
    if (order === "error") sorted.sort((a, b) => b.mean_variance - a.mean_variance);
    if (order === "relative") sorted.sort((a, b) => relative(b) - relative(a));
    const shown = isAll ? sorted : sorted.slice(0, kShown);
    const before = new Map((kept?.plan.tables ?? []).map((table) => [keyOf(table.set), table]));
    const scale = order === "relative" && tables.some((table) => table.average > 0);
    const lengthOf = (table: PlannedTable): number =>
      scale ? relative(table) : Math.sqrt(table.mean_variance);
    const largest = Math.max(
      1e-300,
      ...shown.map(lengthOf),
      ...shown.map((table) => {
        const old = before.get(keyOf(table.set));
        return old === undefined ? 0 : lengthOf(old);
      }),
    );
    const weights = spec === null ? new Map<string, number>() : weightsOf(spec);
    const nodes = shown.map((table) => {
      // Names are part of the key: attributes may be replaced by others.
      const key = JSON.stringify([table.set, table.attributes]);
      const row = rows.get(key) ?? makeRow(table);
      rows.set(key, row);
      const old = before.get(keyOf(table.set));
      row.bar.style.width = `${(100 * lengthOf(table)) / largest}%`;
      row.keptBar.hidden = old === undefined;
      if (old !== undefined) row.keptBar.style.width = `${(100 * lengthOf(old)) / largest}%`;
      const alone = Math.sqrt(table.alone_variance);
      const texts5 = [
        numbers.count(table.cells),
        numbers.digits(stdDev(table), 4),
        table.average > 0 ? numbers.digits(100 * relative(table), 3) + " %" : "–",
        numbers.digits(alone, 4),
        old === undefined ? "–" : numbers.digits(stdDev(old), 4),
      ];
      const values = [table.cells, table.mean_variance, table.max_variance, table.alone_variance];
      texts5.forEach((text, k) => {
        const cell = row.numbers[k];
        if (cell === undefined) return;
        if (cell.textContent !== text) cell.textContent = text;
        cell.dataset["value"] = String(values[k] ?? "");
        cell.hidden = k === 4 && kept === null;
      });
      row.node.classList.toggle("worse", table.alone_variance < table.mean_variance);
      setField(row.weight, String(weights.get(keyOf(table.set)) ?? 1));
      const check = row.node.querySelector<HTMLInputElement>("input[type=checkbox]");
      if (check !== null) check.checked = true;
      return row.node;
    });
    keptHead.hidden = kept === null;
    const current = [...body.children];
    if (nodes.length !== current.length || nodes.some((node, k) => node !== current[k])) {
      const focused = document.activeElement;
      body.replaceChildren(...nodes);
      if (focused instanceof HTMLElement && body.contains(focused)) focused.focus();
    }
    if (rows.size > 20_000) rows.clear();
    meanNotes.replaceChildren(
      ...(spec?.attributes ?? []).flatMap(({ name, range }) =>
        range === undefined
          ? []
          : [element("p", { class: "more" }, texts.meanNote(name, numbers.digits(range, 15)))],
      ),
    );
    more.replaceChildren();
    if (plan !== null && plan.tables === undefined) {
      more.append(texts.tooMany(numbers.count(plan.marginals)));
    } else if (shown.length < sorted.length) {
      more.append(
        texts.shown(numbers.count(shown.length), numbers.count(sorted.length)),
        " ",
        button(texts.showAll, () => {
          isAll = true;
          update();
        }),
      );
    }
  };
  const column = (name: string, kind = "number"): HTMLElement =>
    element("th", { scope: "col", class: kind }, name);
  const search = element("input", {
    type: "search",
    id: "table-filter",
    input: () => {
      filter = search.value;
      update();
    },
  });
  const node = element(
    "div",
    {},
    element("div", { class: "controls" }, labelled(texts.filter, search)),
    element(
      "div",
      { class: "scroller", tabindex: 0, role: "region", "aria-label": texts.tableList },
      element(
        "table",
        { id: "table-list" },
        element("caption", {}, texts.listCaption),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            column(texts.columns.on, ""),
            column(texts.columns.table, ""),
            column(texts.columns.answers),
            column(texts.columns.picture, "bars"),
            column(texts.columns.error),
            column(texts.columns.relative),
            column(texts.columns.alone),
            keptHead,
            column(texts.columns.weight, ""),
          ),
        ),
        body,
      ),
    ),
    more,
    meanNotes,
  );
  return {
    node,
    update,
    order: (chosen) => {
      order = chosen;
      update();
    },
  };
}

export function tablesView(context: Context): View {
  const { state, texts } = context;
  const parts = { matrix: matrix(context), list: list(context), adder: adder(context) };
  const rule = textField((value) => state.edit(...setRule(value)), { id: "rule" });
  const pick = selectField(
    [
      ["", texts.pick],
      ["<=1", texts.upTo(1)],
      ["<=2", texts.upTo(2)],
      ["<=3", texts.upTo(3)],
    ],
    (value) => {
      pick.value = "";
      if (value !== "") state.edit(...setOnlyRule(value));
    },
  );
  pick.id = "pick";
  const objective = selectField(
    [
      ["sum-variance", texts.objectives.sum],
      ["max-variance", texts.objectives.max],
      ["p-norm=2", texts.objectives.norm(2)],
      ["p-norm=4", texts.objectives.norm(4)],
    ],
    (value) => state.edit({ path: ["workload", "objective"], value: `"${value}"` }),
  );
  objective.id = "objective";
  const weights = selectField(
    [
      ["equal", texts.weightings.equal],
      ["cells", texts.weightings.cells],
      ["sqrt-cells", texts.weightings.sqrt],
    ],
    (value) => state.edit({ path: ["workload", "weights"], value: `"${value}"` }),
  );
  weights.id = "weights";
  const sort = selectField(
    [
      ["error", texts.sorts.error],
      ["relative", texts.sorts.relative],
      ["order", texts.sorts.order],
    ],
    (value) => parts.list.order(value as Order),
  );
  sort.id = "sort";
  const update = (): void => {
    const { spec } = state;
    if (spec === null) return;
    setField(rule, spec.rules.join(","));
    if (![...objective.options].some(({ value }) => value === spec.objective)) {
      objective.append(element("option", { value: spec.objective }, spec.objective));
    }
    setField(objective, spec.objective);
    setField(weights, spec.weights);
    for (const part of Object.values(parts)) part.update();
  };
  const node = element(
    "section",
    { id: "tables", "aria-labelledby": "tables-title" },
    element("h2", { id: "tables-title" }, texts.sections.tables),
    element("p", { class: "intro" }, texts.tablesIntro),
    element(
      "div",
      { class: "controls" },
      labelled(texts.pickLabel, pick),
      labelled(texts.rule, rule, texts.ruleHint),
      labelled(texts.objective, objective),
      labelled(texts.weights, weights),
      labelled(texts.sort, sort),
    ),
    parts.list.node,
    element("h3", {}, texts.switchTitle),
    parts.matrix.node,
    element("h3", {}, texts.addTitle),
    parts.adder.node,
  );
  return { node, update };
}
