// The budget: its unit and size, what a row is, and how many there are.

import { element } from "../dom";
import { settingOf, kUnits, unitOf } from "./spec";
import type { PlanNumbers, SpecEdit, Unit } from "./spec";
import { plainText, tomlNumber, tomlString } from "./toml";
import { labelled, selectField, setField, textField, toggled } from "./view";
import type { Context, View } from "./view";

// What the slider reaches, as powers of ten.
const kReach: Record<Unit, [number, number]> = {
  epsilon: [-2, 1.5],
  rho: [-5, 1],
  mu: [-2.5, 1],
  pcost: [-5, 1.3],
  max_std_dev: [-1, 4],
  target_loss: [-2, 8],
};
const kSteps = 350;

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

const atStep = (unit: Unit, step: number): number => {
  const [low, high] = kReach[unit];
  return 10 ** (low + ((high - low) * step) / kSteps);
};
const stepOf = (unit: Unit, value: number): number => {
  const [low, high] = kReach[unit];
  return Math.round(((Math.log10(value) - low) / (high - low)) * kSteps);
};

// About the same budget in another unit.
function inUnit(plan: PlanNumbers | null, unit: Unit): string {
  if (plan === null) return unit === "max_std_dev" || unit === "target_loss" ? "10" : "1";
  const values: Record<Unit, number | null> = {
    epsilon: plan.privacy.epsilon,
    rho: plan.privacy.rho,
    mu: plan.privacy.mu,
    pcost: plan.privacy.pcost,
    max_std_dev: Math.sqrt(plan.max_variance),
    target_loss: plan.loss,
  };
  return threeDigits(values[unit] ?? 1);
}

// What sets a budget of this size, in place of the one that is there.
export function budgetEdits(unit: Unit, value: string): SpecEdit[] {
  const edits: SpecEdit[] = kUnits
    .filter((other) => other !== unit)
    .map((other) => ({ path: ["privacy", other], value: null }));
  return [...edits, { path: ["privacy", unit], value: tomlNumber(value) }];
}

export function budgetView({ state, texts }: Context): View {
  let unit: Unit = "epsilon";
  const setBudget = (value: string): void => state.edit(...budgetEdits(unit, value));
  const units = selectField(
    kUnits.map((name) => [name, texts.units[name]]),
    (chosen) => {
      unit = chosen as Unit;
      setBudget(inUnit(state.plan, unit));
    },
  );
  units.id = "unit";
  const size = textField(setBudget, { id: "budget", inputmode: "decimal" });
  const slider = element("input", {
    type: "range",
    id: "slider",
    min: 0,
    max: kSteps,
    step: 1,
    "aria-label": texts.slider,
    input: () => {
      const value = threeDigits(atStep(unit, Number(slider.value)));
      size.value = value;
      slider.setAttribute("aria-valuetext", value);
      setBudget(value);
    },
  });
  const delta = textField(
    (value) =>
      state.edit({
        path: ["privacy", "delta"],
        value: value.trim() === "" ? null : tomlNumber(value),
      }),
    { id: "delta", inputmode: "decimal" },
  );
  const neighbours = selectField(
    [
      ["add-remove", texts.addRemove],
      ["replace-one", texts.replaceOne],
    ],
    (value) => state.edit({ path: ["privacy", "neighbours"], value: tomlString(value) }),
  );
  neighbours.id = "neighbours";
  const identifier = textField((value) => setIdentifier(value, maxRows.value), {
    id: "identifier",
  });
  const maxRows = textField((value) => setIdentifier(identifier.value, value), {
    id: "max-rows",
    inputmode: "numeric",
  });
  const setIdentifier = (name: string, most: string): void => {
    const isNamed = name.trim() !== "";
    state.edit(
      { path: ["privacy", "unit"], value: null },
      { path: ["privacy", "identifier"], value: isNamed ? tomlString(name.trim()) : null },
      { path: ["privacy", "max_rows"], value: isNamed ? most.trim() || "1" : null },
    );
  };
  const rows = textField(
    (value) => {
      const count = Math.round(Number(value.replaceAll(/[ .,'_](?=\d{3}\b)/g, "")));
      state.setRows(count >= 1 ? count : null);
    },
    { id: "rows", inputmode: "numeric" },
  );
  const maxRowsField = labelled(texts.maxRows, maxRows, texts.maxRowsHint);

  const update = (): void => {
    const { spec } = state;
    if (spec === null) return;
    unit = unitOf(spec) ?? unit;
    setField(units, unit);
    const value = plainText(settingOf(spec, "privacy", unit) ?? "");
    setField(size, value);
    const step = stepOf(unit, Number(value));
    if (document.activeElement !== slider && Number.isFinite(step)) {
      slider.value = String(Math.min(kSteps, Math.max(0, step)));
    }
    slider.setAttribute("aria-valuetext", value);
    setField(delta, plainText(settingOf(spec, "privacy", "delta") ?? ""));
    delta.placeholder = state.plan === null ? "" : String(state.plan.privacy.delta);
    setField(neighbours, spec.neighbours);
    setField(identifier, spec.identifier);
    setField(maxRows, spec.identifier === "" ? "" : String(spec.maxRows));
    toggled(maxRowsField, spec.identifier !== "");
    const known = spec.rows ?? state.rows;
    setField(rows, known === null ? "" : String(known));
  };
  const node = element(
    "section",
    { id: "budget-section", "aria-labelledby": "budget-title" },
    element("h2", { id: "budget-title" }, texts.sections.budget),
    element(
      "div",
      { class: "controls budget-bar" },
      labelled(texts.unit, units),
      labelled(texts.budget, size),
      element("div", { class: "field slider" }, slider),
      labelled(texts.delta, delta, texts.deltaHint),
    ),
    element(
      "div",
      { class: "controls" },
      labelled(texts.neighbours, neighbours),
      labelled(texts.identifier, identifier, texts.identifierHint),
      maxRowsField,
      labelled(texts.rows, rows, texts.rowsHint),
    ),
  );
  return { node, update };
}
