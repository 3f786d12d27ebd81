import { Group, Paper, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";

import { count, duration } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import type { Queue } from "./queries.ts";
import classes from "./queue-picture.module.css";

/** Limit on waiting runs that are drawn. */
const MAX_CELLS = 100;

/** Live diagram of the queue: waiting runs, and each server's slots with their runs. The tables list the same runs. */
export function QueuePicture({ queue, server }: { queue: Queue; server: string }) {
  const now = useNow();
  const waiting = queue.waiting.slice(0, MAX_CELLS);
  const hidden = queue.counts.pending - waiting.length;
  return (
    <section aria-label="Live queue and servers">
      <div className={classes["picture"]}>
        <Paper withBorder p="sm">
          <Text size="xs" c="dimmed" mb={6}>
            {count(queue.counts.pending)} waiting
          </Text>
          <div className={classes["cells"]}>
            {waiting.map((run) => (
              <Cell
                key={run.run_id}
                server={server}
                run={run}
                kind={run.reason === "starts_later" ? "scheduled" : "waiting"}
                title={`${run.graph_id ?? "Run"}, ${run.reason === "starts_later" ? "scheduled" : `waiting for ${duration(run.waiting_seconds * 1000 + Math.max(0, now - Date.parse(queue.at)))}`}`}
              />
            ))}
            {hidden > 0 && (
              <Text size="xs" c="dimmed">
                + {count(hidden)}
              </Text>
            )}
            {queue.counts.pending === 0 && (
              <Text size="xs" c="dimmed">
                The queue is empty.
              </Text>
            )}
          </div>
        </Paper>
        <IconArrowRight className={classes["arrow"]} size={20} aria-hidden />
        <div className={classes["servers"]}>
          {queue.servers.map((host) => {
            const runs = queue.running.filter(({ server_id: id }) => id === host.server_id);
            const free = Math.max(0, (host.slots ?? 0) - host.running);
            return (
              <Paper key={host.server_id} withBorder p="sm" component="article" aria-label={host.host_name}>
                <Group justify="space-between" gap="xs" mb={6} wrap="nowrap">
                  <Text size="xs" fw={600} truncate>
                    {host.host_name}
                  </Text>
                  <Text size="xs" c={host.is_alive ? "dimmed" : "var(--heddle-danger)"}>
                    {host.is_alive ? describeLoad(host) : "unresponsive"}
                  </Text>
                </Group>
                <div className={classes["cells"]}>
                  {runs.map((run) => (
                    <Cell
                      key={run.run_id}
                      server={server}
                      run={run}
                      kind={run.failures > 0 ? "retried" : "running"}
                      title={`${run.graph_id ?? "Run"}, ${run.started_at === null ? "starting" : `running for ${duration(now - Date.parse(run.started_at))}`}, attempt ${run.attempt}`}
                    />
                  ))}
                  {Array.from({ length: Math.min(free, MAX_CELLS) }, (_, index) => (
                    <span key={index} className={classes["cell"]} title="Free slot" />
                  ))}
                </div>
              </Paper>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** Describes the load of a server. A replaced one has no slots: it starts nothing more. */
const describeLoad = ({ slots, running }: Queue["servers"][number]): string =>
  slots === null ? `${count(running)} running` : `${count(running)} of ${count(slots)} running`;

interface CellProps {
  server: string;
  run: { run_id: string; thread_id: string };
  kind: "running" | "retried" | "waiting" | "scheduled";
  title: string;
}

const Cell = ({ server, run, kind, title }: CellProps) => (
  <Link
    to="/a/$server/threads/$threadId/runs/$runId"
    params={{ server, threadId: run.thread_id, runId: run.run_id }}
    className={classes["cell"]}
    data-kind={kind}
    title={title}
    aria-label={`${title}, run ${run.run_id.slice(-8)}`}
  />
);
