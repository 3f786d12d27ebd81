import { Button, Popover, ScrollArea, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconFilterPlus } from "@tabler/icons-react";
import { useState } from "react";

import { count } from "../../ui/format.ts";
import classes from "./quick-filters.module.css";
import type { Facet } from "./facet-queries.ts";

const NAMES: Record<string, string> = {
  name: "Name",
  run_type: "Type",
  status: "Status",
  tags: "Tags",
  model: "Model",
  feedback: "Feedback",
};

interface QuickFiltersProps {
  facets: Facet[];
  /** Whether the facets are still loading. */
  isPending: boolean;
  onPick: (facet: Facet) => void;
}

/** Facets of the runs; a click adds the matching filter. */
export function QuickFilters({ facets, isPending, onPick }: QuickFiltersProps) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const byKey = new Map<string, Facet[]>();
  for (const facet of facets) {
    if (wanted !== "" && !`${facet.key} ${facet.value}`.toLowerCase().includes(wanted)) continue;
    byKey.set(facet.key, [...(byKey.get(facet.key) ?? []), facet]);
  }
  return (
    <Popover position="bottom-start" width={320} trapFocus onClose={() => setText("")}>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconFilterPlus size={14} aria-hidden />}>
          Quick filters
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <TextInput
          size="xs"
          aria-label="Search quick filters"
          placeholder="Search"
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
          data-autofocus
        />
        <ScrollArea.Autosize mah={420} mt="xs">
          <Stack gap="xs">
            {[...byKey].map(([key, values]) => (
              <div key={key}>
                <Text size="xs" fw={600} c="dimmed">
                  {NAMES[key] ?? key.replace(/^metadata\./, "metadata · ")}
                </Text>
                {values.map((facet) => (
                  <UnstyledButton key={facet.query} className={classes.value} onClick={() => onPick(facet)}>
                    <Text size="sm" truncate>
                      {facet.value}
                    </Text>
                    <Text size="xs" c="dimmed" className="numbers">
                      {count(facet.n)}
                    </Text>
                  </UnstyledButton>
                ))}
              </div>
            ))}
            {byKey.size === 0 && (
              <Text size="sm" c="dimmed">
                {isPending ? "Loading …" : facets.length === 0 ? "No runs in this time range." : "No matching filters."}
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
