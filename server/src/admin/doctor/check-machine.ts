import { existsSync, statSync } from "node:fs";

import { ConfigError, readOptions } from "../../base/config/options.ts";
import { checkFreeSpace, probeDirectory } from "../../base/disk-space.ts";
import { isOlder } from "../../base/is-older.ts";
import { defaultKeyFile, isExposed, readKeyFile } from "../../base/secrets/key-file.ts";
import { Keyring } from "../../base/secrets/keyring.ts";
import { readVersion } from "../../base/version.ts";
import { failure, type Finding, type Findings, ok, reason, warning } from "./finding.ts";
import { allOptions, type DoctorSettings } from "./read-settings.ts";

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

/** Checks the data directory: its existence, its owner, free space, and that files can be written. */
export async function* checkDataDirectory({ dataDir, minFreeDiskMb }: DoctorSettings): Findings {
  const check = "data-directory";
  if (!existsSync(dataDir)) {
    yield warning(check, `${dataDir} does not exist yet.`, "The first start creates it. Name another with --data-dir.");
  } else {
    try {
      await probeDirectory(dataDir);
      const isOpen = process.platform !== "win32" && (statSync(dataDir).mode & 0o077) !== 0;
      yield isOpen
        ? warning(check, `Users other than its owner can read ${dataDir}.`, `Run: chmod 700 ${dataDir}`)
        : ok(check, `${dataDir} is writable.`);
    } catch (error) {
      yield failure(
        check,
        `${dataDir} cannot be written: ${reason(error)}.`,
        "Free disk space, raise the quota, or give the directory to the user that runs Heddle.",
      );
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

/** Checks the encryption keys of stored secrets, without creating any. */
export function* checkKeyFile({ dataDir, env, secrets }: DoctorSettings): Generator<Finding> {
  const check = "secrets-keys";
  try {
    if (secrets.secretsKeys) {
      const { ids } = new Keyring(secrets.secretsKeys, "HEDDLE_SECRETS_KEYS");
      return yield ok(check, `HEDDLE_SECRETS_KEYS has ${count(ids.length, "key")}.`);
    }
    const path = secrets.secretsKeyFile ?? defaultKeyFile(dataDir);
    const text = readKeyFile(path);
    if (text === null) {
      return yield env["HEDDLE_SECRETS_KEY_FILE"]
        ? failure(check, `${path} (HEDDLE_SECRETS_KEY_FILE) does not exist.`, `Run: heddle secrets generate > ${path}`)
        : ok(check, `${path} does not exist yet; the first start creates it.`);
    }
    const { ids } = new Keyring(text, path);
    yield isExposed(path)
      ? failure(check, `Users other than its owner can read ${path}.`, `Run: chmod 600 ${path}`)
      : ok(check, `${path} has ${count(ids.length, "key")}. Keep a backup of it, apart from the database's.`);
  } catch (error) {
    yield failure(check, `The keys cannot be read: ${reason(error)}.`, "Restore the key file from its backup.");
  }
}

/** Reads all settings of all roles, as their starts do. */
export async function* checkSettings({ env }: Pick<DoctorSettings, "env">): Findings {
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
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
