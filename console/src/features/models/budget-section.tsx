import { Button, Group, NumberInput, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { count, fullTime, money } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { Progress } from "../../ui/progress.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { type Budget, budgetQuery } from "./queries.ts";
import { Section } from "../../ui/section.tsx";

/** Budget of the workspace for a calendar month, and what is used of it. */
export function BudgetSection() {
  const { data: budget, error, refetch } = useQuery(budgetQuery);
  return (
    <Section
      title="Budget"
      about="Limit on the cost of the calls from the playground, per calendar month. Calls above it are rejected."
    >
      <LoadState query={{ data: budget, error, refetch }} rows={2} />
      {budget && <BudgetForm key={budget.limit_usd} budget={budget} />}
    </Section>
  );
}

function BudgetForm({ budget }: { budget: Budget }) {
  const client = useQueryClient();
  const refusal = usePermission("models:manage");
  const { limit_usd: limit, spent_usd: spent, reserved_usd: reserved, calls, tokens, month, resets_at: reset } = budget;
  const [value, setValue] = useState<number | "">(limit === null ? "" : Number(limit));
  const save = useMutation({
    mutationFn: () => data(traceApi.PUT("/api/v1/models/budget", { body: { limit_usd: value === "" ? null : value } })),
    onSuccess: (next) => {
      client.setQueryData(budgetQuery.queryKey, next);
      notifyDone("Budget saved");
    },
    onError: notifyFailure("Could not save the budget"),
  });
  const used = Number(spent) + Number(reserved);
  const share = limit === null ? null : Number(limit) === 0 ? 1 : used / Number(limit);
  const color = share !== null && share > 0.9 ? "danger" : share !== null && share > 0.6 ? "warning" : "brand";
  return (
    <Group align="flex-end" gap="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (refusal === null) save.mutate();
        }}
      >
        <Group align="flex-end" gap="xs">
          <NumberInput
            label="Limit per month (US dollars)"
            placeholder="No limit"
            description={refusal ?? undefined}
            disabled={refusal !== null}
            min={0}
            decimalScale={2}
            prefix="$"
            w={220}
            value={value}
            onChange={(next) => setValue(next === "" ? "" : Number(next))}
          />
          <Button
            type="submit"
            variant="default"
            loading={save.isPending}
            disabled={refusal !== null || (value === "" ? limit === null : limit !== null && Number(limit) === value)}
          >
            Save budget
          </Button>
        </Group>
      </form>
      <div style={{ flex: 1, minWidth: 220 }}>
        {limit === null ? (
          <Text size="sm">
            {money(spent)} used in {month}
          </Text>
        ) : (
          <Progress label={`Used in ${month}`} done={used} total={Number(limit)} color={color}>
            {money(used)} of {money(limit)} used in {month}
          </Progress>
        )}
        <Text size="xs" c="dimmed" mt={2}>
          {count(calls)} calls, {count(tokens)} tokens. Resets {fullTime(reset)}.
        </Text>
      </div>
    </Group>
  );
}
