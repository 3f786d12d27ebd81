import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { ApiError } from "../api/api-error.ts";

/** What failed, and a way to try again. */
export function Problem({ error, onRetry, what }: { error: unknown; onRetry?: () => unknown; what?: string }) {
  const { message } = error as Error;
  const id = error instanceof ApiError ? error.requestId : null;
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title={what ?? titleOf(error)} m="md" role="alert">
      <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {message}
      </Text>
      <Group mt="xs" gap="sm">
        {onRetry && (
          <Button size="xs" variant="default" onClick={() => void onRetry()}>
            Try again
          </Button>
        )}
        {id !== null && (
          <Text size="xs" c="dimmed">
            Request {id}
          </Text>
        )}
      </Group>
    </Alert>
  );
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "This page failed";
  if (error.status === 0) return "The server did not answer";
  if (error.status === 401) return "You are not signed in";
  if (error.status === 403) return "You may not see this";
  if (error.status === 404) return "There is no such thing here";
  if (error.status === 429) return "Too many requests at the moment";
  return `The server refused (${error.status})`;
}
