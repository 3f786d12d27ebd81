import { Loader } from "@mantine/core";
import { IconAlertCircleFilled, IconCircleCheckFilled, IconCircleDashed } from "@tabler/icons-react";

import { wasStopped } from "./run-record.ts";

/** Small status of a run: distinguished by shape and name, not only by colour. */
export function StatusDot({ status, size = 14 }: { status: string; size?: number }) {
  return (
    <span title={status} role="img" aria-label={status} style={{ display: "inline-flex", flexShrink: 0 }}>
      {status === "error" ? (
        <IconAlertCircleFilled size={size} color="var(--heddle-danger)" />
      ) : status === "success" ? (
        <IconCircleCheckFilled size={size} color="var(--heddle-success)" />
      ) : status === "incomplete" || wasStopped(status) ? (
        <IconCircleDashed size={size} color="var(--heddle-neutral)" />
      ) : (
        <Loader size={size - 2} color="var(--heddle-info)" />
      )}
    </span>
  );
}
