import { Alert, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { CopyButton } from "../../ui/copy-button.tsx";
import classes from "./run-error.module.css";

/** Error in one line, and the stack as received. */
export function RunError({ error }: { error: string }) {
  const [first, ...rest] = error.split("\n");
  const stack = rest.join("\n").trimEnd();
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title="Error" role="region">
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap={4}>
        <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
          {first}
        </Text>
        <CopyButton value={error} label="Copy error" />
      </Group>
      {stack !== "" && (
        <pre className={classes.stack} tabIndex={0} aria-label="Stack trace">
          {stack}
        </pre>
      )}
    </Alert>
  );
}
