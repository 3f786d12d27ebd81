import { Autocomplete, Modal, SegmentedControl, Select, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type Dispatch, useRef, useState } from "react";

import { FormModal } from "../../ui/form-modal.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { CommitConflict } from "../prompts/commit-conflict.tsx";
import { checkHandle } from "../prompts/new-prompt.tsx";
import { type PromptName, promptQuery, promptTagsQuery, pullName, shortHash } from "../prompts/queries.ts";
import { findProblem } from "./build-request.ts";
import { activePrompt, type Draft, type DraftAction } from "./draft.ts";
import { canSerialize, joinModel, writeModel } from "./model-node.ts";
import { splitName } from "./open-draft.ts";
import type { Node, Prompt } from "./prompt.ts";
import { connectionsQuery } from "../models/queries.ts";
import { promptChoicesQuery } from "./queries.ts";
import { readManifest } from "./read-manifest.ts";
import { createPrompt, moveTag, saveCommit, type SavedCommit, StaleError } from "./save-commit.ts";
import { usePermission } from "../settings/use-permission.ts";
import { writeManifest } from "./write-manifest.ts";

interface SaveDialogProps {
  draft: Draft;
  dispatch: Dispatch<DraftAction>;
  onClose: () => void;
}

/** Names that running code pulls by; the prompt's own tags are offered too. */
const ENVIRONMENTS = ["production", "staging"];

