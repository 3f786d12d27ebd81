import { Group, Paper, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { LoadState } from "../../ui/load-state.tsx";

interface CardProps<Item> {
  title: string;
  /** Link to the complete list. */
  all: ReactNode;
  query: { data: readonly Item[] | undefined; error: Error | null; refetch: () => unknown };
  /** Shown when the list is empty. */
  none: ReactNode;
  line: (item: Item) => ReactNode;
}

/** Section of the home page: the newest items, a line each. */
export function Card<Item>({ title, all, query: { data, error, refetch }, none, line }: CardProps<Item>) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {all}
      </Group>
      <LoadState query={{ data, error, refetch }} rows={3} />
      {data && (data.length === 0 ? none : <Stack gap={6}>{data.map(line)}</Stack>)}
    </Paper>
  );
}
