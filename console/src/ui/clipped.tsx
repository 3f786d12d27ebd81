import { Text } from "@mantine/core";

interface ClippedProps {
  text: string | null | undefined;
  c?: "dimmed" | "var(--heddle-danger)";
}

/** Text of a table's cell in one line; its title has more of it. */
export const Clipped = ({ text, ...color }: ClippedProps) =>
  text ? (
    <Text size="sm" truncate dir="auto" title={text.slice(0, 600)} {...color}>
      {text}
    </Text>
  ) : (
    <Text size="sm" c="dimmed">
      –
    </Text>
  );
