import { List, Stack, Text } from "@mantine/core";
import { useMemo } from "react";

import { formatInZone, occurrences, ownZone } from "./occurrences.ts";

interface NextTimesProps {
  schedule: string;
  /** IANA name; null for UTC. */
  timezone: string | null;
  endTime?: string | null;
}

/** The next five times in the cron's zone, and in the reader's where it differs. */
export function NextTimes({ schedule, timezone, endTime }: NextTimesProps) {
  const zone = timezone ?? "UTC";
  const own = ownZone();
  const found = useMemo(() => {
    try {
      return { times: occurrences(schedule, timezone, 5, endTime ? new Date(endTime) : undefined) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }, [schedule, timezone, endTime]);
  if (found.error !== undefined) {
    return (
      <Text size="sm" c="danger" role="alert">
        {found.error}
      </Text>
    );
  }
  if (found.times.length === 0) return <Text size="sm">No runs are due before the end time.</Text>;
  return (
    <Stack gap={2}>
      <Text size="xs" c="dimmed">
        Next runs in {zone}
        {own !== zone && ` · your time zone, ${own}`}
      </Text>
      <List size="sm" aria-label="Next runs" spacing={2} listStyleType="none">
        {found.times.map((at) => (
          <List.Item key={at.getTime()} className="numbers">
            <time dateTime={at.toISOString()}>{formatInZone(at, zone)}</time>
            {own !== zone && (
              <Text span c="dimmed" size="sm">
                {" "}
                · {formatInZone(at, own)}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
