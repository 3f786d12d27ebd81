import { Text, type TextProps, Tooltip } from "@mantine/core";

import { fullTime, relativeTime } from "./format.ts";
import { useNow } from "./use-now.ts";

/** Relative time; the absolute one, with its zone and in UTC, is shown on hover and focus. */
export function TimeText({ at, ...props }: { at: string | null | undefined } & TextProps) {
  const now = useNow();
  if (at == null)
    return (
      <Text span size="sm" {...props}>
        –
      </Text>
    );
  return (
    <Tooltip
      label={`${fullTime(at)} · ${new Date(at).toISOString()}`}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text span size="sm" className="numbers" style={{ whiteSpace: "nowrap" }} {...props}>
        <time dateTime={at}>{relativeTime(at, now)}</time>
      </Text>
    </Tooltip>
  );
}
