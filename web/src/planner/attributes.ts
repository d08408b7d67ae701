// The attributes: their cells, and what is asked of each.

import { button, element } from "../dom";
import { settingOf } from "./spec";
import type { QueryKind, SpecAttribute, SpecEdit } from "./spec";
import { kEncodings, plainText, tomlCells, tomlString } from "./toml";
import type { EncodingKind } from "./toml";
import { labelled, selectField, textField } from "./view";
import type { Context, View } from "./view";
import { removeAttribute } from "./workload";

const kQueries: QueryKind[] = ["identity", "prefix", "range"];

// What may be asked of an attribute that is written so; one choice is no choice.
function possibleQueries(asked: QueryKind, kind: EncodingKind | undefined): QueryKind[] {
  if (kind === "integers" && (asked === "mean" || kQueries.includes(asked))) {
    return [...kQueries, "mean"];
  }
  return kQueries.includes(asked) ? kQueries : [asked];
}

export function attributesView({ state, texts, numbers }: Context): View {
  const body = element("tbody", {});
  const cellsEdits = (name: string, kind: EncodingKind, typed: string): SpecEdit[] => [
    ...kEncodings
      .filter((other) => other !== kind)
      .map((other) => ({ path: ["attributes", name, other], value: null })),
    { path: ["attributes", name, kind], value: tomlCells(kind, typed) },
  ];

  const row = (attribute: SpecAttribute, index: number): HTMLElement => {
    const { spec } = state;
    const { name } = attribute;
    const written = (key: string): string | undefined =>
      spec === null ? undefined : settingOf(spec, "attributes", name, key);
    const kind = kEncodings.find((key) => written(key) !== undefined);
    const cells = element("td", { class: "cells" });
    if (kind === undefined) {
      cells.append(
        element("span", { dir: "auto" }, `${attribute.labels[0] ?? ""} … ${attribute.last}`),
        element("span", { class: "hint" }, texts.inText),
      );
    } else {
      const typed = textField((value) => state.edit(...cellsEdits(name, kind, value)), {
        "aria-label": texts.cellsOf(name, texts.encodings[kind]),
        dir: "auto",
      });
      typed.value = plainText(written(kind) ?? "");
      cells.append(element("span", { class: "hint" }, texts.encodings[kind]), typed);
    }
    if (attribute.readFromData) {
      cells.append(element("span", { class: "warning" }, texts.readFromData));
    }
    const possible = possibleQueries(attribute.queries, kind);
    const queries = selectField(
      possible.map((value) => [value, texts.queries[value]]),
      (value) => state.edit({ path: ["attributes", name, "queries"], value: tomlString(value) }),
    );
    queries.value = attribute.queries;
    queries.disabled = possible.length === 1;
    queries.setAttribute("aria-label", texts.queriesOf(name));
    const remove = button(
      texts.remove,
      () => {
        if (state.spec !== null) state.edit(...removeAttribute(state.spec, index));
      },
      "quiet",
    );
    remove.setAttribute("aria-label", texts.removeAttribute(name));
    remove.disabled = (spec?.attributes.length ?? 0) < 2;
    return element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, name),
      element(
        "td",
        { class: "number" },
        attribute.queries === "mean" ? "–" : numbers.count(attribute.size),
      ),
      cells,
      element("td", {}, queries),
      element("td", {}, remove),
    );
  };

  const newName = textField(() => undefined, { id: "new-name" });
  const newKind = selectField(
    kEncodings.map((kind) => [kind, texts.encodings[kind]]),
    () => undefined,
  );
  newKind.id = "new-kind";
  const newCells = textField(() => undefined, { id: "new-cells" });
  const add = button(texts.addAttribute, () => {
    const name = newName.value.trim();
    const kind = newKind.value as EncodingKind;
    if (name === "" || newCells.value.trim() === "") {
      (name === "" ? newName : newCells).focus();
      return;
    }
    if (state.spec?.attributes.some((other) => other.name === name)) {
      newName.focus();
      state.refuse(texts.isThere(name));
      return;
    }
    state.edit(...cellsEdits(name, kind, newCells.value));
    newName.value = newCells.value = "";
    newName.focus();
  });

  let shape = "";
  const update = (): void => {
    const { spec } = state;
    if (spec === null) return;
    const about = spec.settings.filter(([path]) => path[0] === "attributes");
    const now = JSON.stringify([spec.attributes, about]);
    // A change that was refused is shown no longer.
    if (now === shape && state.refused === null) return;
    shape = now;
    const fields = "input, select, button";
    const place = [...body.querySelectorAll(fields)].indexOf(document.activeElement as Element);
    body.replaceChildren(...spec.attributes.map(row));
    if (place >= 0) (body.querySelectorAll(fields)[place] as HTMLElement | undefined)?.focus();
  };
  const column = (name: string, kind = ""): HTMLElement =>
    element("th", { scope: "col", class: kind }, name);
  const node = element(
    "section",
    { id: "attributes", "aria-labelledby": "attributes-title" },
    element("h2", { id: "attributes-title" }, texts.sections.attributes),
    element("p", { class: "intro" }, texts.attributesIntro),
    element(
      "div",
      { class: "scroller", tabindex: 0, role: "region", "aria-label": texts.sections.attributes },
      element(
        "table",
        { id: "attribute-list" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            column(texts.attribute),
            column(texts.numCells, "number"),
            column(texts.cells),
            column(texts.asked),
            element("td", {}),
          ),
        ),
        body,
      ),
    ),
    element("h3", {}, texts.addAttributeTitle),
    element(
      "div",
      { class: "controls" },
      labelled(texts.attribute, newName),
      labelled(texts.kind, newKind),
      labelled(texts.cells, newCells, texts.cellsHint),
      add,
    ),
  );
  return { node, update };
}
