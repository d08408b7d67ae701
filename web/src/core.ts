// What makes every number of the reader's page: residua's core.

import { CoreCalls, unpacked } from "./core_call";
import { FileRefused, headAndTail, sliceOf } from "./given_file";
import type { CoreProblem } from "./given_file";
import type { Queries } from "./facts";

export type Answers = "planned" | "prefixes" | "cells";

export interface Group {
  name: string;
  cells: number[];
}

// What is asked of rows: how many they are, or the sum or the mean of one of their numbers.
export type Quantity = "count" | "sum" | "mean";

export interface Attribute {
  name: string;
  kind: Queries;
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

// Of a mean of too few rows, all four numbers are not-a-number.
export interface Answer extends Estimate {
  quantity: { is: Quantity; of: number | null };
}

export interface Comparison {
  covariance: number;
  correlation: number;
  first: Estimate;
  second: Estimate;
  difference: Estimate;
  sum: Estimate;
  ratio: { estimate: number; ci_lower: number; ci_upper: number } | null;
  hasMean: boolean;
}

export type EstimateColumns = Record<keyof Estimate, Float64Array>;

// Row-major in the labels of its attributes; an attribute whose mean is asked has none.
export interface TableNumbers {
  labels: string[][];
  count: EstimateColumns;
  // Of a table with such an attribute. Where the rows are too few, the mean is not-a-number.
  moments: { sum: EstimateColumns; mean: EstimateColumns } | null;
}

// Part of the measurement file must be read first: call Core.read.
export class NeedsFile extends Error {
  constructor(readonly stretches: [number, number][]) {
    super("values of the file are needed");
  }
}

// The table was measured and did not fit into the page, which has not been given the file.
export class IsLeftOut extends Error {
  constructor(readonly table: string) {
    super(`${table} was left out`);
  }
}

// There are more answers or values than a page can hold.
export class IsTooLarge extends Error {
  constructor(readonly count: number) {
    super(`${count} values`);
  }
}

interface Missing {
  needs?: [number, number][];
  leftOut?: string;
  tooLarge?: number;
}

const keyOf = (set: number[]): string => [...set].sort((a, b) => a - b).join(",");

// What `attempt` still needs of the file.
function stretchesOf(attempt: () => void): [number, number][] {
  try {
    attempt();
  } catch (error) {
    if (error instanceof NeedsFile) return error.stretches;
  }
  return [];
}

export class Core {
  readonly attributes: Attribute[];
  // The attribute sets that were measured, as "0,2": those in this page, and those that were left
  // out, which are in the measurement file.
  readonly sets: Set<string>;
  readonly leftOut: Set<string>;
  private file: File | null = null;
  private reading: Promise<void> = Promise.resolve();

  private constructor(
    private readonly calls: CoreCalls,
    values: Uint8Array<ArrayBuffer>,
  ) {
    const length = new DataView(values.buffer, values.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(values.subarray(4, 4 + length))) as {
      plan: string;
      seal: string;
      inverses: boolean;
      variances: string[];
      sets: [number[], number, number, number][];
    };
    this.calls.call({ do: "load", ...header }, values.subarray(4 + length));
    this.sets = new Set(header.sets.map(([set]) => set.join(",")));
    const described = this.calls.call<{ attributes: Attribute[]; leftOut: number[][] }>({
      do: "describe",
    });
    this.attributes = described.attributes;
    this.leftOut = new Set(described.leftOut.map((set) => set.join(",")));
  }

  static async start(): Promise<Core> {
    const [code, values] = await Promise.all([unpacked("core"), unpacked("release")]);
    return new Core(await CoreCalls.start(await WebAssembly.compile(code)), values);
  }

  get hasFile(): boolean {
    return this.file !== null;
  }

  // Takes the measurement file that this page was made from; any other is FileRefused, and changes
  // nothing. Little of it is read.
  async open(file: File): Promise<void> {
    if (file.size === 0) throw new FileRefused("empty");
    let tail = 1 << 16;
    for (;;) {
      const bytes = await headAndTail(file, tail);
      const answer = this.calls.call<{ needs?: number; problem?: CoreProblem }>(
        { do: "open", size: file.size },
        bytes,
      );
      if (answer.problem !== undefined) throw new FileRefused(answer.problem);
      if (answer.needs === undefined) break;
      tail = answer.needs;
    }
    this.file = file;
  }

  close(): void {
    this.file = null;
    this.calls.call({ do: "close" });
  }

  // Reads what a question or a table needs of the file, one request after the other. A file that is
  // not what was measured is FileRefused, and closed.
  read(missing: () => void, onPart: (part: number) => void): Promise<void> {
    const next = this.reading.then(async () => {
      const stretches = stretchesOf(missing);
      const total = stretches.reduce((sum, [, size]) => sum + size, 0);
      let done = 0;
      for (const [offset, size] of stretches) {
        if (this.file === null) return;
        const bytes = await sliceOf(this.file, offset, size);
        const answer = this.calls.call<{ problem?: CoreProblem }>({ do: "take", offset }, bytes);
        if (answer.problem !== undefined) throw new FileRefused(answer.problem);
        done += size;
        onPart(done / total);
      }
    });
    this.reading = next.catch(() => this.close());
    return next;
  }

  // A call that may have to wait for values of the file.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows
  private request<Result extends object>(request: object): Result {
    const answer = this.calls.call<Result & Missing>(request);
    if (answer.needs !== undefined) throw new NeedsFile(answer.needs);
    if (answer.leftOut !== undefined) throw new IsLeftOut(answer.leftOut);
    if (answer.tooLarge !== undefined) throw new IsTooLarge(answer.tooLarge);
    return answer;
  }

  table(table: number[], answers: Answers[], confidence: number): TableNumbers {
    const { labels, count, at } = this.request<{
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
    const columns = (k: number): EstimateColumns => ({
      estimate: column(k),
      std_dev: column(k + 1),
      ci_lower: column(k + 2),
      ci_upper: column(k + 3),
    });
    const hasMean = table.some((i) => this.attributes[i]?.kind === "mean");
    return {
      labels,
      count: columns(0),
      moments: hasMean ? { sum: columns(4), mean: columns(8) } : null,
    };
  }

  ask(question: string, confidence: number): Answer {
    const { quantity, ...numbers } = this.request<
      Record<keyof Estimate, number | null> & Pick<Answer, "quantity">
    >({ do: "ask", question, confidence });
    return {
      quantity,
      estimate: numbers.estimate ?? NaN,
      std_dev: numbers.std_dev ?? NaN,
      ci_lower: numbers.ci_lower ?? NaN,
      ci_upper: numbers.ci_upper ?? NaN,
    };
  }

  compare(first: string, second: string, confidence: number): Comparison {
    return this.request({ do: "compare", first, second, confidence });
  }

  isMeasured(set: number[]): boolean {
    const key = keyOf(set);
    return this.sets.has(key) || this.leftOut.has(key);
  }

  // Whether the set's values are at hand: in the page, or in the file it was given.
  isAtHand(set: number[]): boolean {
    const key = keyOf(set);
    return this.sets.has(key) || (this.hasFile && this.leftOut.has(key));
  }
}
