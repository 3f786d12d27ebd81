import { Group, Text, UnstyledButton } from "@mantine/core";
import type { CSSProperties } from "react";

import { count, percent } from "../../ui/format.ts";
import classes from "./insights.module.css";
import type { Cluster } from "./queries.ts";
import { inTreeOrder, trendOf } from "./tree.ts";

interface ClusterTreeProps {
  clusters: readonly Cluster[];
  openId: string | undefined;
  onOpen: (clusterId: string) => void;
}

/** Groups with their shares as bars, children below their parents. */
export function ClusterTree({ clusters, openId, onOpen }: ClusterTreeProps) {
  const most = Math.max(...clusters.map(({ stats }) => stats.share ?? 0), 0.01);
  return (
    <ul className={classes["tree"]} aria-label="Groups">
      {inTreeOrder(clusters).map((cluster) => {
        const { id, level, name, stats } = cluster;
        const trend = trendOf(stats);
        return (
          <li key={id}>
            <UnstyledButton
              className={classes["group"]!}
              aria-current={id === openId ? "true" : undefined}
              style={{ "--level": level }}
              onClick={() => onOpen(id)}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
                <Text size="sm" fw={level === 0 ? 600 : 400} style={{ overflowWrap: "anywhere" }}>
                  {name}
                </Text>
                <Text size="sm" className="numbers">
                  {stats.share === undefined ? count(cluster.num_runs) : percent(stats.share)}
                </Text>
              </Group>
              <span className={classes["bar"]} aria-hidden>
                <span
                  className={classes["part"]}
                  style={
                    {
                      width: `${(100 * (stats.share ?? 0)) / most}%`,
                      "--failed": stats.error_rate ?? 0,
                    } as CSSProperties
                  }
                />
              </span>
              <Text size="xs" c="dimmed" className="numbers">
                {stats.estimated_runs === undefined
                  ? `${count(cluster.num_runs)} sampled`
                  : `${count(stats.estimated_runs)} runs`}
                {stats.error_rate != null && stats.error_rate > 0 && ` · ${percent(stats.error_rate)} failed`}
                {trend !== null && ` · ${trend}`}
              </Text>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}
