// The state of the planning page: the text of a spec, and what the core says of it.

import { Computer } from "./computer";
import type { Answers } from "./computer";
import type { Certificate, Cost, PlanNumbers, SpecEdit, SpecFacts } from "./spec";

export interface Start {
  name: string;
  text: string;
  files: Record<string, string>;
  version: string;
}

export interface FrontierPoint {
  epsilon: number;
  std_dev: number;
}

// A plan to compare with.
export interface KeptPlan {
  text: string;
  plan: PlanNumbers;
  certificate: Certificate | null;
}

export class State {
  readonly name: string;
  readonly version: string;
  text: string;
  spec: SpecFacts | null = null;
  plan: PlanNumbers | null = null;
  certificate: Certificate | null = null;
  frontier: FrontierPoint[] = [];
  kept: KeptPlan | null = null;
  rows: number | null = null; // a guess, where the spec has no place for it
  refused: string | null = null; // why the last change was not made
  unplanned: string | null = null; // why there is no plan
  isBusy = false;
  numAnswers = 0; // of the core, to changes
  milliseconds = 0; // that the last of them took
  private savedText: string;
  private readonly live: Computer;
  private readonly background: Computer;
  private readonly past: string[] = [];
  private pendingText: string | null = null;
  private pendingEdits: SpecEdit[] = [];
  private isPending = false;
  private isUndoing = false;
  private generation = 0; // of texts: what is computed for an older one is dropped

  constructor(
    start: Start,
    module: WebAssembly.Module,
    private readonly changed: (what: "plan" | "more") => void,
  ) {
    this.name = start.name;
    this.version = start.version;
    this.text = start.text;
    this.savedText = start.text;
    this.live = new Computer(module, start.files);
    this.background = new Computer(module, start.files);
  }

  get isSaved(): boolean {
    return this.text === this.savedText;
  }
  get canUndo(): boolean {
    return this.past.length > 0;
  }

  saved(): void {
    this.savedText = this.text;
    this.changed("more");
  }

  // Changes of values; the last one of each counts.
  edit(...edits: SpecEdit[]): void {
    for (const edit of edits) {
      const path = edit.path.join("\u0000");
      this.pendingEdits = this.pendingEdits.filter(
        (other) => other.path.join("\u0000") !== path || other.path.length !== edit.path.length,
      );
      this.pendingEdits.push(edit);
    }
    this.update();
  }

  setText(text: string): void {
    this.pendingText = text;
    this.pendingEdits = [];
    this.update();
  }

  setRows(rows: number | null): void {
    this.rows = rows;
    if (this.spec?.hasData === true) {
      this.edit({ path: ["data", "rows"], value: rows === null ? null : String(rows) });
    } else {
      this.update();
    }
  }

  undo(): void {
    const text = this.past.pop();
    if (text === undefined) return;
    this.isUndoing = true;
    this.setText(text);
  }

  keep(): void {
    if (this.plan === null) return;
    this.kept = { text: this.text, plan: this.plan, certificate: this.certificate };
    this.changed("plan");
  }
  drop(): void {
    this.kept = null;
    this.changed("plan");
  }
  swap(): void {
    const { kept } = this;
    if (kept === null) return;
    this.keep();
    this.setText(kept.text);
  }

  // Says why a change cannot be made.
  refuse(why: string): void {
    this.refused = why;
    this.changed("plan");
  }

  // Gives up a plan that takes too long; the last change is not made.
  stop(): void {
    this.live.stop();
    this.background.stop();
    ++this.generation;
    this.isPending = false;
    this.isBusy = false;
    this.changed("plan");
  }

  private request(kind: string, more: object = {}): object {
    return { do: kind, name: this.name, text: this.text, rows: this.rows, ...more };
  }

  // Computes what is pending; while that goes on, what comes in is gathered.
  update(): void {
    if (this.isPending) return;
    const generation = ++this.generation;
    const text = this.pendingText ?? this.text;
    const edits = this.pendingEdits;
    this.pendingText = null;
    this.pendingEdits = [];
    this.isPending = true;
    const begin = performance.now();
    setTimeout(() => {
      if (!this.isPending || generation !== this.generation) return;
      this.isBusy = true;
      this.changed("more");
    }, 300);
    void this.live
      .ask([this.request("edit", { text, edits }), this.request("describe"), this.request("plan")])
      .then((answers) => {
        if (generation !== this.generation) return;
        this.isPending = false;
        this.isBusy = false;
        this.milliseconds = performance.now() - begin;
        ++this.numAnswers;
        this.take(answers, text);
        if (this.pendingText !== null || this.pendingEdits.length > 0) this.update();
      });
  }

  private take({ answers, error }: Answers, asked: string): void {
    const [edited, described, planned] = answers.map(({ ok }) => ok);
    this.refused = null;
    if (edited === undefined || described === undefined) {
      this.refused = error;
      // A text that was typed stays, so that it can be mended.
      if (asked !== this.text) this.unplanned = error;
      this.changed("plan");
      return;
    }
    const { text } = edited as { text: string };
    if (text !== this.text && !this.isUndoing) this.past.push(this.text);
    this.isUndoing = false;
    this.text = text;
    this.spec = described as SpecFacts;
    this.plan = (planned ?? null) as PlanNumbers | null;
    this.unplanned = error;
    this.certificate = null;
    this.changed("plan");
    this.computeMore();
  }

  // The certificate and the frontier take longer, and wait until nothing changes.
  private computeMore(): void {
    const { generation } = this;
    if (this.plan === null) {
      this.frontier = [];
      return;
    }
    setTimeout(() => {
      if (generation === this.generation) void this.more(generation);
    }, 250);
  }

  private async more(generation: number): Promise<void> {
    const ask = async (call: object): Promise<unknown> => {
      const { answers } = await this.background.ask([call]);
      return answers[0]?.ok;
    };
    const points: FrontierPoint[] = [];
    for (const epsilon of kFrontier) {
      const point = await ask(this.request("frontier", { epsilon: String(epsilon), set: null }));
      if (generation !== this.generation) return;
      if (point !== undefined) points.push({ epsilon, std_dev: (point as Cost).std_dev });
    }
    this.frontier = points;
    this.changed("more");
    const certificate = await ask(this.request("certify"));
    if (generation !== this.generation) return;
    this.certificate = (certificate ?? {
      lower_bound: null,
      above_lower_bound: null,
    }) as Certificate;
    this.changed("more");
  }

  // What it costs to have a table's standard deviation within a limit; null: all answers.
  async cost(set: number[] | null, within: number): Promise<Cost | string> {
    const { answers, error } = await this.background.ask([this.request("cost", { set, within })]);
    return (answers[0]?.ok as Cost | undefined) ?? error ?? "";
  }
}

const kFrontier = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10];
