/**
 * Reuses the packages of a deployment's previous build when their inputs are the same: copying them takes a second or
 * two, an installation ten to fifty. Only when nothing but the installation has written to them: no build command. For
 * npm, the lock file alone must determine them: no lifecycle script of the project, no package from the project. For
 * Python, see python-packages.ts. Deployments share nothing.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { link, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Packages of a language: their directory, and the file in a build's home that identifies them. */
export interface PackageKind {
  folder: string;
  note: string;
}

export const NODE_PACKAGES: PackageKind = { folder: "node_modules", note: "packages.json" };
export const PYTHON_PACKAGES: PackageKind = { folder: ".venv", note: "python.json" };

interface Note {
  deployment: string;
  key: string;
  /** Directory of the packages' directory, relative to the sources. */
  where: string;
}

const LOCKS = ["package-lock.json", "npm-shrinkwrap.json"];
/** Lifecycle scripts of a project that npm runs on install. */
const SCRIPTS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"];

/**
 * Returns a key of the project's packages; null when more than the lock file determines them, or another manager
 * installs them. `command` and `environment` are those of the installation.
 */
export function packagesKey(directory: string, command: string, environment: Record<string, string>): string | null {
  const lock = LOCKS.map((name) => join(directory, name)).find((file) => existsSync(file));
  if (lock === undefined || !command.startsWith("npm ci")) return null;
  const [lockText, manifestText] = [readFileSync(lock, "utf8"), readFileSync(join(directory, "package.json"), "utf8")];
  let packages: Record<string, { link?: boolean; resolved?: unknown }>;
  let manifest: { scripts?: Record<string, unknown>; workspaces?: unknown };
  try {
    const { packages: listed } = JSON.parse(lockText) as { packages?: typeof packages };
    // a lock file of npm before 7 has another format
    if (listed === undefined) return null;
    packages = listed;
    manifest = JSON.parse(manifestText) as typeof manifest;
  } catch {
    return null;
  }
  const isOwn = (name: string, { link: isLink, resolved }: { link?: boolean; resolved?: unknown }) =>
    isLink === true || (name !== "" && !name.startsWith("node_modules/")) || /^(file|link):/.test(String(resolved));
  if (manifest.workspaces !== undefined || Object.entries(packages).some(([name, entry]) => isOwn(name, entry)))
    return null;
  if (SCRIPTS.some((name) => manifest.scripts?.[name] !== undefined)) return null;
  const settings = join(directory, ".npmrc");
  const own = Object.entries(environment).filter(([name]) => /^npm_config_/i.test(name));
  const parts = [
    ...[process.version, process.arch, command, lockText, manifestText],
    existsSync(settings) ? readFileSync(settings, "utf8") : "",
    JSON.stringify(own.toSorted(([a], [b]) => (a < b ? -1 : 1))),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Records a build's packages for later builds. `home`: the build's home. */
export async function notePackages(home: string, { note: file }: PackageKind, note: Note): Promise<void> {
  await writeFile(join(home, file), JSON.stringify(note));
}

/** Creates `to` with everything in `from` except its `.cache`. */
export type CopyPackages = (from: string, to: string) => Promise<void>;

/** Hard-links files: fast, and safe where no untrusted user can change the directories during the call. */
export const linkPackages: CopyPackages = (from, to) => linkTree(from, to, from);

/**
 * Copies the packages of a build with the same key. `builds`: directory of all builds.
 * @returns the build they came from; null when none has them
 */
export async function takePackages(
  builds: string,
  home: string,
  { folder, note: file }: PackageKind,
  note: Note,
  copy: CopyPackages = linkPackages,
): Promise<string | null> {
  const to = join(home, "src", note.where, folder);
  // the archive contained packages
  if (existsSync(to)) return null;
  // names are ids that increase with time: newest first
  const names = (await readdir(builds)).toSorted().toReversed();
  for (const name of names) {
    const from = join(builds, name, "src", note.where, folder);
    if (!existsSync(join(builds, name, "complete")) || !(await isNoted(join(builds, name, file), note))) continue;
    try {
      await copy(from, to);
      return name;
    } catch {
      // it is being removed, or is on another file system: install instead
      await rm(to, { recursive: true, force: true });
    }
  }
  return null;
}

async function isNoted(file: string, note: Note): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text === JSON.stringify(note);
}

/** Recreates directories, hard-links files, and copies symbolic links that point into the tree. */
async function linkTree(from: string, to: string, top: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const entries = await readdir(from, { withFileTypes: true });
  const nested: string[] = [];
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      // runtime caches of the other build are private to it
      if (from === top && entry.name === ".cache") return;
      if (entry.isDirectory()) nested.push(entry.name);
      else if (entry.isFile()) await link(source, target);
      else if (entry.isSymbolicLink()) {
        const leadsTo = await readlink(source);
        const isInside = !relative(top, resolve(dirname(source), leadsTo)).startsWith("..");
        if (isAbsolute(leadsTo) || !isInside) throw new Error("a link points outside the packages");
        await symlink(leadsTo, target);
      }
    }),
  );
  for (const name of nested) await linkTree(join(from, name), join(to, name), top);
}
