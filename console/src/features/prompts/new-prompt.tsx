import { SegmentedControl, Input, Select, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { PublicSwitch } from "./public-switch.tsx";
import { newMessage, newPrompt, type Prompt } from "../prompt-playground/prompt.ts";
import type { TemplateFormat } from "../prompt-playground/template.ts";
import { writeManifest } from "../prompt-playground/write-manifest.ts";
import { promptName } from "./queries.ts";

const HANDLE = /^[a-z][a-z0-9_-]*$/;

/** Returns what is wrong with the name of a prompt; null for nothing. */
export const checkHandle = (handle: string): string | null =>
  handle === "" || HANDLE.test(handle)
    ? null
    : "Begin with a lowercase letter, and use lowercase letters, digits, hyphens and underscores";

/** Content of a new prompt. */
function firstManifest(kind: Prompt["kind"], format: TemplateFormat) {
  const question = format === "f-string" ? "{question}" : "{{question}}";
  const messages =
    kind === "string"
      ? [newMessage("human", `Answer the question: ${question}`)]
      : [newMessage("system", "You are a helpful assistant."), newMessage("human", question)];
  return writeManifest({ ...newPrompt(), kind, format, messages });
}

/** Dialog that creates a prompt with its first commit. */
export function NewPrompt({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: {
      name: "",
      description: "",
      kind: "chat" as Prompt["kind"],
      format: "f-string" as TemplateFormat,
      isPublic: false,
    },
  });
  const create = async ({ name, description, kind, format, isPublic }: typeof form.values) => {
    const body = { repo_handle: name.trim(), description: description.trim() || null, is_public: isPublic };
    const { repo } = await data(traceApi.POST("/api/v1/repos", { body: { ...body, repo_type: "prompt" } }));
    const path = promptName(repo);
    await traceApi.POST("/api/v1/commits/{owner}/{repo}", {
      params: { path },
      body: { manifest: firstManifest(kind, format) },
    });
    await client.invalidateQueries({ queryKey: ["prompts"] });
    await navigate({ to: "/prompts/$owner/$repo", params: path });
  };
  const name = form.values.name.trim();
  return (
    <FormModal
      title="New prompt"
      action="Create"
      size="md"
      form={form}
      isReady={name !== "" && checkHandle(name) === null}
      failure="Could not create the prompt"
      onSubmit={create}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Running code pulls the prompt by this name. It cannot be changed."
        placeholder="support-answer"
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps("name")}
        error={checkHandle(name)}
      />
      <Textarea label="Description" autosize minRows={2} maxRows={6} {...form.getInputProps("description")} />
      <Input.Wrapper label="Type" labelElement="div">
        <div>
          <SegmentedControl
            size="xs"
            aria-label="Type"
            data={[
              { value: "chat", label: "Chat messages" },
              { value: "string", label: "Text" },
            ]}
            {...form.getInputProps("kind")}
          />
        </div>
      </Input.Wrapper>
      <Select
        label="Template format"
        data={[
          { value: "f-string", label: "f-string: {variable}" },
          { value: "mustache", label: "mustache: {{variable}}" },
        ]}
        allowDeselect={false}
        {...form.getInputProps("format")}
      />
      <PublicSwitch checked={form.values.isPublic} onChange={(checked) => form.setFieldValue("isPublic", checked)} />
    </FormModal>
  );
}
