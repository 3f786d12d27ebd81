import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  PasswordInput,
  Select,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

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
import { useFocusBack } from "../../ui/use-focus-back.ts";

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
  useFocusBack();
  const queryClient = useQueryClient();
  const { data: info } = useQuery(controlInfoQuery);
  const sources = SOURCES.filter((source) => info?.sources.includes(source));
  const [chosen, setSource] = useState<Source | null>(null);
  const [name, setName] = useState("");
  const [project, setProject] = useState<PackedProject | null>(null);
  const [configPath, setConfigPath] = useState("langgraph.json");
  const [git, setGit] = useState(NO_GIT);
  const [image, setImage] = useState("");
  const [variables, setVariables] = useState<Variable[]>([]);
  const source = chosen ?? sources[0];
  const create = useMutation({
    mutationFn() {
      const set = variables.filter(({ name: variable }) => variable !== "");
      if (source === "github") return createFromGit(name, git, set);
      if (source === "external_docker") return createFromImage(name, image.trim(), set);
      if (!project) throw new Error("Select the project's folder or an archive of it.");
      return createFromUpload(name, { archive: project.archive, configPath }, set);
    },
    async onSuccess(deployment) {
      await queryClient.invalidateQueries({ queryKey: ["control"] });
      await queryClient.invalidateQueries({ queryKey: ["console", "servers"] });
      onCreated(deployment);
    },
  });
  const isReady =
    validateName(name) === null &&
    (source === "github"
      ? validateRepository(git.repoUrl) === null && git.ref !== ""
      : source === "external_docker"
        ? image.trim() !== ""
        : project !== null);
  return (
    <Modal opened onClose={onClose} title="New deployment" size="lg" closeButtonProps={{ title: "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) create.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            description="Used for the URL and tracing project. Cannot be changed later."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={name === "" ? null : validateName(name)}
            required
            data-autofocus
          />
          {sources.length > 1 && (
            <SegmentedControl
              aria-label="Source"
              data={sources.map((value) => ({ value, label: SOURCE_NAMES[value] }))}
              value={source ?? ""}
              onChange={(value) => setSource(value as Source)}
            />
          )}
          {source === "internal_source" && (
            <>
              <ProjectDrop packed={project} onPacked={setProject} />
              <TextInput
                label="Configuration"
                description="Path of langgraph.json in the project."
                value={configPath}
                onChange={(event) => setConfigPath(event.currentTarget.value)}
                required
              />
            </>
          )}
          {source === "github" && <GitFields git={git} onChange={setGit} />}
          {source === "external_docker" && (
            <TextInput
              label="Image"
              placeholder="registry.example/agent:1.0"
              value={image}
              onChange={(event) => setImage(event.currentTarget.value)}
              required
            />
          )}
          <div>
            <Text size="sm" fw={500} mb={4}>
              Environment
            </Text>
            <VariablesEditor variables={variables} onChange={setVariables} />
          </div>
          {create.error && (
            <Alert color="red" role="alert" style={{ whiteSpace: "pre-wrap" }}>
              {create.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={create.isPending}>
              Deploy
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function GitFields({ git, onChange }: { git: GitChoice; onChange: (git: GitChoice) => void }) {
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const set = (change: Partial<GitChoice>) => onChange({ ...git, ...change });
  return (
    <>
      <TextInput
        label="Repository"
        placeholder="https://github.com/team/agent"
        value={git.repoUrl}
        onChange={(event) => set({ repoUrl: event.currentTarget.value.trim() })}
        error={git.repoUrl === "" ? null : validateRepository(git.repoUrl)}
        required
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Branch, tag or commit"
          description="For a tag, enter refs/tags/v1"
          value={git.ref}
          onChange={(event) => set({ ref: event.currentTarget.value.trim() })}
          required
        />
        <TextInput
          label="Configuration"
          description="Path of langgraph.json"
          value={git.configPath}
          onChange={(event) => set({ configPath: event.currentTarget.value.trim() })}
          required
        />
      </SimpleGrid>
      {integrations.length > 0 && (
        <Select
          label="Access"
          description="Uses a stored token"
          placeholder="None, or enter a token below"
          data={integrations.map(({ id, name, url }) => ({ value: id, label: `${name} (${url})` }))}
          value={git.integrationId}
          onChange={(integrationId) => set({ integrationId })}
          clearable
        />
      )}
      {git.integrationId === null && (
        <PasswordInput
          label="Token"
          description="For a private repository. Stored encrypted, never shown again."
          value={git.token}
          onChange={(event) => set({ token: event.currentTarget.value.trim() })}
          autoComplete="off"
        />
      )}
      {git.integrationId === null && git.token !== "" && !isKnownHost(git.repoUrl) && (
        <TextInput
          label="Username"
          description="Only if the Git host requires one"
          placeholder="git"
          value={git.username}
          onChange={(event) => set({ username: event.currentTarget.value.trim() })}
          autoComplete="off"
        />
      )}
      <Checkbox
        label="Deploy on push to the branch"
        checked={git.buildOnPush}
        onChange={(event) => set({ buildOnPush: event.currentTarget.checked })}
      />
    </>
  );
}
