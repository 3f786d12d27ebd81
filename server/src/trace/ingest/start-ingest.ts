import type { Registry } from "prom-client";

import { collectGarbage } from "../../../../graph-host/src/idle-memory.ts";
import { LinkSigner } from "../attachments/sign-link.ts";
import type { TraceDeps } from "../deps.ts";
import { ModelPrices } from "../prices/model-prices.ts";
import { IngestGate } from "./ingest-gate.ts";
import { RunWriter } from "./run-writer.ts";

/**
 * Bytes of large bodies whose garbage is collected at once. V8 would let the texts, values and buffers of several bodies
 * add up before it collects them, which takes more memory than the body in progress.
 */
const COLLECTED_BYTES = 16 * 1024 * 1024;

function collectBy(bytes: number): (more: number) => void {
  let stored = 0;
  return (more) => {
    stored += more;
    if (stored < bytes) return;
    stored = 0;
    collectGarbage();
  };
}

type IngestDeps = Pick<TraceDeps, "sql" | "clickhouse" | "log" | "projects" | "settings"> & {
  registry: Registry;
};
export type IngestParts = Pick<TraceDeps, "prices" | "writer" | "gate" | "links">;

/** Starts the components between trace requests and the stores. Stop the writer before the stores close. */
export async function startIngest({ settings, ...deps }: IngestDeps): Promise<IngestParts> {
  const prices = new ModelPrices(deps.sql, deps.clickhouse);
  const writer = new RunWriter({ ...deps, prices });
  writer.start();
  return {
    prices,
    writer,
    gate: new IngestGate(
      settings.ingestMemoryMb * 1024 * 1024,
      deps.registry,
      deps.clickhouse.share,
      collectBy(COLLECTED_BYTES),
    ),
    links: await LinkSigner.load(deps.sql),
  };
}
