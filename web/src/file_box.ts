// Where the page is given the measurement file it was made from: a button, and what became of the
// file. A file that is dropped anywhere on the page does the same.

import { button, element, marked } from "./dom";
import type { Facts } from "./facts";
import type { Numbers } from "./format";
import type { FileProblem } from "./given_file";
import type { Texts } from "./texts";

// What became of the file that was given last.
export type GivenFile =
  | { state: "none" }
  | { state: "opening" | "open"; name: string }
  | { state: "refused"; name: string; problem: FileProblem };

export interface FileBoxContext {
  facts: Facts;
  texts: Texts;
  numbers: Numbers;
  given: GivenFile;
  onFile: (file: File) => void;
}

// What became of the file that was given.
export function fileStatus(context: FileBoxContext): HTMLElement {
  const { facts, texts, given } = context;
  const status = element("div", { class: "file-status", role: "status" });
  if (given.state === "opening") status.append(texts.file.opening(given.name));
  if (given.state === "open") {
    status.append(texts.file.isOpen(given.name, facts.numTables + facts.numLeftOut));
  }
  if (given.state === "refused") {
    const problem = texts.file.problems[given.problem](given.name, facts.file.name);
    status.append(element("p", { class: "warning", role: "alert", dir: "auto" }, problem));
  }
  return status;
}

// `lead` says which tables are missing.
export function fileBox(context: FileBoxContext, lead: string): HTMLElement {
  const { facts, texts, numbers, given, onFile } = context;
  const { name, bytes, isReadable } = facts.file;
  const box = element("div", { class: "file-box" }, element("p", { dir: "auto" }, lead));
  if (!isReadable) {
    box.append(element("p", {}, marked(texts.file.notHere(name))), fileStatus(context));
    return box;
  }
  if (given.state !== "open") {
    const input = element("input", {
      type: "file",
      accept: ".parquet",
      hidden: true,
      "aria-label": texts.file.choose(name),
      change: () => {
        const [file] = input.files ?? [];
        if (file !== undefined) onFile(file);
      },
    });
    box.append(
      element("p", {}, marked(texts.file.ask(name, numbers.digits(bytes / 1e6, 3)))),
      input,
      button(texts.file.choose(name), () => input.click(), "main"),
    );
  }
  box.append(fileStatus(context));
  return box;
}
