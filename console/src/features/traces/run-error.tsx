import { Alert, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPause } from "@tabler/icons-react";

import { CopyButton } from "../../ui/copy-button.tsx";
import classes from "./run-error.module.css";

/** Error in one line, and the stack as received. An interrupted run did not fail. */
export function RunError({ error, status }: { error: string; status: string }) {
  if (status === "interrupted") return <Pause error={error} />;
  const [first, ...rest] = error.split("\n");
  const stack = rest.join("\n").trimEnd();
  return (
    <Alert color="danger" icon={<IconAlertTriangle size={18} />} title="Error" role="region">
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

/** The run did not fail: the graph left it to ask a question, or to continue in its parent graph. */
function Pause({ error }: { error: string }) {
  const isQuestion = !/\bParentCommand\b/.test(error);
  return (
    <Alert
      color="warning"
      icon={<IconPlayerPause size={18} />}
      title={isQuestion ? "Interrupted" : "Continued in the parent graph"}
      role="region"
    >
      <Text size="sm" mb={4}>
        {isQuestion
          ? "The graph asked a question here and waits, or waited, for its answer. This is not a failure."
          : "The node handed control to its parent graph. This is not a failure."}
      </Text>
      <pre className={classes.stack} tabIndex={0} aria-label="Details">
        {error}
      </pre>
    </Alert>
  );
}
