import { Box, Group, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

/** A page: its title, also of the tab, what can be done there, and its content. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Heddle`;
  }, [title]);
  return (
    <Box p={{ base: "sm", sm: "md" }} maw={2400}>
      <Group justify="space-between" mb="md" gap="sm" mih={36}>
        <Title order={1} size="h3" style={{ overflowWrap: "anywhere" }}>
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Box>
  );
}
