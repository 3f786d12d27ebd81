import { Skeleton, Stack } from "@mantine/core";

/** Placeholder rows that prevent a layout shift when the data arrives. */
export function Loading({ rows = 8 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={28} />
      ))}
    </Stack>
  );
}
