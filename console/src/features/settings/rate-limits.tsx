import { Alert, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { count } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { rateLimitsQuery } from "./queries.ts";

const SCOPES = { key: "API key", user: "User", ip: "IP address" };

/** Table of rate limits, with the caller's own usage in the current window. */
export function RateLimits() {
  const { data: limits, error, refetch } = useQuery(rateLimitsQuery);
  const [onlyUsed, setOnlyUsed] = useState(false);
  if (!limits) return <LoadState query={{ error, refetch }} />;
  const rows = limits.rows.filter(({ used }) => !onlyUsed || (used ?? 0) > 0);
  return (
    <>
      {limits.mode !== "on" && (
        <Alert color="neutral" mb="sm">
          {limits.mode === "off"
            ? "Rate limits are off. Set HEDDLE_RATE_LIMITS=on to enforce them."
            : "Dry run: requests are counted but not rejected."}
        </Alert>
      )}
      <Switch
        size="sm"
        mb="xs"
        label="Only limits in use"
        checked={onlyUsed}
        onChange={(event) => setOnlyUsed(event.currentTarget.checked)}
      />
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No limits are in use.
        </Text>
      ) : (
        <SimpleTable
          label="Rate limits"
          rows={rows}
          rowKey={({ row }) => row}
          columns={[
            {
              title: "Limit",
              cell: ({ category, row }) => (
                <>
                  <Text size="sm">{category}</Text>
                  <Text size="xs" c="dimmed" ff="monospace">
                    {row}
                  </Text>
                </>
              ),
            },
            { title: "Counted by", cell: ({ identity }) => <Text size="sm">{SCOPES[identity]}</Text>, width: 120 },
            {
              title: "Quota",
              cell: ({ count: quota, seconds }) => (
                <Text size="sm" className="numbers">
                  {count(quota)} in {seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`}
                </Text>
              ),
              width: 170,
            },
            {
              title: "Your usage",
              cell: ({ row, used, count: quota, reset_seconds: reset }) =>
                used === null ? (
                  <Text size="sm" c="dimmed">
                    not applicable
                  </Text>
                ) : (
                  <Progress
                    label={`Usage of ${row}`}
                    done={used}
                    total={quota}
                    color={used / quota > 0.9 ? "danger" : used / quota > 0.6 ? "warning" : "brand"}
                  >
                    {count(used)}
                    {used > 0 && `, resets in ${reset} s`}
                  </Progress>
                ),
              width: "32%",
            },
          ]}
        />
      )}
    </>
  );
}
