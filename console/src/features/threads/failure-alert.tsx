import { Alert, Button, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import type { RunFailure } from "./run-failure.ts";

interface FailureAlertProps {
  failure: RunFailure;
  title: string;
  onRetry?: () => unknown;
}

/** Reason why a run failed, with an expandable stack trace. */
export function FailureAlert({ failure: { name, message, stack }, title, onRetry }: FailureAlertProps) {
  return (
    <Alert color="danger" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {name !== null && (
          <Text span inherit fw={600}>
            {name}:{" "}
          </Text>
        )}
        {message}
      </Text>
      {stack !== null && (
        <details>
          <summary style={{ cursor: "pointer" }}>
            <Text span size="xs">
              Stack trace
            </Text>
          </summary>
          <Text
            component="pre"
            size="xs"
            ff="monospace"
            tabIndex={0}
            m={0}
            style={{ overflow: "auto", maxHeight: "16rem" }}
          >
            {stack}
          </Text>
        </details>
      )}
      {onRetry && (
        <Button size="xs" mt="xs" variant="default" onClick={() => void onRetry()}>
          Retry
        </Button>
      )}
    </Alert>
  );
}
