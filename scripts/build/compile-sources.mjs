/**
 * Compiles the sources of a checkout to `.compiled`, laid out like them, as `npm run build` does for the published
 * package but within a second and without checking types. Only changed files are compiled. A process that runs
 * compiled files starts faster and takes 40 MB less than with a loader that compiles in memory.
 *
 * The command line and the servers are also joined to a few files, `.compiled/joined`, which the launcher runs: a trace
 * platform loads from them with 1.4 instead of 2.3 s of a processor. Processes that have their own file (graph
 * hosts, workers) run that.
 *
 * Source maps are beside the files; `NODE_OPTIONS=--enable-source-maps` uses them.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

const SOURCES = ["server/src", "host-kit/src", "graph-host/src", "cli/src"];
/** Read at run time, from the same places relative to the code. */
const LINKS = [
  "package.json",
  "server/migrations",
  "docs",
  "console",
  "scripts",
  "graph-host-python",
  "graph-host/preload.mjs",
  "graph-host/replaced-modules.mjs",
  "server/src/trace/code-evaluators/interpreters",
];
const LAUNCHER = '#!/usr/bin/env node\nimport "../../joined/main.js";\n';
const ENTRY = "cli/src/main.ts";
const IS_SOURCE = /(?<!\.test|\.d)\.ts$/;

/** Returns the directory of the compiled files. `root`: the checkout. */
export async function compileSources(root) {
  const out = join(root, ".compiled");
  const state = join(out, "state.json");
  const known = readJson(state);
  const found = Object.fromEntries(
    [
      // a change of these compiles everything
      ...["package.json", "package-lock.json", "tsconfig.json", "scripts/build/compile-sources.mjs"],
      ...SOURCES.flatMap((directory) => listSources(root, directory)),
    ].map((path) => [path, identify(join(root, path))]),
  );
  const isSame = (path) => known[path] === found[path];
  const all = !Object.keys(found).every((path) => IS_SOURCE.test(path) || isSame(path));
  const changed = Object.keys(found).filter((path) => IS_SOURCE.test(path) && (all || !isSame(path)));
  if (changed.length === 0) return out;
  await compile(root, out, changed);
  for (const path of LINKS) link(join(root, path), join(out, path));
  write(join(out, "cli/bin/heddle.js"), LAUNCHER);
  // last: an interrupted compilation is repeated
  write(state, JSON.stringify(found));
  return out;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

const listSources = (root, directory) =>
  readdirSync(join(root, directory), { recursive: true })
    .filter((name) => IS_SOURCE.test(name))
    .map((name) => join(directory, name));

function identify(file) {
  const { mtimeMs, size } = statSync(file);
  return `${mtimeMs} ${size}`;
}

async function compile(root, out, paths) {
  const require = createRequire(join(root, "package.json"));
  // the copy of tsx, which compiles users' code
  const esbuild = await import(pathToFileURL(createRequire(require.resolve("tsx")).resolve("esbuild")).href);
  const options = {
    absWorkingDir: root,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: `node${process.versions.node}`,
    sourcemap: true,
    sourcesContent: false,
    write: false,
    logLevel: "error",
  };
  try {
    const { outputFiles } = await esbuild.build({
      ...options,
      entryPoints: paths,
      outdir: out,
      outbase: root,
      plugins: [
        {
          name: "keep-modules",
          setup(build) {
            build.onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
              kind === "entry-point" ? undefined : { path: path.replace(/\.ts$/, ".js"), external: true },
            );
          },
        },
      ],
    });
    for (const { path, contents } of outputFiles) write(path, contents);
    const joined = await esbuild.build({
      ...options,
      entryPoints: [ENTRY],
      outdir: join(out, "joined"),
      entryNames: "[name]",
      chunkNames: "[name]-[hash]",
      splitting: true,
      plugins: [{ name: "keep-places", setup: (build) => keepPlaces(build, root) }],
    });
    // the entry last, as it names the others
    const files = joined.outputFiles.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
    for (const { path, contents } of files) write(path, contents);
    removeOld(join(out, "joined"));
  } finally {
    await esbuild.stop();
  }
}

/** A process that runs loads files of its own build when it first needs them, so those of recent builds stay. */
function removeOld(directory, days = 30) {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (Date.now() - statSync(file).mtimeMs > days * 86_400_000) rmSync(file, { force: true });
  }
}

const isEntry = ({ path }) => path.endsWith(`${sep}main.js`);

/** Joined modules still find what is beside their own compiled files. */
function keepPlaces(build, root) {
  build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const text = readFileSync(path, "utf8");
    if (!text.includes("import.meta.url")) return undefined;
    const place = `../${relative(root, path).replaceAll(sep, "/").replace(/\.ts$/, ".js")}`;
    const url = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
    return { contents: text.replaceAll("import.meta.url", url), loader: "ts" };
  });
}

/** Replaces the file in one step, as other processes may be starting from it. */
function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

function link(target, path) {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  try {
    symlinkSync(relative(dirname(path), target), path);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}
