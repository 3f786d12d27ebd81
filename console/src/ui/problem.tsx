import { Alert, Button, Group, Loader, Paper, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { ApiError } from "../api/api-error.ts";
import { TimeText } from "./time-text.tsx";

/** Error with a button to retry. */
export function Problem({ error, onRetry, title }: { error: unknown; onRetry?: () => unknown; title?: string }) {
  const { message } = error as Error;
  // callers that the platform does not know are already on the sign-in page
  const isNotOurs = error instanceof ApiError && error.status === 401;
  // a retry would give the same result
  const isGone = error instanceof ApiError && error.status === 404;
  const id = error instanceof ApiError ? error.requestId : null;
  return (
    <Alert color="danger" icon={<IconAlertTriangle size={18} />} title={title ?? errorTitle(error)} m="md" role="alert">
      <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {message}
      </Text>
      {isNotOurs && (
        <Text size="sm" mt={4}>
          The project has its own authentication. Set HEDDLE_STUDIO_AUTH=true in the server&apos;s environment, or among
          the deployment&apos;s secrets, to admit all users of this console.
        </Text>
      )}
      <Group mt="xs" gap="sm">
        {onRetry && !isGone && (
          <Button size="xs" variant="default" onClick={() => void onRetry()}>
            Retry
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

function errorTitle(error: unknown): string {
  if (!(error instanceof ApiError)) return "Could not load the page";
  if (error.status === 0) return "The server did not respond";
  if (error.status === 401) return "The agent server denied access";
  if (error.status === 403) return "Access denied";
  if (error.status === 404) return "Not found";
  if (error.status === 429) return "Too many requests";
  return `Request failed (${error.status})`;
}

/**
 * Notice about the connection to a server of the page.
 * @param since time of the oldest data that the page still shows, in milliseconds since 1970
 */
export const ConnectionState = ({ isLost, since = null }: { isLost: boolean; since?: number | null }) => (
  <Paper withBorder shadow="md" px="md" py="xs" style={{ display: "flex", gap: 10, alignItems: "center" }}>
    {isLost && <Loader size={14} color="var(--heddle-warning)" />}
    <Text size="sm">
      {!isLost ? (
        "Reconnected. The page is up to date."
      ) : (
        <>
          Server unreachable. Reconnecting…{" "}
          {since === null ? (
            "This page may be out of date."
          ) : (
            <>
              Data from <TimeText at={new Date(since).toISOString()} />.
            </>
          )}
        </>
      )}
    </Text>
  </Paper>
);
