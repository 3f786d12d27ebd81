import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, render } from "../../base/clickhouse/fragment.ts";
import { fromMicros } from "../run-rows/times.ts";

/** Stores updates of runs, as ingest does. */
export interface UpdateWriter {
  write(tenantId: string, updates: TierUpdate[]): Promise<void>;
}

interface TierUpdate {
  kind: "patch";
  id: string;
  fields: { trace_tier: string };
  attachments: never[];
  received_at: string;
}

/** Runs per batch; a longer trace takes several. */
const BATCH = 5000;

/**
 * Moves traces to the longer tier by updating each of their existing runs. A trace is kept as long as
 * one of its runs has that tier (retention/expired-traces.ts), so runs that arrive later need no update.
 *
 * The tier is written like any update, so that it neither revives a trace deleted in the meantime nor is lost. Traces already
 * in the tier cost one query.
 */
export async function extendTraces(
  { clickhouse, writer }: { clickhouse: ClickHouse; writer: UpdateWriter },
  tenantId: string,
  traces: { project_id: string; trace_id: string }[],
): Promise<void> {
  if (traces.length === 0) return;
  const projects = [...new Set(traces.map((trace) => trace.project_id))];
  const ids = [...new Set(traces.map((trace) => trace.trace_id))];
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    // one of several unmerged pieces may already have it
    const runs = await clickhouse.rows<{ id: string }>({
      name: "runs.of_lower_tier",
      ...render(ch`select id from runs
        where tenant_id = ${bind("UUID", tenantId)} and project_id in ${bind("Array(UUID)", projects)}
          and trace_id in ${bind("Array(UUID)", ids)} and id > ${bind("UUID", after)}
        group by id having countIf(trace_tier = 'longlived') = 0
        order by id limit ${bind("UInt32", BATCH)}`),
    });
    const received_at = fromMicros(Date.now() * 1000)!;
    await writer.write(
      tenantId,
      runs.map(({ id }) => ({
        kind: "patch" as const,
        id,
        fields: { trace_tier: "longlived" },
        attachments: [],
        received_at,
      })),
    );
    if (runs.length < BATCH) return;
    after = runs.at(-1)!.id;
  }
}
