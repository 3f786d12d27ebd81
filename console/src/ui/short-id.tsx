import { Text } from "@mantine/core";

/** The end of an id, which differs where the beginning is a time. Small and dimmed: contents come first. */
export const ShortId = ({ id }: { id: string }) => (
  <Text span size="xs" c="dimmed" ff="monospace" style={{ whiteSpace: "nowrap", flexShrink: 0 }} title={id}>
    {id.slice(-8)}
  </Text>
);
