import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { FROZEN_NAME, freezeTables, removeFrozen } from "../../base/clickhouse/freeze.ts";
import { readStoreVersion } from "../../base/clickhouse/migrate.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { COPIED_TABLES, frozenName } from "./copied-tables.ts";
import { answerCopy, deleteAbandoned, listCopies, listRequests } from "./sql.ts";

const EVERY_MS = 2_000;
const SWEEP_MS = 60_000;

/** Answers the requests of backups for the files of the engine in this process, which no other process can read. */
export class TraceCopier {
  readonly #deps: { sql: Sql; clickhouse: ClickHouse; log: Log; directory: string };
  readonly #poller: Poller;
  #sweepAt = 0;

  /** `directory`: the engine's. */
  constructor(deps: { sql: Sql; clickhouse: ClickHouse; log: Log; directory: string }) {
    this.#deps = deps;
    const failing = "could not answer a backup's request for the traces; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: EVERY_MS, log: deps.log, failing });
  }

  start(): void {
    if (this.#deps.clickhouse.embedded) this.#poller.start();
  }

  stop(): Promise<void> {
    return this.#poller.stop();
  }

  async #pass(): Promise<void> {
    const { sql, clickhouse, log, directory } = this.#deps;
    for (const id of await listRequests(sql)) {
      try {
        const tables = await freezeTables(clickhouse, directory, frozenName(id), COPIED_TABLES);
        await answerCopy(sql, id, { tables, version: await readStoreVersion(clickhouse) });
      } catch (error) {
        log.error({ err: error, copy: id }, "could not freeze the traces for a backup");
        await answerCopy(sql, id, { error: (error as Error).message });
      }
    }
    await this.#sweep();
  }

  /** Removes files of backups that have ended, also of those that were killed: they keep deleted data on disk. */
  async #sweep(): Promise<void> {
    if (performance.now() < this.#sweepAt) return;
    this.#sweepAt = performance.now() + SWEEP_MS;
    const { sql, directory } = this.#deps;
    await deleteAbandoned(sql);
    const names = await readdir(join(directory, "shadow")).catch(() => []);
    if (names.length === 0) return;
    const known = new Set((await listCopies(sql)).map(frozenName));
    const abandoned = names.filter((name) => FROZEN_NAME.test(name) && !known.has(name));
    for (const name of abandoned) await removeFrozen(directory, name);
  }
}
