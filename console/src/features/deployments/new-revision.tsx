import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { FormModal } from "../../ui/form-modal.tsx";
import { createRevision, deployUpload, isImage } from "./deploy.ts";
import { type PackedProject, ProjectDrop } from "./project-drop.tsx";
import type { Deployment } from "./queries.ts";

/** Form for the next revision: another upload, the newest commit, another image. */
export function NewRevision({ deployment, onClose }: { deployment: Deployment; onClose: () => void }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { source, source_revision_config: now } = deployment;
  const form = useForm({
    initialValues: {
      project: null as PackedProject | null,
      configPath: now.langgraph_config_path ?? "langgraph.json",
      ref: now.repo_ref ?? "",
      image: now.image_uri ?? "",
    },
  });
  const isUpload = source === "internal_source";
  const deploy = async ({ project, configPath, ref, image }: typeof form.values) => {
    if (!isUpload) await createRevision(deployment, source === "github" ? { ref } : { image });
    else await deployUpload(deployment.id, { archive: project!.archive, configPath });
    await queryClient.invalidateQueries({ queryKey: ["control", "deployments", deployment.id] });
    onClose();
    // without a selected revision the newest is shown
    await navigate({ to: "/deployments/$deploymentId", params: { deploymentId: deployment.id }, search: {} });
  };
  return (
    <FormModal
      title="New revision"
      action="Deploy"
      form={form}
      isReady={!isUpload || form.values.project !== null}
      onSubmit={deploy}
      onClose={onClose}
    >
      {isUpload && (
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
      {source === "github" && (
        <TextInput
          label="Branch, tag or commit"
          description={`In ${deployment.source_config.repo_url}. A branch is deployed at its latest commit.`}
          required
          {...form.getInputProps("ref")}
          onChange={(event) => form.setFieldValue("ref", event.currentTarget.value.trim())}
        />
      )}
      {isImage(source) && (
        <TextInput
          label="Image"
          required
          {...form.getInputProps("image")}
          onChange={(event) => form.setFieldValue("image", event.currentTarget.value.trim())}
        />
      )}
      <Text size="sm" c="dimmed">
        The active revision keeps serving until the new one is healthy.
      </Text>
    </FormModal>
  );
}
