import { Skeleton, Stack } from "@mantine/core";

/** Holds the place of rows that are coming, so that nothing jumps when they are there. */
export function Loading({ rows = 8 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={28} />
      ))}
    </Stack>
  );
}
