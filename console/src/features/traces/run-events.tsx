import { Table, Text } from "@mantine/core";

import { duration } from "../../ui/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { parseTime } from "../runs/run-record.ts";

/** Limit on individually listed events; streams have one per token. */
const SHOWN = 50;

interface RunEvent {
  name?: unknown;
  time?: unknown;
  kwargs?: unknown;
}

export function RunEvents({ events, start }: { events: unknown; start: string }) {
  if (!Array.isArray(events)) return <JsonView value={events} label="events" />;
  const begin = parseTime(start);
  return (
    <>
      <Table verticalSpacing={3} withRowBorders={false} aria-label="Events" layout="fixed">
        <Table.Tbody>
          {(events as RunEvent[]).slice(0, SHOWN).map((event, at) => (
            <Table.Tr key={at}>
              <Table.Td w={90} ta="end" className="numbers">
                {typeof event?.time === "string" ? `+${duration(Math.max(0, parseTime(event.time) - begin))}` : "–"}
              </Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                <Text size="sm" span>
                  {typeof event?.name === "string" ? event.name : ""}
                </Text>{" "}
                {event?.kwargs != null && Object.keys(event.kwargs).length > 0 && (
                  <Text size="xs" span c="dimmed" ff="monospace">
                    {JSON.stringify(event.kwargs).slice(0, 300)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {events.length > SHOWN && (
        <>
          <Text size="xs" c="dimmed" mb={4}>
            First {SHOWN} of {events.length} events. All events:
          </Text>
          <JsonView value={events} label="events" />
        </>
      )}
    </>
  );
}
