import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Placeholder for an empty list, with the next step: a text, or a text with more below it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={64} px="md" ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      {typeof children === "string" ? (
        <Text size="sm" maw={520}>
          {children}
        </Text>
      ) : (
        children
      )}
    </Stack>
  );
}
