// Builds one HTML file, dist/reader.html, or dist/planner.html with --mode planner: styles, scripts
// and the WebAssembly are inside, and a Content-Security-Policy allows these and nothing else.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// What the licences of the libraries in the page ask to be kept with it, each text once.
function licencesOf(chunk) {
  const packages = new Set();
  for (const id of Object.keys(chunk.modules)) {
    const match = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id);
    if (match !== null) packages.add(match[1]);
  }
  const namesOf = new Map();
  for (const name of [...packages].sort()) {
    const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
    namesOf.set(text, [...(namesOf.get(text) ?? []), name]);
  }
  const parts = [...namesOf].map(([text, names]) => `${names.join(", ")}:\n${text}`);
  return [readFileSync("core/LICENCES.txt", "utf8").trim(), ...parts].join("\n\n");
}

// What differs between the pages, beside what their scripts do.
const kPages = {
  reader: {
    entry: "main.ts",
    withoutScript:
      "This page shows the tables of a release and needs JavaScript. Without it, read summary.md and the files in tables/.",
  },
  planner: {
    entry: "planner/main.ts",
    withoutScript: "This page plans a release and needs JavaScript. Without it, use residua plan.",
  },
};

function oneFile(page) {
  return {
    name: "one-file",
    enforce: "post",
    transformIndexHtml: {
      order: "pre",
      handler: (html) =>
        html
          .replace("<!--without-script-->", kPages[page].withoutScript)
          .replace("<!--entry-->", kPages[page].entry),
    },
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const chunk = files.find((file) => file.type === "chunk");
      const script = chunk.code.trim();
      // In a script, "</script" may stand in strings only.
      const code = script.replaceAll("</script", "<\\/script");
      const style = String(files.find((file) => file.fileName.endsWith(".css")).source).trim();
      const html = files.find((file) => file.fileName.endsWith(".html"));
      const core = readFileSync(`core/${page}.wasm.gz`).toString("base64");
      const policy = [
        "default-src 'none'",
        `script-src ${hashOf(code)} 'wasm-unsafe-eval'`,
        `style-src ${hashOf(style)}`,
        // Pictures that are downloaded; the planning page computes beside what it shows.
        page === "reader" ? "img-src blob:" : "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const parts = {
        "<!--policy-->": `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        "<!--style-->": `<style>${style}</style>`,
        "<!--licences-->": `<script type="text/plain" id="licences">\n${licencesOf(chunk)}\n</script>`,
        "<!--core-->": `<script type="text/plain" id="core">${core}</script>`,
        "<!--script-->": `<script type="module">${code}</script>`,
      };
      let text = String(html.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/, "")
        .replace(/<link rel="stylesheet"[^>]*>\s*/, "");
      for (const [mark, part] of Object.entries(parts)) {
        if (text.split(mark).length !== 2) throw new Error(`${mark} must stand once in the page`);
        text = text.replace(mark, () => part);
      }
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: "asset", fileName: `${page}.html`, source: text });
    },
  };
}

export default defineConfig(({ mode }) => {
  const page = mode === "planner" ? "planner" : "reader";
  return {
    base: "./",
    build: {
      outDir: "dist",
      emptyOutDir: false,
      cssCodeSplit: false,
      modulePreload: false,
      target: "es2022",
      reportCompressedSize: false,
      rollupOptions: { input: "page.html" },
    },
    plugins: [oneFile(page)],
  };
});
