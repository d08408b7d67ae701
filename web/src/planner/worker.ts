// Computes beside the page, so that the page stays live while a plan is made.

import { CoreCalls } from "../core_call";

interface Request {
  id: number;
  calls: object[];
}

let calls: Promise<CoreCalls> | null = null;

// First the module, then requests: each is a list of calls, of which the first that fails ends it.
addEventListener("message", (event: MessageEvent<WebAssembly.Module | Request>) => {
  const { data } = event;
  if (data instanceof WebAssembly.Module) {
    calls = CoreCalls.start(data);
    return;
  }
  void calls?.then((core) => {
    const answers: { ok: unknown }[] = [];
    let error: string | null = null;
    for (const call of data.calls) {
      try {
        // An edit gives the text that the calls after it are about.
        const edited = answers[0]?.ok as { text?: string } | undefined;
        const text = edited?.text === undefined ? {} : { text: edited.text };
        answers.push({ ok: core.call({ ...call, ...text }) });
      } catch (caught) {
        error = caught instanceof Error ? caught.message : String(caught);
        break;
      }
    }
    postMessage({ id: data.id, answers, error });
  });
});
