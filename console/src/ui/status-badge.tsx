import { Badge, Loader } from "@mantine/core";
import type { ReactNode } from "react";

import type { Role } from "../app/theme.ts";

/** Statuses of runs, threads, revisions, exports and deliveries: one word, one role, never the colour alone. */
const STATUS_ROLES: [RegExp, Role][] = [
  [/^(success|DEPLOYED|READY|COMPLETED|Completed|delivered|active|idle)$/i, "success"],
  [/^(error|timeout|.*FAILED.*|dead|UNKNOWN)$/i, "danger"],
  // before those in motion, whose names also end in "ing"
  [/^(interrupted|needs review|.*INTERRUPTED.*|.*AWAITING.*|cancelled|canceled|retrying)$/i, "warning"],
  [/^(pending|queued|CREATED)$/i, "neutral"],
  [/^(running|busy|.*ING|IN_PROGRESS)$/i, "info"],
];

/** Returns a status of any API in sentence case: "DEPLOY_FAILED" and "deploy_failed" are "Deploy failed". */
export function statusWords(status: string): string {
  const words = status.replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function StatusBadge({ status }: { status: string | null | undefined }) {
  if (status == null) return null;
  const role = STATUS_ROLES.find(([pattern]) => pattern.test(status))?.[1] ?? "neutral";
  return <RoleBadge role={role}>{statusWords(status)}</RoleBadge>;
}

/** Word with a role: the dot has its colour, a spinner where something is in motion. */
export function RoleBadge({ role, children }: { role: Role; children: ReactNode }) {
  const color = `var(--heddle-${role})` as const;
  return (
    <Badge
      variant="outline"
      size="sm"
      styles={{
        root: {
          flexShrink: 0,
          borderColor: "transparent",
          background: `var(--heddle-${role}-quiet)`,
          color: "var(--mantine-color-text)",
        },
      }}
      leftSection={
        role === "info" ? (
          <Loader size={9} color={color} />
        ) : (
          <span
            aria-hidden
            style={{
              display: "inline-block",
              width: 7,
              height: 7,
              borderRadius: 7,
              background: color,
              forcedColorAdjust: "none",
            }}
          />
        )
      }
    >
      {children}
    </Badge>
  );
}
