import { ActionIcon, Group, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";

/** The present month by the browser's clock. */
const present = () => new Date().toISOString().slice(0, 7);

function shift(month: string, by: number): string {
  const date = new Date(`${month}-15T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

const name = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

/** Steps through months. Undefined: the current month of each budget's time zone. */
export function MonthPicker({
  month,
  onChange,
}: {
  month: string | undefined;
  onChange: (month: string | undefined) => void;
}) {
  const shown = month ?? present();
  const go = (by: number) => () => {
    const next = shift(shown, by);
    onChange(next === present() ? undefined : next);
  };
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon variant="default" aria-label="Previous month" onClick={go(-1)}>
        <IconChevronLeft size={16} />
      </ActionIcon>
      <Text size="sm" w={130} ta="center" aria-live="polite">
        {name.format(new Date(`${shown}-15T00:00:00Z`))}
      </Text>
      <ActionIcon variant="default" aria-label="Next month" disabled={shown >= present()} onClick={go(1)}>
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  );
}
