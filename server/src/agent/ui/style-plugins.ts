/**
 * Processing of styles in generative UI: the PostCSS plugins that the project configures, or Tailwind where it has it
 * installed. All packages are the project's own; esbuild alone handles plain CSS and CSS modules.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { ConfigError } from "../../base/config/options.ts";

export interface EsbuildPlugin {
  name: string;
  setup(build: never): unknown;
}

interface CssBuild {
  onLoad(
    options: { filter: RegExp },
    callback: (args: { path: string }) => Promise<{ contents: string; loader: string; resolveDir: string }>,
  ): void;
}

interface PostCss {
  (plugins: unknown[]): { process(css: string, options: { from: string }): PromiseLike<{ css: string }> };
}

const CONFIGS = ["js", "cjs", "mjs", "json"].map((extension) => `postcss.config.${extension}`);
const TAILWIND = "@tailwindcss/postcss";
/** Packages through which a project may have Tailwind: none, esbuild's plugin for it, or LangGraph's own bundler. */
const TAILWIND_OWNERS = [[], ["esbuild-plugin-tailwindcss"], ["@langchain/langgraph-ui", "esbuild-plugin-tailwindcss"]];

type Create = (options?: unknown) => unknown;

/**
 * Returns esbuild's plugins for the styles of a project, whose components are below `directory`.
 * @throws ConfigError when the PostCSS configuration names a package that is not installed
 */
export async function stylePlugins(directory: string): Promise<EsbuildPlugin[]> {
  const config = nearestConfig(directory);
  if (config !== undefined) return [postCssPlugin(dirname(config), await configuredPlugins(config))];
  for (const through of TAILWIND_OWNERS) {
    const tailwind = await importThrough(directory, [...through, TAILWIND]);
    if (tailwind !== undefined)
      return [postCssPlugin(directory, [(tailwind as Create)({ base: packageOf(directory) })])];
  }
  return [];
}

/** Returns the PostCSS configuration of the directory, or of the nearest one above it that has one. */
function nearestConfig(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    const found = CONFIGS.map((name) => join(at, name)).find((file) => existsSync(file));
    // a package's configuration ends with its package.json
    if (found !== undefined || existsSync(join(at, "package.json")) || at === dirname(at)) return found;
  }
}

/** Loads the plugins of a configuration: instances, names, or names with options. */
async function configuredPlugins(file: string): Promise<unknown[]> {
  const attributes = file.endsWith(".json") ? { with: { type: "json" } } : {};
  const module = (await import(pathToFileURL(file).href, attributes)) as { default?: unknown };
  const config = typeof module.default === "function" ? await callConfig(module.default) : module.default;
  const { plugins = [] } = (config ?? {}) as { plugins?: unknown };
  const entries = Array.isArray(plugins)
    ? plugins.map((plugin): [unknown, unknown] =>
        Array.isArray(plugin) ? [plugin[0], plugin[1]] : [plugin, undefined],
      )
    : Object.entries(plugins as object);
  const used = entries.filter(([plugin, options]) => Boolean(plugin) && options !== false);
  return Promise.all(
    used.map(async ([plugin, options]) => {
      if (typeof plugin !== "string") return plugin;
      const create = (await importThrough(dirname(file), [plugin])) as Create | undefined;
      if (create === undefined) throw new ConfigError(`${file} names ${plugin}, which is not installed.`);
      // Tailwind looks for class names below this process's directory by default
      if (plugin === TAILWIND) return create({ base: dirname(file), ...(options as object | undefined) });
      return create(options === true ? undefined : options);
    }),
  );
}

const callConfig = (create: unknown): unknown => (create as (context: object) => unknown)({ env: "production" });

function postCssPlugin(directory: string, plugins: unknown[]): EsbuildPlugin {
  return {
    name: "postcss",
    async setup(build: CssBuild) {
      let postcss = (await importThrough(directory, ["postcss"])) as PostCss | undefined;
      for (const through of TAILWIND_OWNERS) {
        postcss ??= (await importThrough(directory, [...through, TAILWIND, "postcss"])) as PostCss | undefined;
      }
      if (postcss === undefined) {
        throw new ConfigError(
          `ui: processing styles requires postcss. Install it in ${directory}:\n  npm install -D postcss`,
        );
      }
      build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const { css } = await postcss(plugins).process(await readFile(path, "utf8"), { from: path });
        const loader = path.endsWith(".module.css") ? "local-css" : "css";
        return { contents: css, loader, resolveDir: dirname(path) };
      });
    },
  } as EsbuildPlugin;
}

/** Returns the directory of the package that contains a directory. */
function packageOf(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, "package.json"))) return at;
    if (at === dirname(at)) return directory;
  }
}

/** Imports a package's default export, resolved from a directory through other packages; undefined where it is missing. */
async function importThrough(directory: string, names: string[]): Promise<unknown> {
  let from = join(directory, "package.json");
  try {
    for (const name of names) from = createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
  const module = (await import(pathToFileURL(from).href)) as { default?: unknown };
  const { default: exported } = module;
  // the default of a CommonJS module that was compiled from ES modules
  const inner = (exported as { default?: unknown } | undefined)?.default;
  return typeof inner === "function" ? inner : exported;
}
