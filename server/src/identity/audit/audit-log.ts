import type { AuditEntry, AuditSink } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { databaseNow } from "../../base/db/database-now.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { isDatabaseUnavailable, retryWhileUnavailable } from "../../base/db/retry.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { AnnouncedChanges } from "./announced-changes.ts";
import { RejectionGathering } from "./gather-rejections.ts";
import { operationName } from "./operation-name.ts";
import { type SealKey, computeSeal } from "./seal.ts";
import { type AuditRow, insertAuditRows, sweepAuditRows, UNKNOWN_OUTCOME } from "./sql.ts";

const SWEEP_EVERY_MS = 3_600_000;
const SWEEP_BATCH = 5_000;
const LONGEST_TEXT = 200;
/**
 * Longest target of a successful change: some hundred ids. Targets of failed attempts stay short, since any client can
 * attempt.
 */
const LONGEST_TARGET = 10_000;

export interface AuditLog extends AuditSink {
  /** Writes collected rejections and stops the sweep. */
  stop(): Promise<void>;
}

export interface AuditLogOptions {
  /** Days after which entries are deleted; 0 keeps them. */
  retentionDays?: number;
  /** Key for seals. Without it entries have no seal. */
  sealKey?: SealKey | undefined;
  /** Time without an update after which the process of a change counts as gone, in milliseconds. */
  lostAfterMs?: number;
  /** Whether to adopt the changes of dead processes; false for short-lived processes. */
  adopts?: boolean;
  fault?: FaultPoint;
}

type Draft = Omit<AuditRow, "writer_id" | "writer_seq" | "seal_key_id" | "seal">;

/** Serialized as JSON. */
type Stored = Omit<Draft, "at"> & { at: string };

/**
 * Creates the audit log: who changed what, from where. Entries that arrive during an insert go into the next one, so
 * that they share a commit. While the database is unavailable an entry waits up to 15 s. If it still cannot be written,
 * it is logged in full and the request fails, since the change is not on record.
 */
export function createAuditLog(sql: Sql, log: Log, options: AuditLogOptions = {}): AuditLog {
  const { retentionDays = 0, sealKey, lostAfterMs, adopts = true, fault = () => {} } = options;
  // sequence numbers are never reused: after an insert with an unknown result, a new writer id is used
  let writer = { id: uuid7(), next: 0 };
  const writes = new GroupCommit<{ draft: Draft; announced: string | undefined }, void>(async (lines) => {
    const rows = lines.map(({ draft }, index) => {
      const row = { ...draft, writer_id: writer.id, writer_seq: writer.next + index };
      return { ...row, seal_key_id: sealKey?.id ?? null, seal: sealKey ? computeSeal(row, sealKey) : null };
    });
    try {
      const announced = lines.flatMap((line) => line.announced ?? []);
      await retryWhileUnavailable(() => insertAuditRows(sql, rows, announced));
      writer.next += rows.length;
    } catch (error) {
      if (isDatabaseUnavailable(error)) writer = { id: uuid7(), next: 0 };
      throw error;
    }
    return lines.map(() => undefined);
  });

  async function write(draft: Draft, announced?: string): Promise<void> {
    try {
      await writes.call({ draft, announced });
    } catch (error) {
      log.error({ err: error, audit: draft }, "could not write a line of the audit log");
      throw error;
    }
  }

  const pending = new Set<Promise<void>>();
  const rejections = new RejectionGathering((entry, occurrences) => {
    const writing: Promise<void> = write(createDraft(entry, occurrences))
      .catch(() => {})
      .finally(() => pending.delete(writing));
    pending.add(writing);
  });
  const sweeper = retentionDays > 0 ? startSweep(sql, log, retentionDays) : null;

  const announced = new AnnouncedChanges<Stored>(sql, log, {
    lostAfterMs,
    // under a new id: the process may still be alive and write its own entry
    adopt: (draft, id) => write({ ...draft, id: uuid7(), at: new Date(draft.at) }, id),
  });
  if (adopts) announced.start();

  return {
    record(entry) {
      if (entry.status !== 401 && entry.status !== 403) return write(createDraft(entry, 1));
      rejections.add(entry);
      return Promise.resolve();
    },
    async announce(change) {
      const draft = createDraft({ ...change, status: UNKNOWN_OUTCOME }, 1);
      await announced.announce({ ...draft, at: draft.at.toISOString() });
      fault("after-announcement");
      return {
        async record(entry) {
          fault("before-audit-line");
          await write(createDraft(entry, 1), draft.id).finally(() => announced.settled(draft.id));
          fault("after-audit-line");
        },
        withdraw: () => announced.withdraw(draft.id),
      };
    },
    async stop() {
      rejections.flush();
      await Promise.all([...pending, announced.stop()]);
      await sweeper?.stop();
    },
  };
}

function createDraft(entry: AuditEntry, occurrences: number): Draft {
  const { principal, target } = entry;
  const now = Date.now();
  const longest = entry.status < 400 ? LONGEST_TARGET : LONGEST_TEXT;
  return {
    id: uuid7(now),
    at: new Date(now),
    organization_id: uuidOrNull(principal?.organizationId),
    workspace_id: uuidOrNull(principal?.workspaceId),
    actor_kind: principal?.actor.kind ?? "unknown",
    actor_id: storable(principal?.actor.id ?? ""),
    actor_name: storable(principal?.actor.name ?? ""),
    user_id: principal?.actor.userId ? storable(principal.actor.userId) : null,
    ip: storable(entry.ip),
    operation: storable(entry.operation),
    operation_name: operationName(entry.operation),
    target: Object.fromEntries(
      Object.entries(target).map(([name, value]) => [storable(name), storable(value, longest)]),
    ),
    status: entry.status,
    occurrences,
    request_id: entry.requestId ? storable(entry.requestId) : null,
  };
}

const uuidOrNull = (text: string | undefined): string | null => (text && isUuid(text) ? text.toLowerCase() : null);

/** Makes text storable in Postgres: bounded, without null characters and lone surrogates. */
const storable = (text: string, longest = LONGEST_TEXT): string =>
  Buffer.from(text.slice(0, longest).replaceAll("\0", "\uFFFD"), "utf8").toString("utf8");

/** Deletes expired entries, now and every hour. Concurrent processes share the work. */
function startSweep(sql: Sql, log: Log, retentionDays: number): Poller {
  const sweeper = new Poller({
    async pass() {
      // the database's clock, since this machine's may be ahead
      const before = new Date((await databaseNow(sql)).getTime() - retentionDays * 86_400_000);
      return (await sweepAuditRows(sql, before, SWEEP_BATCH)) === SWEEP_BATCH ? 0 : SWEEP_EVERY_MS;
    },
    everyMs: SWEEP_EVERY_MS,
    log,
    failing: "could not sweep the audit log; will retry in an hour",
  });
  sweeper.start();
  return sweeper;
}
