// Builds the console for browsers and the documentation below its `docs/`, with a compressed copy of each file, when
// their sources have changed since the last build. Run directly it builds console/dist; npm pack builds dist/console.
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const ROOT = resolve(import.meta.dirname, "../..");
const CONSOLE = join(ROOT, "console");
const STAMP = "sources.sha256";

export async function buildConsole(directory) {
  const docs = await import("./docs-site.mjs");
  const { documents, others } = docs.listInputs();
  const parts = [
    { to: directory, stamp: hashFiles(consoleSources()), build: buildPages },
    // below the console, so after it
    {
      to: join(directory, "docs"),
      stamp: hashFiles([...documents, ...others].map((file) => join(ROOT, file))),
      build: docs.buildDocs,
    },
  ];
  const isCurrent = ({ to, stamp }) => readStamp(to) === stamp;
  if (parts.every(isCurrent)) return;
  const lock = join(CONSOLE, ".building");
  await take(lock);
  try {
    for (const part of parts) if (!isCurrent(part)) await replace(part);
  } finally {
    unlinkSync(lock);
  }
}

/** Builds in a sibling directory, which is renamed in one step: a server may be reading the old files. */
async function replace({ to, stamp, build }) {
  const fresh = `${to}.${process.pid}`;
  await build(fresh);
  for (const file of files(fresh)) compress(file);
  writeFileSync(join(fresh, STAMP), stamp);
  rmSync(to, { recursive: true, force: true });
  renameSync(fresh, to);
}

async function buildPages(outDir) {
  const { build } = await import(pathToFileURL(join(ROOT, "node_modules", "vite", "dist", "node", "index.js")).href);
  await asProduction(() => build({ root: CONSOLE, logLevel: "warn", build: { outDir, emptyOutDir: true } }));
}

/** Sets NODE_ENV, which Vite prefers to its mode: below a test runner it would build the development React. */
async function asProduction(work) {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = "production";
  try {
    await work();
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

function compress(file) {
  if (!/\.(js|css|html|svg|json|txt)$/.test(file)) return;
  const content = readFileSync(file);
  if (content.length < 1024) return;
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
}

function readStamp(directory) {
  try {
    return readFileSync(join(directory, STAMP), "utf8");
  } catch {
    return undefined;
  }
}

/** Lists the console's own files, and the versions of the installed packages. */
function consoleSources() {
  const own = ["index.html", "package.json", "vite.config.ts"].map((name) => join(CONSOLE, name));
  // generated, the types for the compiler only
  const isGenerated = (file) => file.endsWith("route-tree.gen.ts") || file.includes(".d.ts");
  return [join(ROOT, "package-lock.json"), ...own, ...files(join(CONSOLE, "src")).filter((file) => !isGenerated(file))];
}

function hashFiles(inputs) {
  const hash = createHash("sha256");
  for (const file of inputs) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  return hash.digest("hex");
}

function files(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** Acquires the build lock; a lock whose holder has died is ignored. */
async function take(lock) {
  for (;;) {
    try {
      const file = openSync(lock, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (isDead(lock)) rmSync(lock, { force: true });
      else await sleep(200);
    }
  }
}

function isDead(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs > 10_000;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

// the path of compiled sources, like that of a checkout, may lead over a symbolic link
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  if (!existsSync(join(ROOT, "node_modules", "vite"))) {
    console.error("vite is not installed: run npm ci");
    process.exit(1);
  }
  await buildConsole(join(CONSOLE, "dist"));
}
