import type { Sql } from "../../base/db/connect.ts";
import { whileAway } from "../../base/db/retry.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import type { Log } from "../../base/log.ts";
import { scrubSecrets } from "../../base/scrub-secrets.ts";
import { insertLogs, type LogKind, type LogLine } from "./sql.ts";

const FLUSH_MS = 150;
const BATCH = 500;
/** A database that is away for longer costs lines. Who prints much waits as long, so that little is in memory. */
const AWAY_MS = 30_000;
const LONGEST_LINE = 16_384;

/**
 * What Postgres can hold, of a length that people can read; without what would move a terminal's cursor, and without
 * keys, which whoever may read logs need not have.
 */
export function cleanLine(text: string): string {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} … (${text.length} characters)` : text;
  // oxlint-disable-next-line no-control-regex -- escape sequences of terminals
  const plain = cut.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\0", "\uFFFD");
  return scrubSecrets(cleanStrings(plain) as string);
}

/** Log of one build: lines in order, written by the batch. */
export interface BuildLog {
  write(message: string, level?: string): void;
  /** Resolves when all that was written is in the database. Whoever writes much waits for it now and then. */
  flush(): Promise<void>;
}

export class LogWriter {
  readonly #sql: Sql;
  readonly #log: Log;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  open(of: { deploymentId: string; revisionId: string; kind: LogKind }): BuildLog {
    let waiting: LogLine[] = [];
    let timer: NodeJS.Timeout | undefined;
    let writing: Promise<void> = Promise.resolve();
    const flush = (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      writing = writing.then(async () => {
        while (waiting.length > 0) {
          const lines = waiting.slice(0, BATCH);
          waiting = waiting.slice(BATCH);
          await whileAway(() => insertLogs(this.#sql, of, lines), AWAY_MS).catch((error: unknown) => {
            // the build matters more than what it says
            this.#log.warn({ err: error, revision: of.revisionId }, "lines of a build could not be written");
          });
        }
      });
      return writing;
    };
    return {
      write(message, level = "INFO") {
        waiting.push({ at: new Date(), level, message: cleanLine(message) });
        timer ??= setTimeout(() => void flush(), FLUSH_MS);
      },
      flush,
    };
  }
}
