import { Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Where nothing is yet: says so, and what to do next. */
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
