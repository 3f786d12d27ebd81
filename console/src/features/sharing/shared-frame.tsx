import { Box, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";

import { BASE_PATH } from "../../api/base-path.ts";

/** Frame of a public page: no navigation, because its readers have access to nothing else. */
export function SharedFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <Box
        component="header"
        px="md"
        h={48}
        style={{ display: "flex", borderBottom: "1px solid var(--mantine-color-default-border)" }}
      >
        <Group gap={8} wrap="nowrap" style={{ flex: 1 }}>
          <img src={`${BASE_PATH}/favicon.svg`} width={22} height={22} alt="" />
          <Text fw={700}>Heddle</Text>
          <Text size="sm" c="dimmed" ms="auto">
            {title}, read-only
          </Text>
        </Group>
      </Box>
      <main>{children}</main>
    </>
  );
}
