import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { findMisspelled } from "../../base/config/misspelled.ts";
import { ConfigError, readOptions } from "../../base/config/options.ts";
import { checkFreeSpace, probeDirectory } from "../../base/disk-space.ts";
import { isOlder } from "../../base/is-older.ts";
import { defaultKeyFile, isExposed, readKeyFile } from "../../base/secrets/key-file.ts";
import { Keyring } from "../../base/secrets/keyring.ts";
import { readVersion } from "../../base/version.ts";
import { passagesTo } from "../../control/drivers/process/isolation/system-user.ts";
import { failure, type Finding, type Findings, ok, reason, skipped, warning } from "./finding.ts";
import { allOptions, type DoctorSettings, settingNames } from "./read-settings.ts";

const OLDEST_NODE = "20.16.0";
/** Free space below which a warning is due, in MiB: a day of a busy installation. */
const LITTLE_SPACE_MB = 2048;

export function* checkVersions(): Generator<Finding> {
  const node = process.versions.node;
  yield ok("heddle", `Heddle ${readVersion()} on ${process.platform} ${process.arch}.`);
  yield isOlder(node, OLDEST_NODE)
    ? failure("node", `Node.js ${node} is too old.`, `Install Node.js ${OLDEST_NODE} or newer.`)
    : ok("node", `Node.js ${node}.`);
}

/** Checks the data directory: its existence, its owner, who can reach it, free space, and that files can be written. */
export async function* checkDataDirectory({ dataDir, minFreeDiskMb }: DoctorSettings): Findings {
  const check = "data-directory";
  if (!existsSync(dataDir)) {
    yield warning(check, `${dataDir} does not exist yet.`, "The first start creates it. Name another with --data-dir.");
  } else {
    try {
      await probeDirectory(dataDir);
      const wrong = findWrongModes(dataDir);
      if (wrong.length === 0) yield ok(check, `${dataDir} is writable.`);
      yield* wrong;
    } catch (error) {
      yield failure(check, `${dataDir} cannot be written: ${reason(error)}.`, adviseAccess(error, dataDir));
    }
  }
  const space = await checkFreeSpace(dataDir, minFreeDiskMb);
  const free_mb = Number(space["free_mb"]);
  const figures = { free_mb };
  if (!space.ok) {
    yield failure(
      "disk",
      `${free_mb} MiB are free, less than HEDDLE_MIN_FREE_DISK_MB (${minFreeDiskMb}).`,
      "Servers are not ready until space is freed. Shorten the retention of traces, or move the data directory.",
      figures,
    );
  } else if (free_mb < LITTLE_SPACE_MB) {
    yield warning("disk", `Only ${free_mb} MiB are free.`, "Free disk space, or move the data directory.", figures);
  } else yield ok("disk", `${Math.round(free_mb / 1024)} GiB are free.`, figures);
}

/**
 * Finds what other users can read, and directories that deployments' users cannot traverse: where deployments have
 * system users, these traverse some directories and list none (control/drivers/process/isolation/system-user.ts).
 */
function findWrongModes(dataDir: string): Finding[] {
  const check = "data-directory";
  if (process.platform === "win32") return [];
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  const control = join(dataDir, "control");
  const passages = passagesTo(control).filter((path) => existsSync(control) && existsSync(path));
  const deployments = join(control, "deployments");
  const users = existsSync(deployments) ? readdirSync(deployments) : [];
  const hasUsers = users.some((id) => existsSync(join(deployments, id, "uid")));
  const isClosed = (path: string) => (modeOf(path) & 0o011) !== 0o011;
  // in bubblewrap they need none of them, and all are closed
  const closed = hasUsers && !passages.every(isClosed) ? passages.filter(isClosed) : [];
  // in a directory that no other user can enter, all is closed
  const canEnter = (modeOf(dataDir) & 0o011) !== 0;
  const inside = canEnter ? readdirSync(dataDir).map((name) => join(dataDir, name)) : [];
  const open = [dataDir, ...inside].filter((path) => (modeOf(path) & 0o066) !== 0);
  const commands = open.map((path) => `chmod ${passages.includes(path) ? "711" : "go="} ${quoteForShell(path)}`);
  const found: Finding[] = [];
  if (closed.length > 0) {
    const advice = `Run: chmod 711 ${closed.map(quoteForShell).join(" ")}`;
    found.push(failure(check, `Deployments, as system users, cannot traverse ${closed.join(", ")}.`, advice));
  }
  if (open.length > 0) {
    const message = `Users other than its owner can read ${open.join(", ")}.`;
    found.push(warning(check, message, `Run: ${commands.join(" && ")}`));
  }
  return found;
}

