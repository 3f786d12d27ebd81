import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { AgentReadings } from "./schema.ts";

const COLUMNS = [
  ...["tenant_id", "project_id", "kind", "minute", "server_id", "graph", "assistant", "status"],
  ...["count", "seconds", "bins"],
];

export function insertReadings(
  clickhouse: ClickHouse,
  tenant_id: string,
  project_id: string,
  { server_id, readings }: AgentReadings,
): Promise<void> {
  const lines = readings.map(({ minute, ...reading }) =>
    JSON.stringify({
      tenant_id,
      project_id,
      server_id,
      ...reading,
      minute: Math.floor(Date.parse(minute) / 60_000) * 60,
    }),
  );
  return clickhouse.insert("agent_minutes", COLUMNS, Buffer.from(lines.join("\n")));
}
