/**
 * Second half of a destination test: a write from a process that exports. It may run in another network, behind another
 * proxy or under another role than the API, so only its own attempt proves anything. The API inserts a row; a worker
 * claims it, writes, and records the result. Any process may be either.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import { unavailable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { type ExportDestination, serializeCredentials, readCredentials } from "./bucket.ts";
import { testWrite } from "./test-write.ts";
import * as rows from "./test-sql.ts";

const PURPOSE = "export-destination-test";
/** Poll interval of the API for the result, in milliseconds. */
const RESULT_POLL_MS = 50;
/** Poll interval of a worker, in case a notification was lost. Milliseconds. */
const POLL_MS = 3_000;
/** Time allowed on top of the write itself for a worker to notice and claim the test, in milliseconds. */
const SPARE_MS = POLL_MS + 2_000;
/** Concurrent tests, so that an endpoint that never responds does not delay the others. */
const AT_ONCE = 8;
const FAILING = "could not test export destinations";

interface WorkerTestDeps {
  sql: Sql;
  secrets: Secrets;
  outbound: Outbound;
  log: Log;
  settings: { exportTestTimeoutMs: number };
}

/** Resolves to the failure in a worker, or to null. Throws 503 when no worker claimed the test. */
export async function testInWorker(
  { sql, secrets, settings }: WorkerTestDeps,
  destination: Pick<ExportDestination, "tenant_id" | "config" | "credentials">,
): Promise<string | null> {
  const id = uuid7();
  const { tenant_id: workspaceId, config, credentials } = destination;
  const ref = { purpose: PURPOSE, id };
  await sql.begin(async (tx) => {
    if (credentials) await secrets.put({ ...ref, workspaceId }, serializeCredentials(credentials), tx);
    await rows.insertTest(tx, { id, tenant_id: workspaceId, config });
  });
  try {
    const until = performance.now() + settings.exportTestTimeoutMs + SPARE_MS;
    while (performance.now() < until) {
      const test = await rows.selectTest(sql, id);
      if (test?.finished_at) return test.failure;
      await sleep(RESULT_POLL_MS);
    }
    throw unavailable(
      "No export worker answered, and one must test the destination too. Check that a trace process with " +
        "HEDDLE_EXPORT_CONCURRENCY above 0 is running.",
      10,
    );
  } finally {
    await rows.deleteTest(sql, id);
    await secrets.delete(ref);
  }
}

/** Executes requested tests. Runs in every process that exports. */
export class DestinationTester {
  readonly #deps: WorkerTestDeps;
  #listening: { unlisten(): Promise<void> } | undefined;
  readonly #poller: Poller;
  readonly #underWay = new Set<Promise<void>>();
  #stopped = false;

  constructor(deps: WorkerTestDeps) {
    this.#deps = deps;
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log: deps.log, failing: FAILING });
  }

  async start(): Promise<void> {
    this.#poller.start(POLL_MS);
    const wake = () => this.#poller.wake();
    // also fires on every reconnect: notifications in between are lost
    this.#listening = await this.#deps.sql.listen(rows.CHANNEL, wake, wake);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
    await this.#listening?.unlisten();
    await Promise.all(this.#underWay);
  }

  async #pass(): Promise<void> {
    // tests whose requesting process died
    for (const id of await rows.deleteOldTests(this.#deps.sql)) {
      await this.#deps.secrets.delete({ purpose: PURPOSE, id });
    }
    while (!this.#stopped && this.#underWay.size < AT_ONCE) {
      const test = await rows.claimTest(this.#deps.sql);
      if (!test) return;
      const answering: Promise<void> = this.#answer(test)
        .catch((error: unknown) => this.#deps.log.warn({ err: error }, FAILING))
        .finally(() => {
          this.#underWay.delete(answering);
          // more tests may be waiting than there were free places
          this.#poller.wake();
        });
      this.#underWay.add(answering);
    }
  }

  async #answer({ id, config }: rows.ClaimedTest): Promise<void> {
    const { sql, secrets, outbound, settings, log } = this.#deps;
    let failure: string | null;
    try {
      const credentials = readCredentials(await secrets.get({ purpose: PURPOSE, id }));
      failure = await testWrite({ config, credentials }, outbound, settings.exportTestTimeoutMs);
    } catch (error) {
      log.error({ err: error }, "could not test an export destination");
      failure = "The test failed with an internal error; see the server's log";
    }
    await rows.finishTest(sql, id, failure);
  }
}