/** Dialog that saves the active prompt as a commit of a new or an existing prompt, and moves a tag to it. */
export function SaveDialog({ draft, dispatch, onClose }: SaveDialogProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const prompt = activePrompt(draft);
  const { origin } = prompt;
  const [mayCreate, mayCommit, mayTag] = [
    usePermission("prompts:create"),
    usePermission("prompts:update"),
    usePermission("prompts:tag"),
  ];
  const column = draft.columns.find(({ promptKey }) => promptKey === prompt.key) ?? draft.columns[0]!;
  const provider = useProvider(column.model.connectionId, column.model.provider);
  const form = useForm({
    initialValues: {
      mode: origin ? "known" : "new",
      known: origin ? `${origin.owner}/${origin.repo}` : (null as string | null),
      name: "",
      description: "",
      tag: "",
      withModel: prompt.sequence !== undefined || prompt.tools.length > 0,
    },
  });
  const { mode, known, name: newName } = form.values;
  const isNew = mode === "new";
  const target: PromptName | null = isNew || known === null ? null : toName(known);
  const [isStale, setStale] = useState(false);
  // what a failed attempt has done already is not repeated
  const done = useRef<{ created?: PromptName; commit?: SavedCommit & { target: string } }>({});
  const latest = useQuery({ ...promptQuery(target ?? { owner: "-", repo: "" }), enabled: target !== null });
  const tags = useQuery({ ...promptTagsQuery(target ?? { owner: "-", repo: "" }), enabled: target !== null });
  const isOrigin = origin !== undefined && known === `${origin.owner}/${origin.repo}`;
  const parent = isOrigin ? origin.commitHash : (latest.data?.last_commit_hash ?? null);
  const problem = findProblem(prompt) ?? modelProblem(form.values.withModel, provider, column.model.model);
  const refusal = isNew ? mayCreate : mayCommit;

  const onTop = useMutation({
    mutationFn: (newest: string | null) => save(form.values, newest),
    onError: notifyFailure("Could not save the prompt"),
  });
  const save = async ({ description, tag, withModel }: typeof form.values, follows = isNew ? null : parent) => {
    const name = target ?? done.current.created ?? (await createPrompt(newName.trim()));
    if (isNew) done.current.created = name;
    const manifest = serialize(prompt, withModel, column.model, provider);
    const key = pullName(name);
    let commit = done.current.commit?.target === key ? done.current.commit : null;
    if (!commit) {
      try {
        commit = { ...(await saveCommit({ name, manifest, parent: follows, description })), target: key };
      } catch (error) {
        if (!(error instanceof StaleError)) throw error;
        await client.invalidateQueries({ queryKey: ["prompt", name.owner, name.repo] });
        setStale(true);
        return;
      }
      done.current.commit = commit;
    }
    const { source, sequence } = readManifest(manifest).prompt;
    const kept = {
      origin: { ...name, commitHash: commit.hash },
      ...(source && { source }),
      ...(sequence && { sequence }),
    };
    dispatch({ type: "prompt", key: prompt.key, change: kept });
    const moved = tag.trim();
    if (moved !== "") {
      try {
        await moveTag(name, moved, commit.id, tags.data?.every(({ tag_name: known }) => known !== moved) ?? true);
      } catch (error) {
        throw new Error(`Saved as ${shortHash(commit.hash)}, but the tag was not moved: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
    await Promise.all([
      client.invalidateQueries({ queryKey: ["prompts"] }),
      client.invalidateQueries({ queryKey: ["prompt", name.owner, name.repo] }),
    ]);
    onClose();
    const what = commit.isUnchanged
      ? `No changes since ${shortHash(commit.hash)}`
      : `Saved ${key} as ${shortHash(commit.hash)}`;
    notifyDone(moved === "" ? what : `${what}; ${moved} points to it`);
  };
  if (isStale && target) {
    return (
      <Modal
        opened
        onClose={onClose}
        title={`Save to ${pullName(target)}`}
        size="xl"
        closeButtonProps={{ title: "Close" }}
      >
        <CommitConflict
          name={target}
          base={origin?.commitHash ?? null}
          mine={serialize(prompt, form.values.withModel, column.model, provider)}
          isSaving={onTop.isPending}
          onBack={() => setStale(false)}
          onDiscard={() => void navigate({ to: "/playground", search: { prompt: `${target.owner}/${target.repo}` } })}
          onCommit={(newest) => onTop.mutate(newest)}
        />
      </Modal>
    );
  }
  return (
    <FormModal
      title="Save as a commit"
      action="Save"
      size="md"
      form={form}
      failure="Could not save the prompt"
      isReady={
        refusal === null &&
        problem === null &&
        (isNew ? newName.trim() !== "" && checkHandle(newName.trim()) === null : known !== null)
      }
      onSubmit={(values) => save(values)}
      onClose={onClose}
    >
      <SegmentedControl
        size="xs"
        aria-label="Existing or new prompt"
        data={[
          { value: "new", label: "New prompt" },
          { value: "known", label: "Existing prompt" },
        ]}
        {...form.getInputProps("mode")}
      />
      {isNew ? (
        <TextInput
          label="Name"
          required
          data-autofocus
          autoComplete="off"
          placeholder="support-answer"
          {...form.getInputProps("name")}
          error={checkHandle(newName.trim())}
        />
      ) : (
        <PromptSelect value={known} onChange={(value) => form.setFieldValue("known", value)} />
      )}
      <TextInput
        label="Message"
        placeholder="What has changed"
        {...(!isNew && { "data-autofocus": true })}
        {...form.getInputProps("description")}
      />
      <Autocomplete
        label="Move a tag to this commit"
        description={mayTag ?? "Running code that pulls by this tag gets the new commit."}
        placeholder="None"
        disabled={mayTag !== null}
        comboboxProps={{ withinPortal: false }}
        data={[...new Set([...ENVIRONMENTS, ...(tags.data ?? []).map(({ tag_name: tag }) => tag)])]}
        {...form.getInputProps("tag")}
      />
      <Switch
        label="Include the model"
        description="Clients get it with include_model. Keys are never saved."
        disabled={!canSerialize(provider)}
        {...form.getInputProps("withModel", { type: "checkbox" })}
      />
      {!form.values.withModel && prompt.tools.length > 0 && (
        <Text size="xs" c="dimmed">
          Tools belong to the model in LangChain's format: without the model they are not saved.
        </Text>
      )}
      {parent !== null && !isNew && (
        <Text size="xs" c="dimmed">
          Follows {shortHash(parent)}
          {isOrigin ? ", which you opened" : ", the latest commit"}.
        </Text>
      )}
      {(refusal ?? problem) !== null && (
        <Text size="sm" c="var(--heddle-danger)" role="status">
          {refusal ?? problem}
        </Text>
      )}
    </FormModal>
  );
}

function toName(text: string): PromptName {
  const [owner, repo] = splitName(text);
  return { owner, repo };
}

function useProvider(connectionId: string | null, provider: string | null): string | null {
  const { data: connections } = useQuery(connectionsQuery);
  return connections?.find(({ id }) => id === connectionId)?.provider ?? provider;
}

function modelProblem(withModel: boolean, provider: string | null, model: string): string | null {
  if (!withModel) return null;
  if (!canSerialize(provider) || model === "") return "Choose a model that can be saved, or leave out the model.";
  return null;
}

function serialize(
  prompt: Prompt,
  withModel: boolean,
  model: Draft["columns"][0]["model"],
  provider: string | null,
): Node {
  const manifest = writeManifest(prompt);
  if (!withModel || provider === null) return manifest;
  const { model: before } = readManifest(prompt.sequence);
  return joinModel(manifest, writeModel(model, provider, before), prompt);
}

function PromptSelect({ value, onChange }: { value: string | null; onChange: (value: string | null) => void }) {
  const [text, setText] = useState("");
  const found = useQuery(promptChoicesQuery(text));
  const names = (found.data ?? []).map(({ owner, repo_handle: repo }) => `${owner ?? "-"}/${repo}`);
  const known = value === null || names.includes(value) ? names : [value, ...names];
  return (
    <Select
      label="Prompt"
      searchable
      required
      placeholder={found.isPending ? "Loading…" : "Select a prompt"}
      nothingFoundMessage="No matching prompts"
      comboboxProps={{ withinPortal: false }}
      data={known.map((name) => ({ value: name, label: name.replace(/^-\//, "") }))}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
      error={found.error?.message}
    />
  );
}
