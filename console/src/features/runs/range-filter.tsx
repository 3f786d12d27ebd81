import { Button, Group, NumberInput, Popover, Skeleton, Stack, Text } from "@mantine/core";
import { IconChartHistogram } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { count, duration, money } from "../../ui/format.ts";
import { type HistogramField, histogramQuery } from "./facet-queries.ts";
import classes from "./range-filter.module.css";
import type { RunSearch } from "./run-search.ts";
import { readRange, type ValueRange, withRange } from "./value-range.ts";

interface RangeFilterProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

/** Filters runs by latency and cost. A range is selected by dragging across a histogram, or typed. */
export function RangeFilter({ projectId, search, onChange }: RangeFilterProps) {
  const fields: HistogramField[] = ["latency", "total_cost"];
  return (
    <Popover position="bottom-start" width={360} trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconChartHistogram size={14} aria-hidden />}>
          Latency and cost
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm">
        <Stack gap="md">
          {fields.map((field) => (
            <Field
              key={field}
              field={field}
              projectId={projectId}
              search={search}
              onApply={(range) => onChange({ filter: withRange(search.filter, field, range) })}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const LABELS: Record<HistogramField, string> = { latency: "Latency", total_cost: "Cost" };
const UNITS: Record<HistogramField, string> = { latency: "seconds", total_cost: "dollars" };
const show = (field: HistogramField, value: number) => (field === "latency" ? duration(value * 1000) : money(value));

interface FieldProps extends Omit<RangeFilterProps, "onChange"> {
  field: HistogramField;
  onApply: (range: ValueRange) => void;
}

function Field({ field, projectId, search, onApply }: FieldProps) {
  const { data: bins, error } = useQuery(histogramQuery(projectId, search, field));
  const applied = readRange(search.filter, field);
  const [draft, setDraft] = useState<ValueRange | null>(null);
  const range = draft ?? applied ?? { from: null, to: null };
  const label = LABELS[field];
  const type = (key: keyof ValueRange) => (value: number | string) =>
    setDraft({ ...range, [key]: value === "" ? null : Number(value) });
  const isEmpty = range.from !== null && range.to !== null && range.from >= range.to;
  return (
    <Stack gap={6} component="section" aria-label={label}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {range.from === null ? "any" : show(field, range.from)} to {range.to === null ? "any" : show(field, range.to)}
        </Text>
      </Group>
      {error ? (
        <Text size="xs" c="var(--heddle-danger)">
          Could not load the histogram: {error.message}
        </Text>
      ) : !bins ? (
        <Skeleton h={96} />
      ) : bins.length === 0 ? (
        <Text size="xs" c="dimmed">
          No run in this time range has a {label.toLowerCase()}.
        </Text>
      ) : (
        <Bars field={field} bins={fill(bins)} range={range} onDrag={setDraft} onDrop={(dragged) => onApply(dragged)} />
      )}
      <Group
        component="form"
        gap="xs"
        align="flex-end"
        wrap="nowrap"
        onSubmit={(event) => {
          event.preventDefault();
          onApply(range);
          setDraft(null);
        }}
      >
        <NumberInput
          size="xs"
          min={0}
          label={`From (${UNITS[field]})`}
          value={range.from ?? ""}
          onChange={type("from")}
        />
        <NumberInput size="xs" min={0} label={`To (${UNITS[field]})`} value={range.to ?? ""} onChange={type("to")} />
        <Button
          type="submit"
          size="xs"
          disabled={draft === null || isEmpty}
          aria-label={`Apply ${label.toLowerCase()}`}
        >
          Apply
        </Button>
      </Group>
    </Stack>
  );
}

interface Bin {
  from: number;
  to: number;
  n: number;
}

/** Adds the empty bins, which the server omits. */
function fill(bins: readonly Bin[]): Bin[] {
  const all: Bin[] = [];
  for (const bin of bins) {
    let last = all.at(-1);
    while (last && bin.from > last.to * 1.01 && all.length < 200) {
      last = { from: last.to, to: last.to * (last.to / last.from), n: 0 };
      all.push(last);
    }
    all.push(bin);
  }
  return all;
}

interface BarsProps {
  field: HistogramField;
  bins: Bin[];
  range: ValueRange;
  onDrag: (range: ValueRange) => void;
  onDrop: (range: ValueRange) => void;
}

function Bars({ field, bins, range, onDrag, onDrop }: BarsProps) {
  const [start, setStart] = useState<number | null>(null);
  const most = Math.max(...bins.map(({ n }) => n));
  const binAt = (event: React.PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    return Math.max(0, Math.min(bins.length - 1, Math.floor(share * bins.length)));
  };
  const between = (a: number, b: number): ValueRange => ({
    from: bins[Math.min(a, b)]!.from,
    to: bins[Math.max(a, b)]!.to,
  });
  const total = bins.reduce((sum, { n }) => sum + n, 0);
  return (
    <>
      <div
        className={classes["bars"]}
        role="img"
        aria-label={`${LABELS[field]} of ${count(total)} runs, from ${show(field, bins[0]!.from)} to ${show(field, bins.at(-1)!.to)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setStart(binAt(event));
          onDrag(between(binAt(event), binAt(event)));
        }}
        onPointerMove={(event) => start !== null && onDrag(between(start, binAt(event)))}
        onPointerUp={(event) => {
          if (start !== null) onDrop(between(start, binAt(event)));
          setStart(null);
        }}
        onPointerCancel={() => setStart(null)}
      >
        {bins.map((bin) => (
          <div
            key={bin.from}
            className={classes["bin"]}
            title={`${show(field, bin.from)} to ${show(field, bin.to)}: ${count(bin.n)}`}
            data-outside={
              bin.to <= (range.from ?? 0) || bin.from >= (range.to ?? Number.POSITIVE_INFINITY) || undefined
            }
          >
            <span style={{ height: bin.n === 0 ? 0 : `${Math.max(4, (bin.n / most) * 100)}%` }} />
          </div>
        ))}
      </div>
      <Group justify="space-between" mt={-4}>
        <Text size="xs" c="dimmed" className="numbers">
          {show(field, bins[0]!.from)}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {show(field, bins.at(-1)!.to)}
        </Text>
      </Group>
    </>
  );
}
