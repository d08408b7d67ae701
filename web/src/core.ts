// What makes every number of the reader's page: residua's core.

import { CoreCalls, unpacked } from "./core_call";

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

export class Core {
  readonly attributes: Attribute[];
  // The attribute sets that were measured and are in this page, as "0,2": all that can be asked.
  readonly sets: Set<string>;

  private constructor(
    private readonly calls: CoreCalls,
    values: Uint8Array<ArrayBuffer>,
  ) {
    const length = new DataView(values.buffer, values.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(values.subarray(4, 4 + length))) as {
      plan: string;
      inverses: boolean;
      variances: string[];
      sets: [number[], number, number, number][];
    };
    this.calls.call({ do: "load", ...header }, values.subarray(4 + length));
    this.sets = new Set(header.sets.map(([set]) => set.join(",")));
    this.attributes = this.calls.call<{ attributes: Attribute[] }>({
      do: "describe",
    }).attributes;
  }

  static async start(): Promise<Core> {
    const [code, values] = await Promise.all([unpacked("core"), unpacked("release")]);
    return new Core(await CoreCalls.start(await WebAssembly.compile(code)), values);
  }

  table(table: number[], answers: Answers[], confidence: number): TableNumbers {
    const { labels, count, at } = this.calls.call<{
      labels: string[][];
      count: number;
      at: number;
    }>({
      do: "table",
      table,
      answers,
      confidence,
    });
    const column = (k: number): Float64Array => this.calls.doubles(at + 8 * count * k, count);
    return {
      labels,
      estimate: column(0),
      std_dev: column(1),
      ci_lower: column(2),
      ci_upper: column(3),
    };
  }

  ask(question: string, confidence: number): Estimate {
    return this.calls.call({ do: "ask", question, confidence });
  }

  compare(first: string, second: string, confidence: number): Comparison {
    return this.calls.call({ do: "compare", first, second, confidence });
  }

  isMeasured(set: number[]): boolean {
    return this.sets.has([...set].sort((a, b) => a - b).join(","));
  }
}
