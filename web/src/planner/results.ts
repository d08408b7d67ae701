// What the plan promises and how large its errors are, beside the plan that was kept.

import { button, element, marked } from "../dom";
import type { Certificate, PlanNumbers } from "./spec";
import type { Context, View } from "./view";

interface Row {
  name: string;
  value: (plan: PlanNumbers, certificate: Certificate | null) => string;
  data: (plan: PlanNumbers, certificate: Certificate | null) => number | null;
}

function rowsOf({ texts, numbers }: Context): Row[] {
  const four = (value: number | null): string => (value === null ? "–" : numbers.digits(value, 4));
  return [
    { name: texts.typical, value: (plan) => four(plan.rmse), data: (plan) => plan.rmse },
    {
      name: texts.largest,
      value: (plan) => four(Math.sqrt(plan.max_variance)),
      data: (plan) => Math.sqrt(plan.max_variance),
    },
    {
      name: texts.alone,
      value: (plan) => four(plan.alone_rmse),
      data: (plan) => plan.alone_rmse,
    },
    {
      name: texts.epsilonAt,
      value: (plan) => `${numbers.english(plan.promise.epsilon)} (${plan.promise.delta})`,
      data: (plan) => plan.privacy.epsilon,
    },
    {
      name: texts.rho,
      value: (plan) => numbers.english(plan.promise.rho),
      data: (plan) => plan.privacy.rho,
    },
    {
      name: texts.mu,
      value: (plan) => numbers.english(plan.promise.mu ?? "–"),
      data: (plan) => plan.privacy.mu,
    },
    {
      name: texts.pcost,
      value: (plan) => four(plan.privacy.pcost),
      data: (plan) => plan.privacy.pcost,
    },
    {
      name: texts.suspicion,
      value: (plan) => numbers.english(plan.promise.suspicion),
      data: () => null,
    },
    {
      name: texts.certificate,
      value: (_plan, certificate) => {
        if (certificate === null) return texts.computing;
        const above = certificate.above_lower_bound;
        return above === null
          ? texts.noCertificate
          : texts.above(numbers.percent(Math.max(Math.ceil(above * 1e5), 1) / 1e5));
      },
      data: (_plan, certificate) => certificate?.above_lower_bound ?? null,
    },
    {
      name: texts.contents,
      value: (plan) => texts.contentsValue(plan.marginals, numbers.count(plan.cells)),
      data: (plan) => plan.cells,
    },
  ];
}

export function resultsView(context: Context): View {
  const { state, texts, shared, numbers } = context;
  const rows = rowsOf(context);
  const table = element("table", { class: "facts" });
  const sentences = element("div", {});
  const technical = element("div", {});
  const words = element(
    "div",
    { class: "words" },
    sentences,
    element("details", {}, element("summary", {}, shared.technical), technical),
  );
  const warnings = element("div", {});
  const status = element("p", { class: "visually-hidden", role: "status" });
  const keep = button(texts.keep, () => state.keep());
  const swap = button(texts.swap, () => state.swap());
  const drop = button(texts.drop, () => state.drop());
  const undo = button(texts.undo, () => state.undo());
  const stop = button(texts.stop, () => state.stop());
  const busy = element("span", { class: "busy", role: "status" });
  let said = "";

  const update = (): void => {
    const { plan, kept, certificate } = state;
    swap.hidden = drop.hidden = kept === null;
    undo.disabled = !state.canUndo;
    keep.disabled = plan === null;
    stop.hidden = !state.isBusy;
    busy.textContent = state.isBusy ? texts.computing : "";
    const head = element(
      "tr",
      {},
      element("td", {}),
      element("th", { scope: "col" }, texts.now),
      kept === null ? null : element("th", { scope: "col" }, texts.kept),
    );
    const cell = (row: Row, of: PlanNumbers | null, found: Certificate | null): HTMLElement =>
      element(
        "td",
        { class: "number", "data-value": of === null ? "" : String(row.data(of, found) ?? "") },
        of === null ? "–" : row.value(of, found),
      );
    table.replaceChildren(
      element("thead", {}, head),
      element(
        "tbody",
        {},
        ...rows.map((row) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, row.name),
            cell(row, plan, certificate),
            kept === null ? null : cell(row, kept.plan, kept.certificate),
          ),
        ),
      ),
    );
    warnings.replaceChildren(
      ...(plan?.warnings ?? []).map((warning) =>
        element("p", { class: "warning" }, texts.warning(warning, numbers)),
      ),
      ...(plan !== null && !plan.converged
        ? [element("p", { class: "warning" }, texts.notConverged)]
        : []),
    );
    words.hidden = plan === null;
    if (plan !== null) {
      const better = plan.better_alone.number;
      sentences.replaceChildren(
        element(
          "p",
          {},
          better === 0 ? texts.noneAlone : texts.betterAlone(better, plan.marginals),
        ),
        ...shared.private(plan.promise).map((line) => element("p", {}, marked(line))),
      );
      technical.replaceChildren(
        ...shared.technicalText(plan.promise).map((line) => element("p", {}, marked(line))),
      );
      const sentence = texts.status(
        numbers.digits(plan.rmse, 3),
        plan.promise.epsilon,
        plan.promise.delta,
      );
      if (sentence !== said) status.textContent = said = sentence;
    }
  };
  const node = element(
    "section",
    { id: "results", "aria-labelledby": "results-title" },
    element("h2", { id: "results-title" }, texts.sections.results),
    element("div", { class: "actions" }, keep, swap, drop, undo, stop, busy),
    warnings,
    element("div", { class: "result-view" }, table, words),
    status,
  );
  return { node, update };
}
