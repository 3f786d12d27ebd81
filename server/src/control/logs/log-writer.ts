import type { Sql } from "../../base/db/connect.ts";
import { retryWhileUnavailable } from "../../base/db/retry.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import type { Log } from "../../base/log.ts";
import { scrubSecrets } from "../../base/scrub-secrets.ts";
import { insertLogs, type LogKind, type LogLine } from "./sql.ts";

const FLUSH_MS = 150;
const BATCH = 500;
/** A longer outage of the database costs lines. Prolific writers wait as long, so that memory stays bounded. */
const UNAVAILABLE_MS = 30_000;
const LONGEST_LINE = 16_384;

/**
 * Sanitizes a line: valid for Postgres, of readable length, without terminal control sequences, and without keys, which
 * readers of logs need not have.
 */
export function cleanLine(text: string): string {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} … (${text.length} characters)` : text;
  // oxlint-disable-next-line no-control-regex -- escape sequences of terminals
  const plain = cut.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\0", "\uFFFD");
  return scrubSecrets(cleanStrings(plain) as string);
}

/** Log of one build; lines in order, written in batches. */
export interface BuildLog {
  write(message: string, level?: string): void;
  /** Resolves when all lines are persisted. Prolific writers must await it regularly. */
  flush(): Promise<void>;
}

export class LogWriter {
  readonly #sql: Sql;
  readonly #log: Log;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  open(target: { deploymentId: string; revisionId: string; kind: LogKind }): BuildLog {
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
          await retryWhileUnavailable(() => insertLogs(this.#sql, target, lines), UNAVAILABLE_MS).catch(
            (error: unknown) => {
              // the build matters more than its log
              this.#log.warn({ err: error, revision: target.revisionId }, "could not write lines of a build log");
            },
          );
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
