import { Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useConfirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CredentialsForm, DestinationForm } from "./destination-form.tsx";
import { deleteDestination, type Destination, destinationsQuery, testDestination } from "./queries.ts";

const route = getRouteApi("/_shell/exports/destinations");

export function DestinationsPage() {
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const { data: destinations, error, refetch } = useQuery(destinationsQuery);
  const [rotating, setRotating] = useState<Destination | null>(null);
  const { confirm, dialog } = useConfirm();
  const test = useMutation({
    mutationFn: ({ id }: Destination) => testDestination(id),
    onSuccess: (_, { display_name: name }) => notifyDone(`Test passed: the API and a worker can write to ${name}.`),
    onError: notifyFailure("Test failed"),
  });
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["export-destinations"] });
  return (
    <Page
      title="Destinations"
      actions={
        <>
          <ButtonLink to="/exports" variant="default" size="xs">
            Exports
          </ButtonLink>
          <NewButton onClick={() => void navigate({ search: { create: true } })}>New destination</NewButton>
        </>
      }
    >
      {dialog}
      {create && (
        <DestinationForm
          onClose={() => void navigate({ search: {} })}
          onSaved={async () => {
            await refresh();
            await navigate({ search: {} });
          }}
        />
      )}
      {rotating && (
        <CredentialsForm
          destination={rotating}
          onClose={() => setRotating(null)}
          onSaved={async () => {
            await refresh();
            setRotating(null);
            notifyDone("New export runs use the new credentials.");
          }}
        />
      )}
      {!destinations ? (
        <LoadState query={{ error, refetch }} rows={3} title="Could not load the destinations" />
      ) : destinations.length === 0 ? (
        <Empty title="No destinations yet">
          <Text size="sm">
            A destination is a bucket in AWS S3 or an S3-compatible store. It is tested before it is saved.
          </Text>
          <Button onClick={() => void navigate({ search: { create: true } })}>New destination</Button>
        </Empty>
      ) : (
        <SimpleTable
          label="Destinations"
          minWidth={1040}
          rows={destinations}
          rowKey={({ id }) => id}
          columns={[
            { title: "Name", width: "16%", cell: ({ display_name: name }) => name },
            { title: "Bucket", cell: ({ config }) => bucketPath(config) },
            { title: "Store", cell: ({ config }) => config.endpoint_url ?? `AWS, ${config.region}` },
            {
              title: "Credentials",
              width: 130,
              cell: ({ credentials_keys: keys }) =>
                keys.length === 0 ? "installation" : keys.length > 2 ? "key and token" : "key",
            },
            { title: "Updated", width: 100, cell: ({ updated_at: at }) => <TimeText at={at} /> },
            {
              title: "",
              width: 300,
              cell: (destination) => (
                <Group gap={6} wrap="nowrap" justify="flex-end">
                  <Button
                    size="compact-xs"
                    variant="default"
                    loading={test.isPending && test.variables.id === destination.id}
                    onClick={() => test.mutate(destination)}
                  >
                    Test
                  </Button>
                  <Button size="compact-xs" variant="default" onClick={() => setRotating(destination)}>
                    Edit credentials
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() =>
                      confirm({
                        title: `Delete ${destination.display_name}?`,
                        body: "This deletes the stored credentials. Objects in the bucket are kept.",
                        action: "Delete",
                        run: async () => {
                          await deleteDestination(destination.id);
                          await refresh();
                        },
                      })
                    }
                  >
                    Delete
                  </Button>
                </Group>
              ),
            },
          ]}
        />
      )}
    </Page>
  );
}

const bucketPath = ({ bucket_name: bucket, prefix }: Destination["config"]): string =>
  [bucket, prefix].filter((part) => part !== null && part !== "").join("/") || "bucket root";
