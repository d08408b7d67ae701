// Files made in the page: numbers as CSV, pictures as SVG and PNG, specs.

import { estimateOf, isMissing } from "./shown_table";
import type { ShownTable } from "./shown_table";
import { element } from "./dom";

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type }), name);
}

const field = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

// In place of a mean, as the program writes it.
const kMeanNote = "too few rows";
const kCountColumns = ["estimate", "std_dev", "ci_lower", "ci_upper"];
const kMomentColumns = ["sum", "mean"].flatMap((name) => [
  name,
  ...["std_dev", "ci_lower", "ci_upper"].map((number) => `${name}_${number}`),
]);

// As `residua tables --digits full` writes it.
export function csvOf(table: ShownTable): string {
  const hasMean = table.mean !== null;
  const more = hasMean ? [...kMomentColumns, "mean_note"] : [];
  const lines = [[...table.names, ...kCountColumns, ...more].map(field)];
  const quantities = hasMean ? (["count", "sum", "mean"] as const) : (["count"] as const);
  for (const row of table.rows) {
    const numbers = quantities.flatMap((quantity) => {
      const { estimate, std_dev, ci_lower, ci_upper } = estimateOf(table, row, quantity);
      return [estimate, std_dev, ci_lower, ci_upper];
    });
    lines.push([
      ...row.labels.map(field),
      ...numbers.map((value) => (Number.isNaN(value) ? "" : String(value))),
      ...(hasMean ? [isMissing(estimateOf(table, row, "mean")) ? kMeanNote : ""] : []),
    ]);
  }
  return lines.map((line) => line.join(",") + "\n").join("");
}

export function saveCsv(table: ShownTable): void {
  saveText(csvOf(table), `${table.fileName}.csv`, "text/csv");
}

// A picture that needs no style of this page.
export function standaloneSvg(chart: SVGSVGElement): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const styles = getComputedStyle(chart);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("color", styles.color);
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("font-size", "11");
  const originals = [...chart.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, k) => {
    // Colours that come from variables of the page's style are written out.
    for (const name of ["fill", "stroke"]) {
      if (/var\(|currentColor/.test(node.getAttribute(name) ?? "")) {
        const value = getComputedStyle(originals[k] as Element).getPropertyValue(name);
        node.setAttribute(name, value);
      }
    }
  });
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(chart: SVGSVGElement, name: string): void {
  saveText(standaloneSvg(chart), `${name}.svg`, "image/svg+xml");
}

export async function savePng(chart: SVGSVGElement, name: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([standaloneSvg(chart)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const kScale = 2; // for print
  const canvas = element("canvas", {
    width: chart.width.baseVal.value * kScale,
    height: chart.height.baseVal.value * kScale,
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob !== null && save(blob, `${name}.png`));
}
