import { Box, Text } from "@mantine/core";

import { money, percent } from "../../ui/format.ts";
import type { Budget } from "./queries.ts";

/** Spend and forecast of a month as a bar, with a mark at the limit. */
export function BudgetBar({ budget, size = 14 }: { budget: Budget; size?: number }) {
  const { limit_usd: limit, month } = budget;
  const { compared_usd: spent, compared_forecast_usd: forecast } = month;
  const most = Math.max(limit, spent, forecast);
  const width = (amount: number) => `${(100 * amount) / most}%`;
  const color = spent >= limit ? "danger" : forecast >= limit ? "warning" : "brand";
  const text = `${money(spent)} of ${money(limit)} spent (${percent(spent / limit)}), forecast ${money(forecast)}`;
  const part = { position: "absolute", insetBlock: 0, insetInlineStart: 0 } as const;
  return (
    <div>
      <Box
        role="img"
        aria-label={text}
        h={size}
        pos="relative"
        bg="var(--mantine-color-default-border)"
        style={{ borderRadius: 3, overflow: "hidden" }}
      >
        <Box style={part} w={width(forecast)} bg={`var(--mantine-color-${color}-light-hover)`} />
        <Box style={part} w={width(spent)} bg={`var(--mantine-color-${color}-filled)`} />
        {most > limit && (
          <Box
            pos="absolute"
            w={2}
            bg="var(--mantine-color-text)"
            style={{ insetBlock: 0, insetInlineStart: width(limit) }}
          />
        )}
      </Box>
      <Text size="xs" className="numbers" mt={2} truncate title={text}>
        {money(spent)} of {money(limit)}
        <Text span c="dimmed" inherit>{` · forecast ${money(forecast)}`}</Text>
      </Text>
    </div>
  );
}
