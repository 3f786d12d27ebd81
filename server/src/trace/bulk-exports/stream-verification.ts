import { AppError } from "../../base/errors.ts";
import { eventStream, type WireEvent } from "../../base/events/event-stream.ts";
import type { TraceDeps } from "../deps.ts";
import { findDestination } from "../export-destinations/bucket.ts";
import type { ExportRow } from "./sql.ts";
import { type Verification, verifyStored } from "./verify-export.ts";

/** Rows up to which ids are compared; a million ids take about 100 MB for the time of the verification. */
const MAX_IDS = 1_000_000;
/** Time limit of a verification. */
const LIMIT_MS = 3600 * 1000;

/** Verifies exports one at a time, as each reads whole buckets. */
export class ExportVerifier {
  readonly #deps: Pick<TraceDeps, "sql" | "secrets" | "outbound">;
  #isBusy = false;

  constructor(deps: Pick<TraceDeps, "sql" | "secrets" | "outbound">) {
    this.#deps = deps;
  }

  /**
   * Streams `progress` (files read of all), then `result` (a {@link Verification}) or `error`. 429 while another export
   * is verified.
   */
  async verify(row: ExportRow): Promise<Response> {
    const destination = await findDestination(this.#deps, row.tenant_id, row.bulk_export_destination_id);
    if (!destination) throw new AppError(409, "The export's destination no longer exists.");
    if (this.#isBusy) {
      throw new AppError(429, "Another export is being verified. Try again in a minute, or use heddle export verify.");
    }
    this.#isBusy = true;
    const controller = new AbortController();
    const progress: [done: number, total: number][] = [];
    let wake = () => {};
    let outcome: WireEvent | undefined;
    const onFile = (done: number, total: number) => {
      controller.signal.throwIfAborted();
      progress.push([done, total]);
      wake();
    };
    void verifyStored(destination, this.#deps.outbound, row, { onFile, maxIds: MAX_IDS })
      .then(
        (data: Verification) => (outcome = { event: "result", data }),
        (error: Error) => (outcome = { event: "error", data: { detail: error.message } }),
      )
      .finally(() => {
        this.#isBusy = false;
        wake();
      });
    async function* events(): AsyncGenerator<WireEvent, void> {
      while (outcome === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        const last = progress.splice(0).at(-1);
        if (last) yield { event: "progress", data: { done: last[0], total: last[1] } };
      }
      yield outcome;
    }
    return eventStream(events(), controller, LIMIT_MS);
  }
}
