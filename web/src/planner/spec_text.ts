// The spec itself: its text, which can be changed too, and its download.

import { button, copyButton, element, snippet } from "../dom";
import { saveText } from "../download";
import type { Context, View } from "./view";

export function specView({ state, texts }: Context): View {
  const area = element("textarea", {
    id: "spec-text",
    rows: 22,
    spellcheck: "false",
    autocapitalize: "off",
    "aria-label": texts.specLabel(state.name),
    change: () => state.setText(area.value),
  });
  const save = button(
    texts.save(state.name),
    () => {
      if (area.value !== state.text) return; // first it must be read
      saveText(state.text, state.name, "application/toml");
      state.saved();
    },
    "main",
  );
  const saved = element("span", { class: "hint", role: "status" });
  const update = (): void => {
    // A text that cannot be read stays, so that it can be mended.
    if (state.refused === null || state.unplanned === null) area.value = state.text;
    saved.textContent = state.isSaved ? "" : texts.unsaved;
  };
  area.value = state.text;
  const node = element(
    "section",
    { id: "spec", "aria-labelledby": "spec-title" },
    element("h2", { id: "spec-title" }, texts.sections.spec),
    element("p", { class: "intro" }, texts.specIntro),
    area,
    element(
      "div",
      { class: "actions" },
      save,
      copyButton(() => state.text, texts.copy, texts.copied),
      saved,
    ),
    element("h3", {}, texts.next),
    snippet(
      `residua check ${state.name}\nresidua plan ${state.name}\nresidua release ${state.name} -o release`,
      texts.copy,
      texts.copied,
    ),
    element("footer", {}, texts.madeWith(state.version)),
  );
  return { node, update };
}
