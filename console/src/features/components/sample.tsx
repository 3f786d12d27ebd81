import { Box, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

import classes from "./components.module.css";

/** Part of the page. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      <div className={classes.samples}>{children}</div>
    </section>
  );
}

/** A component in one state, below the name of both. */
export function Sample({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ReactNode }) {
  return (
    <Box className={classes.sample} data-wide={isWide || undefined} data-sample={name}>
      <Text size="xs" c="dimmed" mb={6}>
        {name}
      </Text>
      {children}
    </Box>
  );
}
