import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Generates the types of the API for the editor, when the development server starts. */
const apiTypes: Plugin = {
  name: "api-types",
  apply: "serve",
  configureServer({ config }) {
    const script = fileURLToPath(new URL("../scripts/build/console-api.ts", import.meta.url));
    execFile(process.execPath, ["--import", "tsx", script], { cwd: dirname(dirname(script)) }, (error) => {
      if (error) config.logger.error(`The types of the API could not be generated: ${error.message}`);
    });
  },
};

/** Leaves out Mantine's palettes but grey: the console's colours are in src/app/tokens.css. */
const noPalettes: Plugin = {
  name: "no-palettes",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("default-css-variables.css")) return null;
    const palette =
      /\s--mantine-color-(?:red|pink|grape|violet|indigo|blue|cyan|green|lime|yellow|orange|teal)-[\w-]+:[^;]*;/g;
    return code.replaceAll(palette, "");
  },
};

/** Fails a build in which chunks load each other: what one of them begins with is not there yet. */
const noChunkCycles: Plugin = {
  name: "no-chunk-cycles",
  apply: "build",
  generateBundle(_, bundle) {
    const done = new Set<string>();
    const visit = (file: string, above: readonly string[]) => {
      if (above.includes(file)) this.error(`chunks load each other: ${[...above, file].join(" → ")}`);
      const chunk = bundle[file];
      if (done.has(file) || chunk?.type !== "chunk") return;
      for (const imported of chunk.imports) visit(imported, [...above, file]);
      done.add(file);
    };
    for (const file of Object.keys(bundle)) visit(file, []);
  },
};

/** `npx vite console` while working on it; HEDDLE_CONSOLE_URL names a running console, whose spaces it uses. */
const backend = process.env["HEDDLE_CONSOLE_URL"] ?? "http://127.0.0.1:3000";

const anyPart = (...parts: string[]) => new RegExp(parts.join("|").replaceAll("/", "[\\/]"));
const MANTINE = "@mantine/core/esm/components";

/**
 * Parts that many pages use and the first page does not. A page loads a chunk whole, so what the playground needs is one
 * and what it does not is another; browser tests limit the sizes of both first pages.
 */
const CONTROLS = anyPart(
  `${MANTINE}/(Tabs|Textarea|FloatingIndicator|SegmentedControl|Kbd)/`,
  "@mantine/hooks/esm/use-hotkeys",
  "console/src/ui/read-data-url",
  "console/src/ui/(messages/|tab-list|copy-button|use-copy|json-field|lazy-json)",
);
const FORMS = anyPart(
  "@mantine/form",
  `${MANTINE}/(Modal|ModalBase|Table|Switch|TextInput|Drawer|PasswordInput)/`,
  "console/src/ui/(confirm|simple-table|form-modal)",
);

