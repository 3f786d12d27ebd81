import type { VerifiedArchive } from "../../../server/src/admin/backup/verify-archive.ts";
import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { AUTHENTICATION_FLAG, PASSPHRASE_FLAGS, readPassphrase } from "../core/passphrase.ts";
import { formatTable } from "../core/table.ts";

const flags = {
  ...DATA_FLAGS,
  ...PASSPHRASE_FLAGS,
  "with-builds": {
    type: "switch",
    default: false,
    description: "Copy the builds of deployments too, which a restored platform otherwise makes again.",
  },
  verify: { type: "text", placeholder: "ARCHIVE", description: "Check an archive completely, and restore nothing." },
  ...AUTHENTICATION_FLAG,
  json: { type: "switch", default: false, description: "Print the result as JSON." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Write a consistent backup to a file or bucket";

export function help(): string {
  return `Usage: heddle backup ARCHIVE [options]
       heddle backup --verify ARCHIVE [options]

Writes the database, the traces, the attachments, the control plane's files and the encryption
keys to one archive, a file or s3://BUCKET/KEY, while the servers run or while they do not, and
reads it back. Everything acknowledged before the start is in it. External databases, an
external ClickHouse and buckets are not: the command says what to run for them. The archive
holds hashes of passwords and everything that users have stored; only the keys in it are
encrypted. The passphrase also authenticates it, so that a restore recognizes what others
have changed.

Run it with the environment of the servers. Buckets: HEDDLE_BACKUP_ENDPOINT, _REGION,
_ACCESS_KEY_ID, _SECRET_ACCESS_KEY. To restore: heddle restore. More: docs/backup.md.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const [first = ""] = args;
  const to = first.startsWith("-") ? undefined : first;
  const options = readFlags(flags, to === undefined ? args : args.slice(1), process.env);
  if (options.verify !== undefined) {
    if (to !== undefined) throw new UsageError("heddle backup needs either an archive to write or --verify.");
    const { verifyArchive } = await import("../../../server/src/admin/backup/verify-archive.ts");
    const passphrase = readPassphrase(options["passphrase-file"], process.env);
    const verified = await verifyArchive(options.verify, process.env, {
      passphrase,
      onlyAuthenticated: options.authenticated,
    });
    if (options.json)
      return void process.stdout.write(`${JSON.stringify({ ...verified, manifest: undefined }, null, 2)}\n`);
    process.stdout.write(describeArchive(verified));
    process.stdout.write(
      `${verified.archive} is whole${verified.authenticated ? " and authentic" : ""}: backup of ` +
        `${verified.introduction.created_at}.\n`,
    );
    return;
  }
  if (!to) throw new UsageError("heddle backup needs the archive to write: a file or s3://BUCKET/KEY.");
  const passphrase = readPassphrase(options["passphrase-file"], process.env);
  const { createBackup } = await import("../../../server/src/admin/backup/create-backup.ts");
  const result = await createBackup({
    location: readDataLocation(options),
    to,
    withoutKeys: options["without-keys"],
    passphrase,
    withBuilds: options["with-builds"],
    onProgress: (message) => console.error(message),
  });
  if (options.json) return void process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(describeArchive(result));
  const { builds, attachments, control } = result;
  process.stdout.write(
    `${attachments.files} attachments, ${control.files} files of the control plane, keys: ${result.keys}.\n` +
      (builds.left_out > 0 ? `${builds.left_out} builds left out, which a restored platform makes again.\n` : "") +
      `Backup of ${result.created_at} written to ${result.archive} (${result.bytes} bytes) and read back` +
      `${result.authenticated ? "" : ", not authenticated"}.\n`,
  );
}

type Described = Pick<VerifiedArchive, "databases" | "traces" | "sections" | "notes"> & { warnings?: string[] };

/** Describes the content with its counts and hashes, and what is missing. */
export function describeArchive({ databases, traces, sections, notes, warnings = [] }: Described): string {
  const counts = [
    ...databases.map(({ name, tables, rows }) => [`database ${name}`, `${rows} rows in ${tables} tables`]),
    ...traces.map(({ table, rows, parts }) => [`traces: ${table}`, `${rows} rows in ${parts} parts`]),
  ];
  const hashes = sections.map(({ name, entries, bytes, sha256 }) => [name, String(entries), String(bytes), sha256]);
  const lines = [...warnings, ...notes].map((note) => `WARNING ${note}\n`).join("");
  return `${formatTable(["CONTENT", "COUNT"], counts)}\n${formatTable(["PART", "ENTRIES", "BYTES", "SHA-256"], hashes)}\n${lines}`;
}
