import { newestStoreMigration } from "../../base/clickhouse/migrate.ts";
import { readOptions } from "../../base/config/options.ts";
import { newestMigration } from "../../base/db/migrate.ts";
import { openArchivePlace } from "./archive-place.ts";
import { type ReadArchive, readArchive } from "./archive-reader.ts";
import type { Introduction, Manifest, Section } from "./manifest.ts";
import { backupOptions } from "./settings.ts";
import { ArchiveError } from "./tar.ts";

export interface VerifiedArchive {
  archive: string;
  bytes: number;
  introduction: Introduction;
  databases: { name: string; tables: number; rows: number }[];
  traces: Manifest["traces"];
  sections: Section[];
  notes: string[];
  /** Whether the passphrase has authenticated it; null without one. */
  authenticated: boolean | null;
  /** What to know before it is trusted. */
  warnings: string[];
}

export interface VerifyOptions {
  passphrase?: string | undefined;
  /** Whether to reject an archive that the passphrase does not authenticate. */
  onlyAuthenticated?: boolean;
  onKeys?: (sealed: Buffer) => void;
}

/**
 * Reads an archive to its end, compares all of it with its manifest, and checks that it can be restored and who has
 * written it.
 */
export async function verifyArchive(
  from: string,
  env: Record<string, string | undefined>,
  options: VerifyOptions = {},
): Promise<VerifiedArchive & { manifest: Manifest }> {
  const place = await openArchivePlace(from, readOptions(backupOptions, env));
  try {
    const read = await readVerified(await place.read(), options);
    return { archive: place.shown, ...read, ...describe(read.introduction, read.manifest) };
  } finally {
    place.close();
  }
}

/** Does what `verifyArchive` does with an archive's bytes. */
export async function readVerified(
  chunks: AsyncIterable<Uint8Array>,
  { passphrase, onlyAuthenticated = false, onKeys }: VerifyOptions,
): Promise<ReadArchive & { warnings: string[] }> {
  const read = await readArchive(chunks, {
    passphrase,
    onIntroduction: rejectNewer,
    async handle({ name }, content) {
      if (name === "keys/keys.sealed") onKeys?.(await content.whole());
    },
  });
  const warning = unauthenticated(read);
  if (warning !== undefined && onlyAuthenticated) throw new ArchiveError(warning);
  return { ...read, warnings: warning === undefined ? [] : [warning] };
}

/** @returns why it is unknown who has written the archive. @throws ArchiveError when the passphrase should have told */
function unauthenticated({ authenticated, introduction }: ReadArchive): string | undefined {
  if (authenticated === true) return undefined;
  const consequence =
    "Its hashes match, but they are part of it: whoever can write to its place may have replaced all of it.";
  if (authenticated === null)
    return `The archive is not authenticated, because no passphrase was given. ${consequence}`;
  if (introduction.format === 1) {
    return (
      `The archive is not authenticated: Heddle ${introduction.heddle_version}, which has written it, could not do ` +
      `that. ${consequence}`
    );
  }
  throw new ArchiveError(
    "The archive cannot be authenticated, because it was written without a passphrase, or somebody else has written " +
      "it. To use it all the same, give no passphrase.",
  );
}

const describe = ({ databases }: Introduction, { tables, traces, sections, notes }: Manifest) => ({
  databases: databases.map(({ name }) => {
    const own = tables.filter(({ database }) => database === name);
    return { name, tables: own.length, rows: own.reduce((sum, { rows }) => sum + rows, 0) };
  }),
  traces,
  sections,
  notes,
});

async function rejectNewer({ databases, traces_version, heddle_version }: Introduction): Promise<void> {
  const newest = await newestMigration();
  const newer = databases.find(({ schema_version }) => schema_version > newest);
  const suffix = `Restore the archive with Heddle ${heddle_version}, which has written it, or a newer version.`;
  if (newer) {
    throw new ArchiveError(
      `The archive has schema version ${newer.schema_version}, but this version of Heddle supports versions up to ` +
        `${newest}. ${suffix}`,
    );
  }
  const newestStore = await newestStoreMigration();
  if (traces_version !== null && traces_version > newestStore) {
    throw new ArchiveError(
      `The traces in the archive have schema version ${traces_version}, but this version of Heddle supports versions ` +
        `up to ${newestStore}. ${suffix}`,
    );
  }
}
