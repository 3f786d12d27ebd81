import { Group, Progress as Bar, Text } from "@mantine/core";
import type { ReactNode } from "react";

import type { Role } from "../app/theme.ts";
import { percent } from "./format.ts";

interface ProgressProps {
  /** Label for screen readers: `Rows written`. */
  label: string;
  done: number;
  /** Null while unknown: the bar then only shows activity. */
  total: number | null;
  /** Text beside the percentage, such as `12,000 of 50,000 rows`. */
  children?: ReactNode;
  color?: Role;
}

export function Progress({ label, done, total, children, color = "brand" }: ProgressProps) {
  const share = total === null ? null : total === 0 ? 1 : Math.min(done / total, 1);
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4} wrap="nowrap">
        <Text size="xs" c="dimmed" className="numbers">
          {children}
        </Text>
        <Text size="xs" className="numbers">
          {share === null ? "" : percent(Math.floor(share * 100) / 100)}
        </Text>
      </Group>
      <Bar.Root size="sm">
        <Bar.Section
          value={share === null ? 100 : share * 100}
          color={color}
          striped={share === null}
          animated={share === null}
          aria-label={label}
          {...(share === null && { "aria-valuetext": "in progress" })}
        />
      </Bar.Root>
    </div>
  );
}
