// Builds the console for browsers, with a compressed copy of each file, when its sources have changed since the last
// build. Run directly it builds console/dist; npm pack builds dist/console.
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
  const stamp = sourcesHash();
  if (readStamp(directory) === stamp) return;
  const lock = join(CONSOLE, ".building");
  await take(lock);
  try {
    if (readStamp(directory) === stamp) return;
    const { build } = await import(pathToFileURL(join(ROOT, "node_modules", "vite", "dist", "node", "index.js")).href);
    // built in a sibling directory and renamed in one step: a server may be reading the old files
    const fresh = `${directory}.${process.pid}`;
    await asProduction(() => build({ root: CONSOLE, logLevel: "warn", build: { outDir: fresh, emptyOutDir: true } }));
    for (const file of files(fresh)) compress(file);
    writeFileSync(join(fresh, STAMP), stamp);
    rmSync(directory, { recursive: true, force: true });
    renameSync(fresh, directory);
  } finally {
    unlinkSync(lock);
  }
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

/** Hashes the build's inputs: the console's own files, and the versions of the installed packages. */
function sourcesHash() {
  const hash = createHash("sha256");
  const own = ["index.html", "package.json", "vite.config.ts"].map((name) => join(CONSOLE, name));
  for (const file of [join(ROOT, "package-lock.json"), ...own, ...files(join(CONSOLE, "src"))]) {
    // generated, the types for the compiler only
    if (file.endsWith("route-tree.gen.ts") || file.includes(".d.ts")) continue;
    hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  }
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
