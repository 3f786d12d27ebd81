import { Checkbox, PasswordInput, Select, SegmentedControl, SimpleGrid, Text, TextInput } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChangeEvent } from "react";

import { FormModal } from "../../ui/form-modal.tsx";
import {
  createFromGit,
  createFromImage,
  createFromUpload,
  type GitChoice,
  isKnownHost,
  validateName,
  validateRepository,
  type Variable,
} from "./deploy.ts";
import { type PackedProject, ProjectDrop } from "./project-drop.tsx";
import { controlInfoQuery, type Deployment, integrationsQuery, type Source, SOURCE_NAMES } from "./queries.ts";
import { VariablesEditor } from "./variables-editor.tsx";

const SOURCES: Source[] = ["internal_source", "github", "external_docker"];
const NO_GIT: GitChoice = {
  repoUrl: "",
  ref: "main",
  configPath: "langgraph.json",
  integrationId: null,
  token: "",
  username: "",
  buildOnPush: false,
};

interface NewDeploymentProps {
  onClose: () => void;
  onCreated: (deployment: Deployment) => void;
}

/** Form for a deployment from a folder or archive, a Git repository, or an existing image. */
export function NewDeployment({ onClose, onCreated }: NewDeploymentProps) {
  const queryClient = useQueryClient();
  const { data: info } = useQuery(controlInfoQuery);
  const sources = SOURCES.filter((candidate) => info?.sources.includes(candidate));
  const form = useForm({
    initialValues: {
      name: "",
      source: null as Source | null,
      project: null as PackedProject | null,
      configPath: "langgraph.json",
      git: NO_GIT,
      image: "",
      variables: [] as Variable[],
    },
  });
  const { name, project, configPath, git, image } = form.values;
  const source = form.values.source ?? sources[0];
  const send = (variables: Variable[]) => {
    if (source === "github") return createFromGit(name, git, variables);
    if (source === "external_docker") return createFromImage(name, image.trim(), variables);
    return createFromUpload(name, { archive: project!.archive, configPath }, variables);
  };
  const create = async ({ variables }: typeof form.values) => {
    const deployment = await send(variables.filter((variable) => variable.name !== ""));
    await queryClient.invalidateQueries({ queryKey: ["control"] });
    await queryClient.invalidateQueries({ queryKey: ["console", "servers"] });
    onCreated(deployment);
  };
  const isReady =
    validateName(name) === null &&
    (source === "github"
      ? validateRepository(git.repoUrl) === null && git.ref !== ""
      : source === "external_docker"
        ? image.trim() !== ""
        : project !== null);
  return (
    <FormModal title="New deployment" action="Deploy" form={form} isReady={isReady} onSubmit={create} onClose={onClose}>
      <TextInput
        label="Name"
        description="Used for the URL and tracing project. Cannot be changed later."
        required
        data-autofocus
        {...form.getInputProps("name")}
        error={name === "" ? null : validateName(name)}
      />
      {sources.length > 1 && (
        <SegmentedControl
          aria-label="Source"
          data={sources.map((value) => ({ value, label: SOURCE_NAMES[value] }))}
          {...form.getInputProps("source")}
          value={source ?? ""}
        />
      )}
      {source === "internal_source" && (
        <>
          <ProjectDrop {...form.getInputProps("project")} />
          <TextInput
            label="Configuration"
            description="Path of langgraph.json in the project."
            required
            {...form.getInputProps("configPath")}
          />
        </>
      )}
      {source === "github" && <GitFields form={form} />}
      {source === "external_docker" && (
        <TextInput label="Image" placeholder="registry.example/agent:1.0" required {...form.getInputProps("image")} />
      )}
      <div>
        <Text size="sm" fw={500} mb={4}>
          Environment
        </Text>
        <VariablesEditor
          variables={form.values.variables}
          onChange={(variables) => form.setFieldValue("variables", variables)}
        />
      </div>
    </FormModal>
  );
}

function GitFields({ form }: { form: UseFormReturnType<{ git: GitChoice }> }) {
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const { git } = form.values;
  const trimmed = (field: "repoUrl" | "ref" | "configPath" | "token" | "username") => ({
    ...form.getInputProps(`git.${field}`),
    onChange: (event: ChangeEvent<HTMLInputElement>) =>
      form.setFieldValue(`git.${field}`, event.currentTarget.value.trim()),
  });
  return (
    <>
      <TextInput
        label="Repository"
        placeholder="https://github.com/team/agent"
        required
        {...trimmed("repoUrl")}
        error={git.repoUrl === "" ? null : validateRepository(git.repoUrl)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Branch, tag or commit"
          description="For a tag, enter refs/tags/v1"
          required
          {...trimmed("ref")}
        />
        <TextInput label="Configuration" description="Path of langgraph.json" required {...trimmed("configPath")} />
      </SimpleGrid>
      {integrations.length > 0 && (
        <Select
          label="Access"
          description="Uses a stored token"
          placeholder="None, or enter a token below"
          data={integrations.map(({ id, name, url }) => ({ value: id, label: `${name} (${url})` }))}
          clearable
          {...form.getInputProps("git.integrationId")}
        />
      )}
      {git.integrationId === null && (
        <PasswordInput
          label="Token"
          description="For a private repository. Stored encrypted, never shown again."
          autoComplete="off"
          {...trimmed("token")}
        />
      )}
      {git.integrationId === null && git.token !== "" && !isKnownHost(git.repoUrl) && (
        <TextInput
          label="Username"
          description="Only if the Git host requires one"
          placeholder="git"
          autoComplete="off"
          {...trimmed("username")}
        />
      )}
      <Checkbox label="Deploy on push to the branch" {...form.getInputProps("git.buildOnPush", { type: "checkbox" })} />
    </>
  );
}
