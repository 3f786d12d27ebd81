import { resolve } from "node:path";

import { DATA_FLAGS } from "../core/data-location.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { AUTHENTICATION_FLAG, PASSPHRASE_FLAGS, readPassphrase } from "../core/passphrase.ts";
import { describeArchive } from "./backup.ts";

const flags = {
  ...DATA_FLAGS,
  ...PASSPHRASE_FLAGS,
  ...AUTHENTICATION_FLAG,
  json: { type: "switch", default: false, description: "Print the result as JSON." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Restore a backup into an empty installation";

export function help(): string {
  return `Usage: heddle restore ARCHIVE [options]

Restores an archive of heddle backup, a file or s3://BUCKET/KEY, into an empty data directory.
First the whole archive is verified, then loaded, and what was loaded is compared with it by
counts and hashes. No server starts on the directory before that has succeeded; a restore that
failed can be run again. Data of an older version is migrated. Deployments whose builds are not
in the archive are built again by the platform when it starts.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const [from = "", ...rest] = args;
  if (from === "" || from.startsWith("-")) {
    throw new UsageError("heddle restore needs the archive: a file or s3://BUCKET/KEY.");
  }
  const options = readFlags(flags, rest, process.env);
  const passphrase = readPassphrase(options["passphrase-file"], process.env);
  const dataDir = resolve(options["data-dir"]);
  const { restoreBackup } = await import("../../../server/src/admin/backup/restore-backup.ts");
  const result = await restoreBackup({
    location: { dataDir, databaseUri: options["postgres-uri"], env: process.env },
    from,
    withoutKeys: options["without-keys"],
    passphrase,
    onlyAuthenticated: options.authenticated,
    onProgress: (message) => console.error(message),
  });
  if (options.json) return void process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(describeArchive(result));
  if (result.removed_runs > 0) {
    process.stdout.write(`${result.removed_runs} newer runs of projects that are not in the backup were removed.\n`);
  }
  if (result.introduction.keys === "left out" || options["without-keys"]) {
    process.stdout.write("The keys were left out. Put secrets.keys in the data directory before you start a server.\n");
  }
  const named = (build: string) =>
    result.deployments.flatMap((deployment) => (deployment.build === build ? [deployment.name] : [])).join(", ");
  if (named("rebuilt") !== "") {
    process.stdout.write(`The platform builds these deployments again when it starts: ${named("rebuilt")}.\n`);
  }
  if (named("lost") !== "") {
    process.stdout.write(
      `WARNING The archive has neither build nor project of: ${named("lost")}. Deploy them again.\n`,
    );
  }
  process.stdout.write(
    `Restored the backup of ${result.introduction.created_at} into ${dataDir}; all counts and hashes match.\n`,
  );
}
