// The choice of a page's language.

import { element } from "./dom";
import { texts as allTexts } from "./texts";
import type { Language } from "./texts";

export function languageChoice(
  language: Language,
  onLanguage: (language: Language) => void,
): HTMLElement {
  const languages = element("div", {
    class: "languages",
    role: "group",
    "aria-label": allTexts[language].language,
  });
  for (const other of Object.keys(allTexts) as Language[]) {
    languages.append(
      element(
        "button",
        {
          type: "button",
          lang: other,
          "aria-pressed": String(other === language),
          click: () => onLanguage(other),
        },
        allTexts[other].languageName,
      ),
    );
  }
  return languages;
}
