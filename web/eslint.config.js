import js from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(
  js.configs.recommended,
  {
    files: ["src/**/*.ts"],
    extends: [typescript.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Numbers are part of what the page says.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Text of a release is set as text, never read as HTML.
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property })),
      ],
    },
  },
  {
    files: ["tests/**/*.js", "bench/**/*.js"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "process",
          "console",
          "performance",
          "addEventListener",
          "requestAnimationFrame",
          "setTimeout",
          "Blob",
          "Buffer",
          "document",
          "location",
          "getComputedStyle",
          "URLSearchParams",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
