import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { createRevision, deployUpload, isImage } from "./deploy.ts";
import { type PackedProject, ProjectDrop } from "./project-drop.tsx";
import type { Deployment } from "./queries.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";

/** Form for the next revision: another upload, the newest commit, another image. */
export function NewRevision({ deployment, onClose }: { deployment: Deployment; onClose: () => void }) {
  useFocusBack();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { source, source_revision_config: now } = deployment;
  const [project, setProject] = useState<PackedProject | null>(null);
  const [configPath, setConfigPath] = useState(now.langgraph_config_path ?? "langgraph.json");
  const [ref, setRef] = useState(now.repo_ref ?? "");
  const [image, setImage] = useState(now.image_uri ?? "");
  const isUpload = source === "internal_source";
  const deploy = useMutation({
    async mutationFn() {
      if (!isUpload) return createRevision(deployment, source === "github" ? { ref } : { image });
      if (!project) throw new Error("Select the project's folder or an archive of it.");
      return deployUpload(deployment.id, { archive: project.archive, configPath });
    },
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ["control", "deployments", deployment.id] });
      onClose();
      // without a selected revision the newest is shown
      await navigate({ to: "/deployments/$deploymentId", params: { deploymentId: deployment.id }, search: {} });
    },
  });
  return (
    <Modal opened onClose={onClose} title="New revision" size="lg" closeButtonProps={{ title: "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          deploy.mutate();
        }}
      >
        <Stack gap="sm">
          {isUpload && (
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
          {source === "github" && (
            <TextInput
              label="Branch, tag or commit"
              description={`In ${deployment.source_config.repo_url}. A branch is deployed at its latest commit.`}
              value={ref}
              onChange={(event) => setRef(event.currentTarget.value.trim())}
              required
            />
          )}
          {isImage(source) && (
            <TextInput
              label="Image"
              value={image}
              onChange={(event) => setImage(event.currentTarget.value.trim())}
              required
            />
          )}
          <Text size="sm" c="dimmed">
            The active revision keeps serving until the new one is healthy.
          </Text>
          {deploy.error && (
            <Alert color="red" role="alert">
              {deploy.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={isUpload && project === null} loading={deploy.isPending}>
              Deploy
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
