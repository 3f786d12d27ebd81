/**
 * The packages of a deployment's build before, for one whose lock file is the same: linked file by file in a second,
 * where an installation takes ten. Only where the installation is all that has written to them, and where nothing but
 * the lock file says what they are: no build command, no script of the project's own, no package out of the project.
 * Deployments share nothing.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { link, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Beside a build's sources: which packages it has. */
const NOTE = "packages.json";

interface Note {
  deployment: string;
  key: string;
  /** Directory of package.json, below the sources. */
  where: string;
}

const LOCKS = ["package-lock.json", "npm-shrinkwrap.json"];
/** What npm runs of a project itself when it installs. */
const SCRIPTS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish"];

/**
 * What says which packages a project gets; null where other things do too, or where another manager installs them.
 * `command` and `environment` are what they are installed by.
 */
export function packagesKey(directory: string, command: string, environment: Record<string, string>): string | null {
  const lock = LOCKS.map((name) => join(directory, name)).find((file) => existsSync(file));
  if (lock === undefined || !command.startsWith("npm ci")) return null;
  const [lockText, manifestText] = [readFileSync(lock, "utf8"), readFileSync(join(directory, "package.json"), "utf8")];
  let packages: Record<string, { link?: boolean; resolved?: unknown }>;
  let manifest: { scripts?: Record<string, unknown>; workspaces?: unknown };
  try {
    const { packages: listed } = JSON.parse(lockText) as { packages?: typeof packages };
    // one of before npm 7 says in other words where they are from
    if (listed === undefined) return null;
    packages = listed;
    manifest = JSON.parse(manifestText) as typeof manifest;
  } catch {
    return null;
  }
  const isOwn = (name: string, { link: isLink, resolved }: { link?: boolean; resolved?: unknown }) =>
    isLink === true || (name !== "" && !name.startsWith("node_modules/")) || /^(file|link):/.test(String(resolved));
  if (manifest.workspaces !== undefined || Object.entries(packages).some(([name, one]) => isOwn(name, one)))
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

/** Notes what a build has installed, for those after it. `home`: of the build. */
export async function notePackages(home: string, note: Note): Promise<void> {
  await writeFile(join(home, NOTE), JSON.stringify(note));
}

/** Makes `to`, with all that is in `from` but its `.cache`. */
export type CopyPackages = (from: string, to: string) => Promise<void>;

/** Links files: at once, and right where the directories are nobody's who may change them meanwhile. */
export const linkPackages: CopyPackages = (from, to) => linkTree(from, to, from);

/**
 * Takes them from a build that has the same. `builds`: where all builds are.
 * @returns whose they were; null when nobody has them
 */
export async function takePackages(
  builds: string,
  home: string,
  wanted: Note,
  copy: CopyPackages = linkPackages,
): Promise<string | null> {
  const to = join(home, "src", wanted.where, "node_modules");
  // the archive brought some
  if (existsSync(to)) return null;
  // names are ids in the order of their making: the newest first
  const names = (await readdir(builds)).toSorted().toReversed();
  for (const name of names) {
    const from = join(builds, name, "src", wanted.where, "node_modules");
    if (!existsSync(join(builds, name, "complete")) || !(await isNoted(join(builds, name, NOTE), wanted))) continue;
    try {
      await copy(from, to);
      return name;
    } catch {
      // it is being removed, or lies elsewhere: an installation does as well
      await rm(to, { recursive: true, force: true });
    }
  }
  return null;
}

async function isNoted(file: string, wanted: Note): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text === JSON.stringify(wanted);
}

/** Directories are made anew, files are linked, and links are copied, if they lead to something in the tree. */
async function linkTree(from: string, to: string, top: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const entries = await readdir(from, { withFileTypes: true });
  const nested: string[] = [];
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      // what programs remember there while they run is theirs alone
      if (from === top && entry.name === ".cache") return;
      if (entry.isDirectory()) nested.push(entry.name);
      else if (entry.isFile()) await link(source, target);
      else if (entry.isSymbolicLink()) {
        const leadsTo = await readlink(source);
        const isInside = !relative(top, resolve(dirname(source), leadsTo)).startsWith("..");
        if (isAbsolute(leadsTo) || !isInside) throw new Error("a link leads out");
        await symlink(leadsTo, target);
      }
    }),
  );
  for (const name of nested) await linkTree(join(from, name), join(to, name), top);
}
