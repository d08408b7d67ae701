// A worker with the core in it. Requests are answered in their order.

import PlanWorker from "./worker?worker&inline";

export interface Answers {
  answers: { ok: unknown }[];
  error: string | null; // of the call after those that were answered
}

export class Computer {
  private worker: Worker;
  private numRequests = 0;
  private readonly waiting = new Map<number, (answers: Answers) => void>();

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly files: Record<string, string>,
  ) {
    this.worker = this.startWorker();
  }

  private startWorker(): Worker {
    const worker = new PlanWorker();
    worker.addEventListener("message", (event: MessageEvent<Answers & { id: number }>) => {
      const { id, ...answers } = event.data;
      this.waiting.get(id)?.(answers);
      this.waiting.delete(id);
    });
    worker.postMessage(this.module);
    worker.postMessage({ id: 0, calls: [{ do: "files", files: this.files }] });
    return worker;
  }

  ask(calls: object[]): Promise<Answers> {
    const id = ++this.numRequests;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ id, calls });
    });
  }

  // Gives up what is being computed: nobody is told of it.
  stop(): void {
    this.worker.terminate();
    this.waiting.clear();
    this.worker = this.startWorker();
  }
}
