import { Autocomplete, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";

import { traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { CommitSelect } from "./commit-select.tsx";
import { Differences } from "./compare-commits.tsx";
import {
  type Commit,
  commitsQuery,
  environmentsQuery,
  promptKey,
  type PromptName,
  type PromptRow,
  type PromptTag,
  shortHash,
} from "./queries.ts";

interface MoveTagFormProps {
  prompt: PromptRow;
  name: PromptName;
  tags: PromptTag[];
  /** Tag that is moved; without it, the user enters one. */
  tagName?: string | undefined;
  /** Commit that gets the tag; without it, the user selects one. */
  commit?: string;
  onClose: () => void;
}

/** Dialog that sets or moves a tag. It names the commits on both sides and shows what changes between them. */
export function MoveTagForm({ prompt, name, tags, tagName, commit, onClose }: MoveTagFormProps) {
  const client = useQueryClient();
  const { data } = useInfiniteQuery(commitsQuery(name));
  const { data: environments } = useQuery(environmentsQuery);
  const commits = data?.pages.flatMap((page) => page.commits ?? []) ?? [];
  const form = useForm({ initialValues: { tag: tagName ?? "", commit: commit ?? "" } });
  const tag = form.values.tag.trim();
  const current = tags.find(({ tag_name: other }) => other === tag);
  const findCommit = (hash: string) => commits.find((one) => one.commit_hash === hash);
  const target = findCommit(form.values.commit);
  const isSame = current !== undefined && current.commit_hash === target?.commit_hash;
  const action = current ? "Move" : "Set";
  const move = async () => {
    const path = { ...name, tag_name: tag };
    if (current) {
      const body = { commit_id: target!.id! };
      await traceApi.PATCH("/api/v1/repos/{owner}/{repo}/tags/{tag_name}", { params: { path }, body });
    } else {
      const body = { commit_id: target!.id!, tag_name: tag };
      await traceApi.POST("/api/v1/repos/{owner}/{repo}/tags", { params: { path: name }, body });
    }
    await client.invalidateQueries({ queryKey: promptKey(name) });
    await client.invalidateQueries({ queryKey: ["prompts"] });
    notifyDone(`${tag} is now ${shortHash(target!.commit_hash)}`);
    onClose();
  };
  const known = [...new Set([...(environments?.names ?? []), ...tags.map(({ tag_name: other }) => other)])];
  return (
    <FormModal
      title={tagName === undefined ? "Tag a commit" : `${action} ${tagName}`}
      action={tag === "" ? action : `${action} ${tag}`}
      form={form}
      isReady={tag !== "" && target !== undefined && !isSame}
      failure={`Could not ${action.toLowerCase()} the tag`}
      onSubmit={move}
      onClose={onClose}
    >
      {tagName === undefined ? (
        <Autocomplete
          label="Tag"
          placeholder="production"
          required
          data={known}
          data-autofocus
          {...form.getInputProps("tag")}
        />
      ) : (
        <TextInput label="Tag" value={tagName} readOnly />
      )}
      {commit === undefined && (
        <CommitSelect
          label="Commit"
          name={name}
          value={form.values.commit}
          empty={form.values.commit === "" ? "Select a commit" : null}
          hasTags={false}
          onChange={(value) => form.setFieldValue("commit", value)}
        />
      )}
      {target && tag !== "" && (
        <Text size="sm" role="status">
          {isSame ? (
            <>
              {tag} already is {describeCommit(target)}.
            </>
          ) : current ? (
            <>
              <b>{tag}</b> moves from {describeCommit(findCommit(current.commit_hash), current.commit_hash)} to{" "}
              {describeCommit(target)}.
            </>
          ) : (
            <>
              <b>{tag}</b> will name {describeCommit(target)}.
            </>
          )}
        </Text>
      )}
      {current && target && !isSame && prompt.repo_type === "prompt" && (
        <details>
          <summary style={{ cursor: "pointer", fontSize: "var(--mantine-font-size-sm)" }}>View changes</summary>
          <div style={{ marginTop: 8 }}>
            <Differences name={name} from={current.commit_hash} to={target.commit_hash!} />
          </div>
        </details>
      )}
    </FormModal>
  );
}

const describeCommit = (commit: Commit | undefined, hash = ""): string =>
  commit ? `${shortHash(commit.commit_hash)}${commit.description ? ` (${commit.description})` : ""}` : shortHash(hash);
