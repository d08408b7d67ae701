// residua's core, compiled to WebAssembly: what makes every number of the page.

export type Answers = "planned" | "prefixes" | "cells";

export interface Group {
  name: string;
  cells: number[];
}

export interface Attribute {
  name: string;
  kind: "identity" | "prefix" | "range" | "hierarchy" | "custom";
  cells: string[];
  groups: Group[];
  nullCell: boolean;
  tellsCellsApart: boolean;
}

export interface Estimate {
  estimate: number;
  std_dev: number;
  ci_lower: number;
  ci_upper: number;
}

export interface Comparison {
  covariance: number;
  correlation: number;
  first: Estimate;
  second: Estimate;
  difference: Estimate;
  sum: Estimate;
  ratio: { estimate: number; ci_lower: number; ci_upper: number } | null;
}

// Row-major in the labels of its attributes.
export interface TableNumbers {
  labels: string[][];
  estimate: Float64Array;
  std_dev: Float64Array;
  ci_lower: Float64Array;
  ci_upper: Float64Array;
}

interface Exports {
  memory: WebAssembly.Memory;
  residua_alloc(size: number): number;
  residua_free(at: number): void;
  residua_call(text: number, length: number, bytes: number, numBytes: number): number;
  _initialize?: () => void;
}

async function unpacked(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const element = document.getElementById(id);
  const text = atob(element?.textContent ?? "");
  element?.remove(); // its megabytes are not needed twice
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Core {
  private readonly exports: Exports;
  readonly attributes: Attribute[];
  // The attribute sets that were measured and are in this page, as "0,2": all that can be asked.
  readonly sets: Set<string>;

  private constructor(exports: Exports, values: Uint8Array<ArrayBuffer>) {
    this.exports = exports;
    const length = new DataView(values.buffer, values.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(values.subarray(4, 4 + length))) as {
      plan: string;
      inverses: boolean;
      variances: string[];
      sets: [number[], number, number, number][];
    };
    this.call({ do: "load", ...header }, values.subarray(4 + length));
    this.sets = new Set(header.sets.map(([set]) => set.join(",")));
    this.attributes = this.call<{ attributes: Attribute[] }>({
      do: "describe",
    }).attributes;
  }

  static async start(): Promise<Core> {
    const [code, values] = await Promise.all([unpacked("core"), unpacked("release")]);
    // The core computes, and gets nothing of the system it runs on: whatever it asks for is missing.
    const kMissing = 52;
    const module = await WebAssembly.compile(code);
    const imports: Record<string, Record<string, () => number>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = () => kMissing;
    }
    const instance = await WebAssembly.instantiate(module, imports);
    const exports = instance.exports as unknown as Exports;
    exports._initialize?.();
    return new Core(exports, values);
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows
  private call<Result>(request: object, bytes: Uint8Array = new Uint8Array()): Result {
    const { exports } = this;
    const text = new TextEncoder().encode(JSON.stringify(request));
    const textAt = exports.residua_alloc(Math.max(1, text.length));
    const bytesAt = exports.residua_alloc(Math.max(1, bytes.length));
    new Uint8Array(exports.memory.buffer).set(text, textAt);
    new Uint8Array(exports.memory.buffer).set(bytes, bytesAt);
    const at = exports.residua_call(textAt, text.length, bytesAt, bytes.length);
    exports.residua_free(textAt);
    exports.residua_free(bytesAt);
    const memory = new Uint8Array(exports.memory.buffer);
    const answer = JSON.parse(
      new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at))),
    ) as { ok: Result } | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer.ok;
  }

  table(table: number[], answers: Answers[], confidence: number): TableNumbers {
    const { labels, count, at } = this.call<{
      labels: string[][];
      count: number;
      at: number;
    }>({
      do: "table",
      table,
      answers,
      confidence,
    });
    const column = (k: number): Float64Array =>
      new Float64Array(this.exports.memory.buffer, at + 8 * count * k, count).slice();
    return {
      labels,
      estimate: column(0),
      std_dev: column(1),
      ci_lower: column(2),
      ci_upper: column(3),
    };
  }

  ask(question: string, confidence: number): Estimate {
    return this.call({ do: "ask", question, confidence });
  }

  compare(first: string, second: string, confidence: number): Comparison {
    return this.call({ do: "compare", first, second, confidence });
  }

  isMeasured(set: number[]): boolean {
    return this.sets.has([...set].sort((a, b) => a - b).join(","));
  }
}