export default defineConfig({
  plugins: [
    tanstackRouter({
      target: "react",
      autoCodeSplitting: true,
      routesDirectory: "src/routes",
      generatedRouteTree: "src/route-tree.gen.ts",
      routeFileIgnorePattern: "\\.test\\.",
    }),
    react(),
    apiTypes,
    noPalettes,
    noChunkCycles,
  ],
  // scripts and styles find their files beside them; only the page has addresses, which the server completes
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "controls", test: CONTROLS, minShareCount: 3, priority: 1 },
            { name: "forms", test: FORMS, minShareCount: 3, priority: 1 },
            // these use controls, which use what is shared: within it, the two would load each other
            {
              name: "run-value",
              test: anyPart("console/src/features/traces/(run-value|field-list|find-messages)"),
              priority: 1,
            },
            { name: "chart", test: anyPart("console/src/ui/(chart|chart-props)[.]"), priority: 1 },
            {
              name: "queries",
              test: anyPart("console/src/features/(runs/(queries|merge-newest)|(rules|projects)/queries)[.]"),
              priority: 1,
            },
            { name: "run-error", test: anyPart("console/src/features/traces/run-error"), priority: 1 },
            {
              name: "prompts",
              test: anyPart(
                "console/src/features/prompt-playground/(?!play-search)[a-z-]+[.]ts$",
                "console/src/features/prompts/(queries|template)[.]",
                "console/src/features/models/queries",
                `${MANTINE}/(NativeSelect|Autocomplete|Fieldset|TagsInput)/`,
              ),
              minShareCount: 2,
              priority: 2,
            },
            // the first page has neither tables nor JSON
            // used by what is shared
            { name: "filter-language", test: anyPart("console/src/features/runs/filter-language[.]"), priority: 3 },
            { name: "filter-field", test: anyPart("console/src/features/runs/filter-field[.]"), priority: 3 },
            // fields with several values and grids, of which the first page has none
            {
              name: "pills",
              test: anyPart(
                `${MANTINE}/(Pill|PillsInput|MultiSelect|TagsInput|SimpleGrid|Combobox/use-pills-reorder)/`,
              ),
              priority: 3,
            },
            {
              name: "resource-tags",
              test: anyPart("console/src/features/resource-tags/"),
              priority: 3,
            },
            { name: "virtual", test: anyPart("@tanstack/(react-virtual|virtual-core)"), priority: 1 },
            {
              name: "data-table",
              test: anyPart("console/src/ui/data-table", "@tanstack/(react-table|table-core)"),
              priority: 1,
            },
            { name: "differences", test: anyPart("console/src/ui/(json-diff|word-diff|diff-view)"), priority: 1 },
            { name: "traces", test: anyPart("console/src/features/traces/(queries|trace-tree)[.]"), priority: 1 },
            {
              name: "runs",
              test: anyPart("console/src/features/runs/(run-record|feedback-chips|run-icon|status-dot)[.]"),
              priority: 1,
            },
            // one file: as many small ones, they cost more in headers than in content
            { name: "icons", test: anyPart("@tabler/icons-react"), minShareCount: 3, priority: 1 },
            // only some forms have numbers
            { name: "numbers", test: anyPart("react-number-format", `${MANTINE}/NumberInput/`), priority: 2 },
            { name: "samples", test: anyPart("console/src/(features/samples|ui/code-sample)"), priority: 1 },
            {
              name: "json-view",
              test: anyPart("console/src/ui/json-(view|rows)"),
              priority: 1,
            },
            {
              name: "prompt-model",
              test: anyPart(
                "console/src/features/prompt-playground/(prompt|template|read-manifest|write-manifest)\\.ts",
              ),
              priority: 1,
            },
            // small parts of the playground, which some other pages use too
            {
              name: "answers",
              test: anyPart(
                "console/src/features/(interrupts/|threads/(failure-alert|trace-link)|playground/read-setup)",
                `${MANTINE}/(FileButton|Collapse)/`,
                "@mantine/hooks/esm/use-collapse",
              ),
              minShareCount: 2,
              priority: 1,
            },
            // small parts of the playground's frame, which the chat uses too
            {
              name: "playground-parts",
              test: anyPart("console/src/features/playground/(recent-threads|watcher|run-watch|choose-assistant)[.]"),
              priority: 2,
            },
            // many pages of evaluation use these, and neither the first page nor the playground
            {
              name: "evaluation",
              test: anyPart(
                `${MANTINE}/(MultiSelect|Progress)/`,
                "console/src/ui/(progress|permitted-button|new-button|search-field|clipped|actions-menu)[.]",
                "console/src/features/settings/use-permission",
                "console/src/features/(datasets/queries|annotation-queues/queries)[.]",
              ),
              minShareCount: 2,
              priority: 1,
            },
            // what several pages use is one file: ninety small ones cost more in headers than in content. The page of
            // components uses nearly all of it, and does not count
            { name: "shared", minShareCount: 7 },
            // the rest of what is loaded at once, which would be twenty files
            { name: "initial", tags: ["$initial"], priority: -1 },
          ],
        },
      },
      treeshake: {
        // do nothing when they are loaded and do not say so; the SDK would bring all of langsmith along
        moduleSideEffects: (id) => !/node_modules\/(@langchain\/(core|langgraph-sdk)|langsmith)\//.test(id),
      },
    },
  },
  server: { proxy: { "/api": { target: backend, ws: true }, "/console.json": backend } },
});
