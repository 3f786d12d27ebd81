import { Alert, Button, Group, Kbd, Stack, Text, Textarea } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSparkles } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { readObject, writeJson } from "../../ui/json-text.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { type Proposal, proposalsQuery } from "./queries.ts";

const GenerateForm = lazy(async () => ({ default: (await import("./generate-form.tsx")).GenerateForm }));

/** Examples that a model proposed, reviewed one after another by keys. They count when they are accepted. */
export function Proposals({ datasetId }: { datasetId: string }) {
  const client = useQueryClient();
  const found = useQuery(proposalsQuery(datasetId));
  const [isOpen, setOpen] = useState(false);
  // decided ones disappear at once
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const waiting = (found.data?.items ?? []).filter((item) => !decided.has(item.id));
  const [first] = waiting;
  const settle = async (id: string) => {
    setDecided(new Set([...decided, id]));
    if (waiting.length <= 1) await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
  };
  return (
    <Stack gap="sm">
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {found.data && `${count(Math.max(0, found.data.total - decided.size))} to review`}
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconSparkles size={14} aria-hidden />}
          onClick={() => setOpen(true)}
        >
          Generate variants
        </Button>
      </Group>
      <LoadState query={found} rows={8} />
      {found.data &&
        (!first ? (
          <Empty title="Nothing to review">
            A model can propose variants of the dataset's examples. They become examples when you accept them.
          </Empty>
        ) : (
          <ReviewProposal key={first.id} proposal={first} onDone={() => settle(first.id)} />
        ))}
      {isOpen && (
        <Suspense>
          <GenerateForm
            datasetId={datasetId}
            onClose={() => {
              setOpen(false);
              setDecided(new Set());
            }}
          />
        </Suspense>
      )}
    </Stack>
  );
}

function ReviewProposal({ proposal, onDone }: { proposal: Proposal; onDone: () => Promise<void> }) {
  const [edited, setEdited] = useState<{ inputs: string; outputs: string } | null>(null);
  const params = { path: { dataset_id: proposal.dataset_id, proposal_id: proposal.id } };
  const decide = useMutation({
    async mutationFn(verb: "accept" | "reject") {
      if (verb === "reject") {
        await traceApi.POST("/api/v1/datasets/{dataset_id}/proposals/{proposal_id}/reject", { params });
      } else {
        const body = edited
          ? {
              inputs: readObject(edited.inputs, "The inputs"),
              ...(edited.outputs.trim() !== "" && { outputs: readObject(edited.outputs, "The outputs") }),
            }
          : {};
        await data(traceApi.POST("/api/v1/datasets/{dataset_id}/proposals/{proposal_id}/accept", { params, body }));
      }
      await onDone();
    },
  });
  const send = (verb: "accept" | "reject") => {
    if (!decide.isPending) decide.mutate(verb);
  };
  const edit = () =>
    setEdited(
      (before) =>
        before ?? {
          inputs: writeJson(proposal.inputs),
          outputs: proposal.outputs ? writeJson(proposal.outputs) : "",
        },
    );
  useHotkeys([
    ["A", () => send("accept")],
    ["R", () => send("reject")],
    ["E", edit],
  ]);
  const fields = ["inputs", "outputs"] as const;
  return (
    <Stack gap="sm" component="article" aria-label="Proposed example">
      {fields.map((field) =>
        edited ? (
          <Textarea
            key={field}
            label={field === "inputs" ? "Inputs" : "Outputs"}
            size="xs"
            autosize
            minRows={3}
            maxRows={16}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={edited[field]}
            onChange={({ currentTarget: { value } }) => setEdited({ ...edited, [field]: value })}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                send("accept");
              }
            }}
          />
        ) : (
          <section key={field} aria-label={field === "inputs" ? "Inputs" : "Outputs"}>
            <Text size="sm" fw={600}>
              {field === "inputs" ? "Inputs" : "Outputs"}
            </Text>
            <JsonView value={proposal[field]} label={field} />
          </section>
        ),
      )}
      {decide.error && (
        <Alert color="danger" role="alert" title="Could not save the decision" style={{ overflowWrap: "anywhere" }}>
          {decide.error.message}
        </Alert>
      )}
      <Group gap="xs">
        <Button size="xs" onClick={() => send("accept")} rightSection={<Kbd size="xs">A</Kbd>}>
          Accept
        </Button>
        <Button size="xs" variant="default" onClick={() => send("reject")} rightSection={<Kbd size="xs">R</Kbd>}>
          Reject
        </Button>
        <Button size="xs" variant="default" onClick={edit} rightSection={<Kbd size="xs">E</Kbd>}>
          Edit
        </Button>
      </Group>
    </Stack>
  );
}
