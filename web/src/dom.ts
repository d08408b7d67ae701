// Elements. Text is only ever set as text: no string of a release is read as HTML.

type Child = Node | string | null;
type Properties = Record<string, string | number | boolean | ((event: Event) => void)>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else if (typeof value === "boolean") {
      made.toggleAttribute(name, value);
    } else {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...children.filter((child): child is Node | string => child !== null));
  return made;
}

// A paragraph of texts.ts, with its two marks.
export function marked(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const part of text.split(/(`[^`]*`|\*\*[^*]*\*\*)/)) {
    if (part.startsWith("`")) {
      fragment.append(element("code", { dir: "auto" }, part.slice(1, -1)));
    } else if (part.startsWith("**")) {
      fragment.append(element("strong", {}, part.slice(2, -2)));
    } else {
      fragment.append(part);
    }
  }
  return fragment;
}

let numIds = 0;

// A choice with its label. `choices` are values and what they are called.
export function choice(
  label: string,
  choices: [string, string][],
  chosen: string,
  onChange: (value: string) => void,
): HTMLElement {
  const id = `choice-${++numIds}`;
  const select = element("select", {
    id,
    change: () => onChange(select.value),
  });
  for (const [value, name] of choices) {
    select.append(element("option", { value, dir: "auto", selected: value === chosen }, name));
  }
  return element("div", { class: "field" }, element("label", { for: id }, label), select);
}

export function button(label: string, onClick: () => void, kind = ""): HTMLButtonElement {
  return element("button", { type: "button", class: kind, click: onClick }, label);
}

// Pages that came over a network without encryption have no clipboard.
function copyText(text: string): void {
  void (navigator.clipboard as Clipboard | undefined)?.writeText(text);
}

// A button that copies what `text` gives, and says so for a moment.
export function copyButton(text: () => string, copy: string, copied: string): HTMLButtonElement {
  const copier = button(copy, () => {
    copyText(text());
    copier.textContent = copied;
    setTimeout(() => (copier.textContent = copy), 1500);
  });
  return copier;
}

// Text to copy, with a button that copies it.
export function snippet(text: string, copy: string, copied: string): HTMLElement {
  return element(
    "div",
    { class: "snippet" },
    element("pre", { tabindex: 0 }, element("code", {}, text)),
    copyButton(() => text, copy, copied),
  );
}
