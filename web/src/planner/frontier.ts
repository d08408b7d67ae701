// The error for each epsilon, and what it costs to have a table within a given error.

import { button, element } from "../dom";
import { budgetEdits } from "./budget";
import { keyOf, unitOf } from "./spec";
import type { Cost } from "./spec";
import { labelled, selectField, textField } from "./view";
import type { Context, View } from "./view";

const kWidth = 640;
const kHeight = 300;
const kMargin = { left: 62, right: 16, top: 14, bottom: 46 };
const kSvg = "http://www.w3.org/2000/svg";

function shape(tag: string, properties: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, String(value));
  if (text !== "") made.textContent = text;
  return made;
}

// 1, 2 and 5 times the powers of ten between two numbers.
function ticksBetween(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    for (const factor of [1, 2, 5]) {
      const tick = Number(`${factor}e${power}`);
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

interface Point {
  epsilon: number;
  std_dev: number;
}

// Both axes are logarithmic: halving the error costs about twice the epsilon.
function drawFrontier(context: Context, points: Point[], now: Point, kept: Point | null): Element {
  const { texts, numbers } = context;
  const all = [...points, now, ...(kept === null ? [] : [kept])];
  const range = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
  const [lowX, highX] = range(all.map(({ epsilon }) => epsilon));
  const [lowY, highY] = range(all.map(({ std_dev }) => std_dev));
  const place = (value: number, low: number, high: number): number =>
    high > low ? Math.log(value / low) / Math.log(high / low) : 0.5;
  const x = (value: number): number =>
    kMargin.left + place(value, lowX, highX) * (kWidth - kMargin.left - kMargin.right);
  const y = (value: number): number =>
    kHeight - kMargin.bottom - place(value, lowY, highY) * (kHeight - kMargin.top - kMargin.bottom);
  const svg = shape("svg", {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    class: "plot frontier",
    role: "img",
    "aria-label": texts.frontierLabel,
  });
  for (const tick of ticksBetween(lowX, highX)) {
    svg.append(
      shape("line", {
        class: "grid",
        x1: x(tick),
        x2: x(tick),
        y1: kMargin.top,
        y2: kHeight - kMargin.bottom,
      }),
      shape(
        "text",
        { x: x(tick), y: kHeight - kMargin.bottom + 16, "text-anchor": "middle" },
        numbers.digits(tick, 3),
      ),
    );
  }
  for (const tick of ticksBetween(lowY, highY)) {
    svg.append(
      shape("line", {
        class: "grid",
        x1: kMargin.left,
        x2: kWidth - kMargin.right,
        y1: y(tick),
        y2: y(tick),
      }),
      shape(
        "text",
        { x: kMargin.left - 8, y: y(tick) + 4, "text-anchor": "end" },
        numbers.digits(tick, 3),
      ),
    );
  }
  const line = points.map(({ epsilon, std_dev }) => `${x(epsilon)},${y(std_dev)}`);
  svg.append(
    shape("polyline", { class: "line", points: line.join(" ") }),
    shape("circle", { class: "now", cx: x(now.epsilon), cy: y(now.std_dev), r: 6 }),
    shape(
      "text",
      { x: (kMargin.left + kWidth) / 2, y: kHeight - 8, "text-anchor": "middle" },
      texts.epsilonAxis,
    ),
    shape(
      "text",
      {
        x: 14,
        y: kHeight / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 14 ${kHeight / 2})`,
      },
      texts.errorAxis,
    ),
  );
  if (kept !== null) {
    const [a, b] = [x(kept.epsilon), y(kept.std_dev)];
    svg.append(shape("rect", { class: "before", x: a - 5, y: b - 5, width: 10, height: 10 }));
  }
  return svg;
}

export function frontierView(context: Context): View {
  const { state, texts, numbers } = context;
  const picture = element("div", { class: "picture" });
  const table = element("table", { id: "frontier-table" });
  const tables = selectField([], () => undefined);
  tables.id = "cost-table";
  const within = textField(() => void ask(), { id: "cost-within", inputmode: "decimal" });
  const answer = element("div", { class: "answer", role: "status" });
  const ask = async (): Promise<void> => {
    const limit = Number(within.value.trim().replace(",", "."));
    if (!(limit > 0)) return;
    const set = tables.value === "all" ? null : tables.value.split(",").filter(Boolean).map(Number);
    answer.replaceChildren(texts.computing);
    const cost = await state.cost(set, limit);
    if (typeof cost === "string") {
      answer.replaceChildren(element("p", { class: "warning" }, cost));
      return;
    }
    answer.replaceChildren(
      element(
        "p",
        { class: "figure", "data-value": String(cost.epsilon) },
        texts.costFigure(numbers.digits(cost.epsilon, 4), String(cost.delta)),
      ),
      element(
        "p",
        {},
        texts.costSentence(
          numbers.digits(cost.std_dev, 4),
          numbers.digits(cost.rho, 4),
          cost.mu === null ? null : numbers.digits(cost.mu, 4),
        ),
      ),
      button(texts.useBudget, () => use(cost)),
    );
  };
  // Rounded up to four digits, so that the error is no larger.
  const use = (cost: Cost): void => {
    const spec = state.spec;
    const unit = spec === null ? undefined : unitOf(spec);
    const chosen = unit === "rho" || unit === "mu" || unit === "pcost" ? unit : "epsilon";
    const value = cost[chosen] ?? cost.rho;
    const digits = 3 - Math.floor(Math.log10(value));
    const up = Math.ceil(value * 10 ** digits * (1 - 1e-12)) / 10 ** digits;
    state.edit(...budgetEdits(chosen, String(Number(up.toPrecision(4)))));
  };
  let choices = "";
  const update = (): void => {
    const { plan, frontier, kept } = state;
    const listed = plan?.tables ?? [];
    const now = JSON.stringify(listed.map(({ set, attributes }) => [set, attributes]));
    if (now !== choices) {
      choices = now;
      const chosen = tables.value;
      tables.replaceChildren(
        element("option", { value: "all" }, texts.allAnswers),
        ...listed.map(({ set, attributes }) =>
          element(
            "option",
            { value: keyOf(set), dir: "auto" },
            attributes.length === 0 ? texts.total : attributes.join(" × "),
          ),
        ),
      );
      const values = [...tables.options].map(({ value }) => value);
      tables.value = values.includes(chosen) ? chosen : "all";
    }
    if (plan === null || frontier.length === 0) {
      picture.replaceChildren(plan === null ? "" : texts.computing);
      table.replaceChildren();
      return;
    }
    picture.replaceChildren(
      drawFrontier(
        context,
        frontier,
        { epsilon: plan.privacy.epsilon, std_dev: plan.rmse },
        kept === null ? null : { epsilon: kept.plan.privacy.epsilon, std_dev: kept.plan.rmse },
      ),
    );
    table.replaceChildren(
      element("caption", {}, texts.frontierCaption(String(plan.privacy.delta))),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col", class: "number" }, texts.units.epsilon),
          element("th", { scope: "col", class: "number" }, texts.typical),
        ),
      ),
      element(
        "tbody",
        {},
        ...frontier.map(({ epsilon, std_dev }) =>
          element(
            "tr",
            {},
            element("td", { class: "number" }, numbers.digits(epsilon, 3)),
            element(
              "td",
              { class: "number", "data-value": String(std_dev) },
              numbers.digits(std_dev, 4),
            ),
          ),
        ),
      ),
    );
  };
  const node = element(
    "section",
    { id: "frontier", "aria-labelledby": "frontier-title" },
    element("h2", { id: "frontier-title" }, texts.sections.frontier),
    element(
      "div",
      { class: "table-view" },
      element(
        "figure",
        {},
        picture,
        element("p", { class: "legend" }, texts.frontierLegend),
        element("details", {}, element("summary", {}, texts.asTable), table),
      ),
      element(
        "div",
        { class: "asking" },
        element("h3", {}, texts.costTitle),
        labelled(texts.costTable, tables),
        labelled(texts.costWithin, within, texts.costHint),
        button(texts.costAsk, () => void ask()),
        answer,
      ),
    ),
  );
  return { node, update };
}
