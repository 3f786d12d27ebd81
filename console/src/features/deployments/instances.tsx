import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { Empty } from "../../ui/empty.tsx";
import { bytes } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { instancesQuery } from "./queries.ts";

/** Current and recent instances with their resource usage. */
export function Instances({ deploymentId }: { deploymentId: string }) {
  const { data: instances, error, refetch } = useQuery(instancesQuery(deploymentId));
  if (!instances) return <LoadState query={{ error, refetch }} rows={3} />;
  if (instances.length === 0) {
    return <Empty title="No instances">An instance starts after a revision is built.</Empty>;
  }
  const live = instances.filter(({ state }) => state !== "ended");
  const memory = live.reduce((total, { memory_bytes: memoryBytes }) => total + (memoryBytes ?? 0), 0);
  // a pod without metrics is not a pod without memory
  const unmeasured = live.find(({ usage_message: message }) => message !== null)?.usage_message;
  const total = unmeasured === undefined ? `, ${bytes(memory)} memory in total` : "";
  return (
    <>
      <Text size="sm" mb="xs" className="numbers">
        {live.length === 1 ? "1 active instance" : `${live.length} active instances`}
        {total}
      </Text>
      {unmeasured !== undefined && (
        <Text size="sm" mb="xs" c="dimmed">
          {unmeasured}
        </Text>
      )}
      <SimpleTable
        label="Instances"
        rows={instances}
        rowKey={({ id }) => id}
        minWidth={720}
        columns={[
          { title: "State", cell: ({ state }) => <StatusBadge status={state} />, width: 130 },
          { title: "Replica", cell: ({ replica }) => <Text size="sm">{replica}</Text>, width: 80, align: "right" },
          {
            title: "Revision",
            cell: ({ revision_id: id }) => (
              <Text size="sm" ff="monospace">
                {id.slice(-8)}
              </Text>
            ),
            width: 110,
          },
          {
            title: "CPU",
            cell: ({ cpu_percent: cpu }) => (
              <Text size="sm" className="numbers">
                {cpu === null ? "–" : `${cpu.toFixed(cpu < 10 ? 1 : 0)}% of a core`}
              </Text>
            ),
            width: 140,
          },
          {
            title: "Memory",
            cell: ({ memory_bytes: memoryBytes }) => (
              <Text size="sm" className="numbers">
                {bytes(memoryBytes)}
              </Text>
            ),
            width: 100,
          },
          { title: "Started", cell: ({ started_at: at }) => <TimeText at={at} />, width: 110 },
          {
            title: "Ended",
            cell: ({ ended_at: at, end_reason: reason }) =>
              at === null ? (
                ""
              ) : (
                <Text size="sm" component="div">
                  <TimeText at={at} /> {reason}
                </Text>
              ),
          },
        ]}
      />
    </>
  );
}
