import { Chip, Group } from "@mantine/core";

import { count } from "../../ui/format.ts";

interface StatusFilterProps {
  statuses: readonly string[];
  /** Counts by status, and of `all`. */
  counts: Record<string, number> | undefined;
  value: string | undefined;
  onChange: (status: string | undefined) => void;
}

export function StatusFilter({ statuses, counts, value, onChange }: StatusFilterProps) {
  return (
    <Chip.Group value={value ?? "all"} onChange={(next) => onChange(next === "all" ? undefined : next)}>
      <Group gap={6} role="group" aria-label="Status">
        {["all", ...statuses].map((status) => (
          <Chip key={status} value={status} size="xs" variant="outline">
            {status} <span className="numbers">{counts ? count(counts[status]) : "–"}</span>
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}
