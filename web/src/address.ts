// Each view has its own address: what is shown is written into the part after #.

export interface View {
  section: string;
  table: string[]; // names of attributes
  view: string;
  quantity: string; // of a table with means
  levels: Record<string, number>;
  question: string;
  second: string | null;
  confidence: number;
}

export function writeAddress(view: View): string {
  const parts = new URLSearchParams();
  if (view.section === "questions") {
    parts.set("question", view.question);
    if (view.second !== null) parts.set("second", view.second);
  } else {
    view.table.forEach((name) => parts.append("table", name));
    if (view.table.length === 0) parts.append("table", "");
    if (view.view !== "") parts.set("show", view.view);
    if (view.quantity !== "") parts.set("of", view.quantity);
    for (const [name, level] of Object.entries(view.levels)) {
      if (view.table.includes(name) && level > 0) parts.append("level", `${level} ${name}`);
    }
  }
  parts.set("confidence", String(view.confidence));
  return `#${parts.toString()}`;
}

export function readAddress(hash: string, defaults: View): View {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const view: View = { ...defaults, levels: {} };
  if (parts.has("question")) {
    view.section = "questions";
    view.question = parts.get("question") ?? "";
    view.second = parts.get("second");
  } else if (parts.has("table")) {
    view.section = "tables";
    view.table = parts.getAll("table").filter((name) => name !== "");
    view.view = parts.get("show") ?? "";
    view.quantity = parts.get("of") ?? "";
    for (const entry of parts.getAll("level")) {
      const space = entry.indexOf(" ");
      view.levels[entry.slice(space + 1)] = Number(entry.slice(0, space));
    }
  }
  const confidence = Number(parts.get("confidence"));
  if (confidence > 0 && confidence < 1) view.confidence = confidence;
  return view;
}
