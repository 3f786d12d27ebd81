/**
 * Bundles of generative UI: a project's components, built by esbuild without the packages that the page
 * already has. The page's SDK provides those through `LGUI_REQUIRE` and takes components through `LGUI_EXT_STORE`.
 */
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { ConfigError } from "../../base/config/options.ts";
import { stylePlugins } from "./style-plugins.ts";

/** Packages that the SDK provides to the page. */
const SHARED = [
  "react",
  "react-dom",
  "react/jsx-runtime",
  "@langchain/langgraph-sdk/react",
  "@langchain/langgraph-sdk/react-ui",
];

export interface BundleParams {
  /** The project's directory. */
  dir: string;
  agent: string;
  /** Path relative to `dir`; its default export holds components by name. */
  entry: string;
  /** Further packages that the page provides (`ui_config.shared`). */
  shared: string[];
}

/** The part of esbuild's API used here. esbuild comes with the project or with tsx. */
interface Esbuild {
  build(options: object): Promise<{ outputFiles: { path: string; contents: Uint8Array }[] }>;
}

interface PluginBuild {
  onResolve(options: { filter: RegExp }, callback: (args: { path: string }) => object | undefined): void;
  onLoad(options: { filter: RegExp; namespace: string }, callback: (args: { path: string }) => object): void;
}

/** @throws ConfigError when esbuild is not installed */
export async function loadBundler(dir: string): Promise<Esbuild> {
  const bases = [join(dir, "langgraph.json"), fileURLToPath(import.meta.resolve("tsx"))];
  for (const base of bases) {
    try {
      return createRequire(base)("esbuild") as Esbuild;
    } catch {
      // try the next place
    }
  }
  throw new ConfigError(`ui: building it requires esbuild. Install it in the project:\n  npm install -D esbuild`);
}

/** Name of the global variable that holds the bundle. */
export const globalName = (agent: string): string => `__LGUI_${agent.replaceAll(/[^a-zA-Z0-9]/g, "_")}`;

/**
 * Builds an agent's components. Rejects with esbuild's message.
 * @returns files by name: `entrypoint.js`, and `entrypoint.css` where components import styles
 */
export async function bundle(bundler: Esbuild, params: BundleParams): Promise<Map<string, Uint8Array>> {
  const entry = resolve(params.dir, params.entry);
  const contents = `
    import components from ${JSON.stringify(entry)};
    export function render(name, shadowRootId) {
      const root = document.getElementById(shadowRootId).shadowRoot;
      const target = root.appendChild(document.createElement("div"));
      globalThis[Symbol.for("LGUI_EXT_STORE")].respond(shadowRootId, components[name], target);
    }`;
  const { outputFiles } = await bundler.build({
    stdin: { contents, resolveDir: dirname(entry), sourcefile: "entrypoint.js", loader: "js" },
    outfile: join(params.dir, "entrypoint.js"),
    absWorkingDir: params.dir,
    bundle: true,
    write: false,
    format: "iife",
    globalName: globalName(params.agent),
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [fromPage([...SHARED, ...params.shared]), ...(await stylePlugins(dirname(entry)))],
  });
  return new Map(outputFiles.map(({ path, contents: bytes }) => [`entrypoint${extname(path)}`, bytes]));
}

const fromPage = (names: string[]) => ({
  name: "from-page",
  setup(build: PluginBuild) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      names.includes(path) ? { path, namespace: "from-page" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "from-page" }, ({ path }) => ({
      contents: `module.exports = globalThis[Symbol.for("LGUI_REQUIRE")](${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
});
