import { Badge, Group } from "@mantine/core";

import { describeFeedback, type FeedbackStatistics } from "./run-record.ts";

const SHOWN = 4;

/** Average scores and most frequent values, by key. */
export function FeedbackChips({ stats, wrap = "nowrap" }: { stats: unknown; wrap?: "wrap" | "nowrap" }) {
  const entries = Object.entries((stats ?? {}) as Record<string, FeedbackStatistics>);
  if (entries.length === 0) return null;
  return (
    <Group gap={4} wrap={wrap} miw={0}>
      {entries.slice(0, SHOWN).map(([key, statistics], index) => (
        <Badge
          key={key}
          variant="default"
          size="sm"
          tt="none"
          fw={500}
          title={`${describeFeedback(key, statistics)}, ${statistics.n ?? 0} in total`}
          // in a narrow cell the first is whole; keys are truncated with an ellipsis, scores never
          style={{ flexShrink: wrap === "nowrap" && index > 0 ? 1 : 0, minWidth: 0, maxWidth: "100%" }}
          styles={{ label: { display: "flex", gap: 4 } }}
        >
          <span style={{ overflow: "hidden", textOverflow: "ellipsis" }}>{key}</span>{" "}
          <span style={{ flexShrink: 0 }}>{describeFeedback(key, statistics).slice(key.length + 1)}</span>
        </Badge>
      ))}
      {entries.length > SHOWN && (
        <Badge variant="default" size="sm" title={entries.map(([key]) => key).join(", ")}>
          +{entries.length - SHOWN}
        </Badge>
      )}
    </Group>
  );
}
