// Installs the packages of package-lock.json when any is missing. Plain JavaScript without dependencies: it runs first
// on a fresh clone. Used by npm start and npm test, or run directly.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, unlinkSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

export const ROOT = resolve(import.meta.dirname, "../..");

export async function ensureInstalled() {
  if (isInstalled()) return;
  await alone(async () => {
    if (isInstalled()) return;
    console.log("Installing packages (npm ci), which takes about a minute the first time.");
    await npmCi();
  });
}

/** npm writes its own lock file into node_modules last, so an interrupted install does not count. */
function isInstalled() {
  const locked = readLock(join(ROOT, "package-lock.json"));
  const found = readLock(join(ROOT, "node_modules", ".package-lock.json"));
  if (!locked || !found) return false;
  return Object.entries(locked).every(([path, { version, link, optional }]) => {
    if (!path.includes("node_modules/") || link) return true;
    // Builds for other platforms are not installed.
    if (!found[path]) return optional === true;
    return found[path].version === version;
  });
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return null;
  }
}

/** Serializes installs: two concurrent npm processes corrupt the tree, and concurrent `npm start`s are allowed. */
async function alone(work) {
  mkdirSync(join(ROOT, ".heddle"), { recursive: true, mode: 0o700 });
  const lock = join(ROOT, ".heddle", "install.lock");
  for (;;) {
    try {
      const file = openSync(lock, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (await holderIsDead(lock)) unlinkSync(lock);
      else await sleep(500);
    }
  }
  try {
    await work();
  } finally {
    unlinkSync(lock);
  }
}

async function holderIsDead(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    if (pid === 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function npmCi() {
  // Inside `npm start` this is the running npm; otherwise the one on the PATH.
  const npm = process.env.npm_execpath;
  const [program, args] = npm ? [process.execPath, [npm, "ci"]] : ["npm", ["ci"]];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: "inherit", shell: !npm && process.platform === "win32" });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`npm ci ended with ${signal ?? `code ${code}`}`)),
    );
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) await ensureInstalled();
