import {
  IconArrowsSplit2,
  IconBraces,
  IconDatabaseSearch,
  IconRoute,
  IconSparkles,
  IconTemplate,
  IconTool,
  IconVectorTriangle,
} from "@tabler/icons-react";

const ICONS = {
  chain: [IconRoute, "var(--mantine-color-gray-6)"],
  llm: [IconSparkles, "var(--mantine-color-violet-6)"],
  tool: [IconTool, "var(--mantine-color-orange-6)"],
  retriever: [IconDatabaseSearch, "var(--mantine-color-cyan-6)"],
  embedding: [IconVectorTriangle, "var(--mantine-color-pink-6)"],
  prompt: [IconTemplate, "var(--mantine-color-lime-7)"],
  parser: [IconBraces, "var(--mantine-color-blue-6)"],
} as const;

/** Icon of a kind of run, with its name for screen readers. */
export function RunIcon({ type, size = 16 }: { type: string; size?: number }) {
  const [Icon, color] = ICONS[type as keyof typeof ICONS] ?? [IconArrowsSplit2, "var(--mantine-color-gray-6)"];
  return (
    <span title={type} role="img" aria-label={type} style={{ display: "inline-flex", flexShrink: 0 }}>
      <Icon size={size} color={color} aria-hidden />
    </span>
  );
}

export const colorOfType = (type: string): string =>
  ICONS[type as keyof typeof ICONS]?.[1] ?? "var(--mantine-color-gray-6)";
