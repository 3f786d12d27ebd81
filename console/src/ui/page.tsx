import { Box, Group, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

import { setPageTitle } from "./page-title.ts";

interface PageProps {
  title: string;
  actions?: ReactNode;
  /** The title arrives with the data: it takes one line of the room that is left, so that nothing moves. */
  isLate?: boolean;
  /** Maximum width in pixels, for pages of text. */
  maw?: number;
  children: ReactNode;
}

/** Page with its title, also of the tab, its actions, and its content. */
export function Page({ title, actions, isLate = false, maw = 2400, children }: PageProps) {
  useEffect(() => {
    setPageTitle(title);
  }, [title]);
  return (
    <Box p={{ base: "sm", sm: "md" }} maw={maw}>
      <Group justify="space-between" mb="md" gap="sm" mih={36}>
        <Title
          order={1}
          size="h3"
          {...(isLate && { flex: "1 1 14rem", lineClamp: 1, title })}
          style={{ overflowWrap: "anywhere" }}
        >
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Box>
  );
}
