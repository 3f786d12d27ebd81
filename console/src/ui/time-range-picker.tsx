import { Button, Group, Menu, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconCalendar } from "@tabler/icons-react";
import { useState } from "react";

import { rangeBounds, describeRange, localText, PRESETS, type TimeRange } from "./time-range.ts";

/** Picker for a recent period, or a range in the browser's zone. */
export function TimeRangePicker({ value, onChange }: { value: TimeRange; onChange: (range: TimeRange) => void }) {
  const [isOpen, setOpen] = useState(false);
  const { from, to } = rangeBounds(value, Date.now());
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={260} closeOnItemClick>
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<IconCalendar size={14} aria-hidden />}>
          {describeRange(value)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(PRESETS).map(([last, { label }]) => (
          <Menu.Item key={last} onClick={() => onChange({ last: last as keyof typeof PRESETS })}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>Custom range</Menu.Label>
        <Custom
          key={`${from} ${to}`}
          from={from}
          to={to}
          onChange={(range) => {
            setOpen(false);
            onChange(range);
          }}
        />
      </Menu.Dropdown>
    </Menu>
  );
}

function Custom({ from, to, onChange }: { from: number; to: number; onChange: (range: TimeRange) => void }) {
  const form = useForm({ initialValues: { from: localText(from), to: localText(to) } });
  const [start, end] = [Date.parse(form.values.from), Date.parse(form.values.to)];
  const problem =
    Number.isNaN(start) || Number.isNaN(end) ? "Enter both times" : end <= start ? "Must be after the start" : null;
  return (
    <Stack gap="xs" p="xs">
      <TextInput type="datetime-local" size="xs" label="From" {...form.getInputProps("from")} />
      <TextInput type="datetime-local" size="xs" label="To" {...form.getInputProps("to")} error={problem} />
      <Group justify="flex-end">
        <Button
          size="xs"
          disabled={problem !== null}
          onClick={() => onChange({ from: new Date(start).toISOString(), to: new Date(end).toISOString() })}
        >
          Apply
        </Button>
      </Group>
    </Stack>
  );
}
