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
  chain: [IconRoute, "var(--heddle-neutral)"],
  llm: [IconSparkles, "var(--heddle-series-3)"],
  tool: [IconTool, "var(--heddle-series-2)"],
  retriever: [IconDatabaseSearch, "var(--heddle-series-1)"],
  embedding: [IconVectorTriangle, "var(--heddle-series-6)"],
  prompt: [IconTemplate, "var(--heddle-series-8)"],
  parser: [IconBraces, "var(--heddle-series-5)"],
} as const;

/** Icon of a kind of run, with its name for screen readers. */
export function RunIcon({ type, size = 16 }: { type: string; size?: number }) {
  const [Icon, color] = ICONS[type as keyof typeof ICONS] ?? [IconArrowsSplit2, "var(--heddle-neutral)"];
  return (
    <span title={type} role="img" aria-label={type} style={{ display: "inline-flex", flexShrink: 0 }}>
      <Icon size={size} color={color} aria-hidden />
    </span>
  );
}

export const colorOfType = (type: string): string => ICONS[type as keyof typeof ICONS]?.[1] ?? "var(--heddle-neutral)";
