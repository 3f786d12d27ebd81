/** Reads archives, each in its turn, in a separate process with a limited heap (archive-reader.ts starts it). */
import { createReadStream } from "node:fs";

import { ArchiveError } from "../../server/src/admin/backup/tar.ts";
import { readVerified } from "../../server/src/admin/backup/verify-archive.ts";

export interface ArchiveRequest {
  file: string;
  passphrase: string;
}

export interface ArchiveReply {
  /** null: the archive is accepted. */
  error: { message: string; isExpected: boolean } | null;
}

process.on("message", ({ file, passphrase }: ArchiveRequest) => {
  readVerified(createReadStream(file), { passphrase, onlyAuthenticated: true }).then(
    () => process.send!({ error: null } satisfies ArchiveReply),
    (error: unknown) => {
      const isExpected = error instanceof ArchiveError;
      const message = isExpected ? error.message : String((error as Error).stack ?? error);
      process.send!({ error: { message, isExpected } } satisfies ArchiveReply);
    },
  );
});
process.send!("ready");
