import { Alert, Button, Group, Modal, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { updateProject, createProject, type Project } from "./queries.ts";

/** `new` creates a project; null hides the dialog. */
export function EditProject({
  project,
  onClose,
}: {
  project: Pick<Project, "id" | "name" | "description"> | "new" | null;
  onClose: () => void;
}) {
  return (
    <Modal
      opened={project !== null}
      onClose={onClose}
      title={project === "new" ? "New project" : "Edit project"}
      closeButtonProps={{ title: "Close" }}
    >
      {project !== null && <Form project={project === "new" ? null : project} onDone={onClose} />}
    </Modal>
  );
}

function Form({
  project,
  onDone,
}: {
  project: Pick<Project, "id" | "name" | "description"> | null;
  onDone: () => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState(project?.name ?? "");
  const [description, setDescription] = useState(project?.description ?? "");
  const save = useMutation({
    mutationFn: async () => {
      const body = { name: name.trim(), description: description.trim() || null };
      await (project ? updateProject(project.id, body) : createProject(body));
      await Promise.all([
        client.invalidateQueries({ queryKey: ["projects"] }),
        client.invalidateQueries({ queryKey: ["project"] }),
      ]);
    },
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <Textarea
          label="Description"
          autosize
          minRows={2}
          maxRows={8}
          value={description}
          onChange={({ currentTarget: { value } }) => setDescription(value)}
        />
        {save.error && (
          <Alert color="red" role="alert">
            {save.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" disabled={name.trim() === ""} loading={save.isPending}>
            {project ? "Save" : "Create"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
