import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { checkHandle } from "./new-prompt.tsx";
import { PublicSwitch } from "./public-switch.tsx";
import { type PromptName, promptName, type PromptRow } from "./queries.ts";

interface ForkFormProps {
  prompt: PromptRow;
  name: PromptName;
  onClose: () => void;
}

/** Dialog that copies a prompt with its commits into the current workspace. */
export function ForkForm({ prompt, name, onClose }: ForkFormProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: `${prompt.repo_handle}-fork`, isPublic: false } });
  const fork = async ({ name: handle, isPublic }: typeof form.values) => {
    const { repo } = await data(
      traceApi.POST("/api/v1/repos/{owner}/{repo}/fork", {
        params: { path: name },
        body: { repo_handle: handle.trim(), is_public: isPublic },
      }),
    );
    await client.invalidateQueries({ queryKey: ["prompts"] });
    onClose();
    await navigate({ to: "/prompts/$owner/$repo", params: promptName(repo), search: {} });
  };
  const handle = form.values.name.trim();
  return (
    <FormModal
      title={`Fork ${prompt.repo_handle}`}
      action="Fork"
      size="md"
      form={form}
      isReady={handle !== "" && checkHandle(handle) === null}
      failure="Could not fork the prompt"
      onSubmit={fork}
      onClose={onClose}
    >
      <Text size="sm">The fork is a copy in this workspace that remembers where it comes from.</Text>
      <TextInput
        label="Name"
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps("name")}
        error={checkHandle(handle)}
      />
      <PublicSwitch checked={form.values.isPublic} onChange={(checked) => form.setFieldValue("isPublic", checked)} />
    </FormModal>
  );
}
