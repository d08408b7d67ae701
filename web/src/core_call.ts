// residua's core, compiled to WebAssembly: calls take JSON and return JSON.

interface Exports {
  memory: WebAssembly.Memory;
  residua_alloc(size: number): number;
  residua_free(at: number): void;
  residua_call(text: number, length: number, bytes: number, numBytes: number): number;
  _initialize?: () => void;
}

// What an element of the page holds: base64 of gzip.
export async function unpacked(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const element = document.getElementById(id);
  const text = atob(element?.textContent ?? "");
  element?.remove(); // its megabytes are not needed twice
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class CoreCalls {
  private constructor(private readonly exports: Exports) {}

  static async start(module: WebAssembly.Module): Promise<CoreCalls> {
    // The core computes, and gets nothing of the system it runs on: whatever it asks for is missing.
    const kMissing = 52;
    const imports: Record<string, Record<string, () => number>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = () => kMissing;
    }
    const instance = await WebAssembly.instantiate(module, imports);
    const exports = instance.exports as unknown as Exports;
    exports._initialize?.();
    return new CoreCalls(exports);
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows
  call<Result>(request: object, bytes: Uint8Array = new Uint8Array()): Result {
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

  // Doubles that a call left in memory.
  doubles(at: number, count: number): Float64Array {
    return new Float64Array(this.exports.memory.buffer, at, count).slice();
  }
}
