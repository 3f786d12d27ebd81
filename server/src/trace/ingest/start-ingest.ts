import type { Registry } from "prom-client";

import { LinkSigner } from "../attachments/sign-link.ts";
import type { TraceDeps } from "../deps.ts";
import { ModelPrices } from "../prices/model-prices.ts";
import { IngestGate } from "./ingest-gate.ts";
import { COLLECTED_BYTES, collectEvery } from "./large-garbage.ts";
import { RunWriter } from "./run-writer.ts";

type IngestDeps = Pick<TraceDeps, "sql" | "clickhouse" | "log" | "projects" | "ruleCandidates" | "settings"> & {
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
    gate: new IngestGate({
      bytes: settings.ingestMemoryMb * 1024 * 1024,
      registry: deps.registry,
      share: deps.clickhouse.share,
      afterLarge: collectEvery(COLLECTED_BYTES),
    }),
    links: await LinkSigner.load(deps.sql),
  };
}
