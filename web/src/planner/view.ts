// The parts of the planning page. Each is made once and then shows what changed, so that what has
// the focus keeps it.

import { element } from "../dom";
import type { Numbers } from "../format";
import type { Texts } from "../texts";
import type { State } from "./state";
import type { PlannerTexts } from "./texts";

export interface Context {
  state: State;
  texts: PlannerTexts;
  shared: Texts; // those of the reader's page: what is said of privacy
  numbers: Numbers;
}

export interface View {
  node: HTMLElement;
  update: () => void;
}

let numFields = 0;

// A field with its label, and a hint below it if there is one.
export function labelled(label: string, field: HTMLElement, hint = ""): HTMLElement {
  const id = field.id === "" ? `field-${++numFields}` : field.id;
  field.id = id;
  const box = element("div", { class: "field" }, element("label", { for: id }, label), field);
  if (hint !== "") {
    const hintId = `${id}-hint`;
    field.setAttribute("aria-describedby", hintId);
    box.append(element("span", { class: "hint", id: hintId }, hint));
  }
  return box;
}

// A text field that reports what was typed when it is left or Enter is pressed.
export function textField(
  onChange: (value: string) => void,
  properties: Record<string, string> = {},
): HTMLInputElement {
  const input = element("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    ...properties,
    change: () => onChange(input.value),
  });
  return input;
}

export function selectField(
  choices: [string, string][],
  onChange: (value: string) => void,
): HTMLSelectElement {
  const select = element("select", { change: () => onChange(select.value) });
  select.append(...choices.map(([value, name]) => element("option", { value, dir: "auto" }, name)));
  return select;
}

// Shows a value, unless somebody is typing there.
export function setField(field: HTMLInputElement | HTMLSelectElement, value: string): void {
  if (field.value === value) return;
  if (document.activeElement === field && field instanceof HTMLInputElement) {
    if (field.type === "text" && !field.hasAttribute("data-reset")) return;
  }
  field.value = value;
}

export const toggled = (node: HTMLElement, isShown: boolean): void => {
  node.hidden = !isShown;
};