/** Explains what to do about a file that this user may not open. */
function adviseAccess(error: unknown, path: string): string {
  const { code } = error as NodeJS.ErrnoException;
  const own = process.getuid?.();
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  if ((code !== "EACCES" && code !== "EPERM") || own === undefined || owner === undefined || owner === own)
    return "Free disk space, raise the quota, or mount the file system for writing.";
  return (
    `It belongs to user ${owner}, and this is user ${own}. Run this command as the user that runs the servers: ` +
    `sudo -u '#${owner}' heddle doctor`
  );
}

/** Checks the encryption keys of stored secrets, without creating any. */
export function* checkKeyFile({ dataDir, env, secrets }: DoctorSettings): Generator<Finding> {
  const check = "secrets-keys";
  const path = secrets.secretsKeyFile ?? defaultKeyFile(dataDir);
  try {
    if (secrets.secretsKeys) {
      const { ids } = new Keyring(secrets.secretsKeys, "HEDDLE_SECRETS_KEYS");
      return yield ok(check, `HEDDLE_SECRETS_KEYS has ${count(ids.length, "key")}.`);
    }
    const text = readKeyFile(path);
    if (text === null) {
      return yield env["HEDDLE_SECRETS_KEY_FILE"]
        ? failure(
            check,
            `${path} (HEDDLE_SECRETS_KEY_FILE) does not exist.`,
            "Restore it from its backup: without it, stored secrets are lost. If there never was one, run: " +
              `(umask 077; heddle secrets generate > ${quoteForShell(path)})`,
          )
        : ok(check, `${path} does not exist yet; the first start creates it.`);
    }
    const { ids } = new Keyring(text, path);
    yield isExposed(path)
      ? failure(check, `Users other than its owner can read ${path}.`, `Run: chmod 600 ${quoteForShell(path)}`)
      : ok(check, `${path} has ${count(ids.length, "key")}. Keep a backup of it, separate from the database's.`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = code === "EACCES" ? adviseAccess(error, path) : "Restore the key file from its backup.";
    yield failure(check, `The keys cannot be read: ${reason(error)}.`, advice);
  }
}

/** Reads all settings of all roles, as their starts do, and looks for variables that are meant as settings. */
export async function* checkSettings({ env, variables }: Pick<DoctorSettings, "env" | "variables">): Findings {
  const problems = new Set<string>();
  for (const declared of Object.values(await allOptions())) {
    try {
      readOptions(declared, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const line of error.message.split("\n")) problems.add(line);
    }
  }
  for (const line of problems)
    yield failure("settings", line, "Correct the variable; docs/settings.md lists them all.");
  if (problems.size === 0) yield ok("settings", "All settings in the environment are valid.");
  const known = new Set([...variables, ...(await settingNames())]);
  const { misspelled, unknown } = findMisspelled(Object.keys(env), known);
  for (const { name, meant } of misspelled) {
    yield warning(
      "settings.misspelled",
      `${name} is not a setting and has no effect.`,
      `Did you mean ${meant}? Rename it, or unset it.`,
    );
  }
  if (unknown.length > 0) {
    yield skipped("settings.unknown", `Heddle reads no ${unknown.join(", ")}; code of the project may.`);
  }
}

const quoteForShell = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
