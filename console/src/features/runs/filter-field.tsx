import { Box, Button, Group, Loader, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useId, useState } from "react";

import { whenLoaded } from "../../app/when-loaded.ts";
import classes from "./filter-field.module.css";
import { type Fact, parseFilterError } from "./filter-language.ts";
import { filterCheckQuery, validateFilter } from "./queries.ts";

const FilterEditor = lazy(async () => {
  await whenLoaded();
  return { default: (await import("./filter-editor.tsx")).FilterEditor };
});

const ConditionRows = lazy(async () => ({ default: (await import("./condition-rows.tsx")).ConditionRows }));

interface FilterFieldProps {
  /** Label such as `Runs where`. */
  label: string;
  /** Applied expression. */
  value: string;
  onApply: (value: string) => void;
  /** Whether each change is applied: in forms, whose button would otherwise ignore what was typed. */
  isLive?: boolean;
  facts: readonly Fact[];
  /** Elements beside the buttons. */
  children?: ReactNode;
}

/** Field for an expression, validated by the server while typing, and applied with Enter; or built of rows. */
export function FilterField({ label, value, onApply, isLive = false, facts, children }: FilterFieldProps) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const [hasRows, setHasRows] = useState(false);
  const change = (text: string) => {
    setDraft(text);
    if (isLive) onApply(text);
  };
  const [settled] = useDebouncedValue(draft, 350);
  const check = useQuery(filterCheckQuery(settled));
  const id = useId();
  const isChecked = settled === draft && check.isSuccess;
  const filterError = isChecked && check.data !== null ? parseFilterError(check.data) : null;
  const isChanged = draft.trim() !== value.trim();
  const apply = async () => {
    if ((await validateFilter(draft).catch(() => null)) === null) onApply(draft.trim());
  };
  return (
    <Box>
      <div className={classes.field} data-invalid={filterError !== null || undefined}>
        <Text size="xs" c="dimmed" className={classes.label}>
          {label}
        </Text>
        <div className={classes.editor}>
          <Suspense fallback={<div className={classes.waiting}>{draft}</div>}>
            <FilterEditor
              value={draft}
              onChange={change}
              onSubmit={() => void apply()}
              facts={facts}
              mistakeAt={filterError?.at ?? null}
              describedBy={id}
            />
          </Suspense>
        </div>
        <Group gap={4} wrap="nowrap" className={classes.buttons}>
          {check.isFetching && <Loader size={12} role="img" aria-label="Checking" />}
          {isChanged && !isLive && (
            <Button size="compact-xs" disabled={filterError !== null} onClick={() => void apply()}>
              Apply
            </Button>
          )}
          {value !== "" && (
            <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => onApply("")}>
              Clear
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="subtle"
            color="neutral"
            aria-expanded={hasRows}
            onClick={() => setHasRows(!hasRows)}
          >
            Conditions
          </Button>
          {children}
        </Group>
      </div>
      {hasRows && (
        <Suspense>
          <ConditionRows
            value={draft}
            onChange={change}
            onSubmit={isLive ? undefined : () => void apply()}
            facts={facts}
          />
        </Suspense>
      )}
      <Text id={id} size="xs" c="var(--heddle-danger)" role="status" style={{ overflowWrap: "anywhere" }}>
        {filterError && `At character ${filterError.at + 1}: ${filterError.reason}`}
      </Text>
    </Box>
  );
}
