import { Alert, Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import { JsonField } from "../../ui/json-field.tsx";
import { readObject, writeJson } from "../../ui/json-text.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { newPrompt, type Prompt } from "../prompt-playground/prompt.ts";
import { kwargs, readManifest } from "../prompt-playground/read-manifest.ts";
import { promptVariables, writeManifest } from "../prompt-playground/write-manifest.ts";
import { CommitConflict } from "./commit-conflict.tsx";
import { MessageFields } from "./message-fields.tsx";
import { Variables } from "./prompt-view.tsx";
import { commitQuery, promptKey, type PromptName, type PromptRow, shortHash } from "./queries.ts";

interface EditPromptProps {
  prompt: PromptRow;
  name: PromptName;
  /** Commit whose content is edited: a tag or a hash; empty: the newest. */
  commit: string;
  onClose: () => void;
  onCommitted: () => void;
}

/** Dialog that edits a prompt's content and creates a commit. */
export function EditPrompt({ prompt, name, commit, onClose, onCommitted }: EditPromptProps) {
  useFocusBack();
  const newest = useQuery({ ...commitQuery(name, "latest"), staleTime: 0 });
  const shown = useQuery({ ...commitQuery(name, commit || "latest"), staleTime: 0 });
  const isReady =
    newest.isFetchedAfterMount && shown.isFetchedAfterMount && newest.data !== undefined && shown.data !== undefined;
  // a refetch that fails must not take the draft away
  const [wasReady, setWasReady] = useState(false);
  if (isReady && !newest.error && !shown.error && !wasReady) setWasReady(true);
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={`Edit ${prompt.repo_handle}`}
      closeOnClickOutside={false}
      closeButtonProps={{ title: "Close" }}
    >
      {(newest.error || shown.error) && <LoadState query={[newest, shown]} />}
      {wasReady ? (
        <EditForm
          name={name}
          manifest={shown.data?.manifest ?? writeManifest(newPrompt())}
          newestHash={newest.data?.commit_hash ?? null}
          olderHash={shown.data?.commit_hash === newest.data?.commit_hash ? null : (shown.data?.commit_hash ?? null)}
          onClose={onClose}
          onCommitted={onCommitted}
        />
      ) : (
        !newest.error && !shown.error && <Loading rows={8} />
      )}
    </Modal>
  );
}

/** @returns null for a manifest that the form cannot edit, such as a few-shot prompt */
function readDraft(manifest: unknown): Prompt | null {
  const { prompt } = readManifest(manifest);
  return prompt.kind === "kept" ? null : prompt;
}

/** Writes the prompt back; a model around it is kept. */
function writeDraft(prompt: Prompt): unknown {
  const written = writeManifest(prompt);
  if (!prompt.sequence) return written;
  return { ...prompt.sequence, kwargs: { ...kwargs(prompt.sequence), first: written } };
}

interface EditFormProps extends Pick<EditPromptProps, "name" | "onClose" | "onCommitted"> {
  manifest: unknown;
  /** Newest commit when the form was opened; null for a prompt without commits. */
  newestHash: string | null;
  /** Edited commit, if it is not the newest. */
  olderHash: string | null;
}

function EditForm({ name, manifest: opened, newestHash, olderHash, onClose, onCommitted }: EditFormProps) {
  const client = useQueryClient();
  // what the form began with: fixed while the queries behind it refresh
  const [manifest] = useState(opened);
  const [parent, setParent] = useState(newestHash);
  const [draft, setDraft] = useState(() => readDraft(manifest));
  const [json, setJson] = useState<string | null>(() => (draft === null ? writeJson(manifest) : null));
  const [message, setMessage] = useState("");
  const [hasConflict, setConflict] = useState(false);
  const current = (): unknown => (json === null ? writeDraft(draft!) : readObject(json, "The manifest"));
  const save = useMutation({
    mutationFn: (parentHash: string | null) =>
      data(
        traceApi.POST("/api/v1/commits/{owner}/{repo}", {
          params: { path: name },
          body: {
            manifest: current() as Record<string, unknown>,
            ...(parentHash !== null && { parent_commit: parentHash }),
            ...(message.trim() !== "" && { description: message.trim() }),
          },
        }),
      ),
    async onSuccess({ commit }) {
      await client.invalidateQueries({ queryKey: promptKey(name) });
      await client.invalidateQueries({ queryKey: ["prompts"] });
      notifyDone(`Committed ${shortHash(commit?.commit_hash)}`);
      onCommitted();
      onClose();
    },
    async onError(error) {
      if (!(error instanceof ApiError && error.status === 409)) {
        // the form, which would show it, is behind the conflict
        if (hasConflict) notifyFailure("Could not commit")(error);
        return;
      }
      const latest = await client.fetchQuery({ ...commitQuery(name, "latest"), staleTime: 0 });
      // a commit that changes nothing is rejected with the same status
      if (latest !== null && latest.commit_hash !== parent) setConflict(true);
    },
  });
  if (hasConflict) {
    return (
      <CommitConflict
        name={name}
        base={parent}
        mine={current()}
        onBack={() => setConflict(false)}
        isSaving={save.isPending}
        onCommit={(hash) => {
          setParent(hash);
          save.mutate(hash);
        }}
        onDiscard={onClose}
      />
    );
  }
  const switchTo = (mode: string) => {
    if (mode === "json") setJson(writeJson(current()));
    else setJson(null);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(parent);
      }}
    >
      <Stack gap="sm">
        {olderHash !== null && (
          <Alert color="neutral">
            This is the content of {shortHash(olderHash)}, which is not the newest commit. The new commit follows{" "}
            {shortHash(parent)} and replaces its content.
          </Alert>
        )}
        {draft !== null && (
          <SegmentedControl
            size="xs"
            aria-label="Editor"
            style={{ alignSelf: "flex-start" }}
            data={[
              { value: "messages", label: draft.kind === "string" ? "Text" : "Messages" },
              { value: "json", label: "JSON" },
            ]}
            value={json === null ? "messages" : "json"}
            onChange={switchTo}
          />
        )}
        {json !== null ? (
          <>
            <JsonField label="Manifest" value={json} minHeight="16rem" onChange={setJson} />
            {draft !== null && (
              <Text size="xs" c="dimmed">
                Back to messages, changes of the JSON are discarded.
              </Text>
            )}
          </>
        ) : (
          <Draft draft={draft!} onChange={setDraft} />
        )}
        <TextInput
          label="Commit message"
          placeholder="Answer more briefly"
          value={message}
          onChange={({ currentTarget: { value } }) => setMessage(value)}
        />
        {save.error && (
          <Alert color="danger" role="alert" title="Could not commit" style={{ overflowWrap: "anywhere" }}>
            {save.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Commit
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface DraftProps {
  draft: Prompt;
  onChange: (draft: Prompt) => void;
}

function Draft({ draft, onChange }: DraftProps) {
  const variables = promptVariables(draft).map(({ name }) => name);
  return (
    <>
      <MessageFields draft={draft} onChange={(messages) => onChange({ ...draft, messages })} />
      <Group gap="xs" role="status">
        <Text size="sm" fw={500}>
          Variables
        </Text>
        <Variables variables={variables} partials={{}} />
      </Group>
    </>
  );
}
