import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface SectionProps {
  title: string;
  about: string;
  action?: ReactNode;
  children: ReactNode;
}

/** Section of a page with its heading, a sentence and a button. */
export function Section({ title, about, action, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb="xs" gap="sm">
        <div>
          <Text component="h2" fw={600}>
            {title}
          </Text>
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        </div>
        {action}
      </Group>
      {children}
    </section>
  );
}
