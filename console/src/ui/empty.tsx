import { Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Placeholder for an empty list, with the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
