import { Badge, Loader } from "@mantine/core";

/** Statuses of runs, threads, revisions, exports and deliveries: one word, one color, never the color alone. */
const COLORS: [RegExp, string][] = [
  [/^(success|DEPLOYED|READY|COMPLETED|Completed|delivered|active|idle)$/i, "green"],
  [/^(error|timeout|.*FAILED.*|dead|UNKNOWN)$/i, "red"],
  [/^(running|busy|.*ING|IN_PROGRESS|Running)$/i, "blue"],
  [/^(pending|queued|CREATED|QUEUED|retrying|.*AWAITING.*)$/i, "yellow"],
  [/^(interrupted|needs review|.*INTERRUPTED.*|cancelled|canceled)$/i, "orange"],
];

/** Returns a status of any API in sentence case: "DEPLOY_FAILED" and "deploy_failed" are "Deploy failed". */
export function statusWords(status: string): string {
  const words = status.replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function StatusBadge({ status }: { status: string | null | undefined }) {
  if (status == null) return null;
  const color = COLORS.find(([pattern]) => pattern.test(status))?.[1] ?? "gray";
  const isMoving = color === "blue";
  return (
    <Badge
      variant="outline"
      color={color}
      size="sm"
      styles={{ root: { borderColor: `var(--mantine-color-${color}-6)`, color: "var(--mantine-color-text)" } }}
      leftSection={
        isMoving ? (
          <Loader size={9} color={color} />
        ) : (
          <span
            aria-hidden
            style={{
              display: "inline-block",
              width: 7,
              height: 7,
              borderRadius: 7,
              background: `var(--mantine-color-${color}-6)`,
            }}
          />
        )
      }
    >
      {statusWords(status)}
    </Badge>
  );
}
