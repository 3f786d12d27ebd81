import { useQueryClient } from "@tanstack/react-query";

import { NameForm } from "../../ui/name-form.tsx";
import { ResourceTags } from "../resource-tags/resource-tags.tsx";
import { updateProject, createProject, type Project } from "./queries.ts";

interface EditProjectProps {
  project: Pick<Project, "id" | "name" | "description"> | "new";
  onClose: () => void;
}

/** Form for a new project, or the name and description of an existing one. */
export function EditProject({ project, onClose }: EditProjectProps) {
  const client = useQueryClient();
  return (
    <NameForm
      title={project === "new" ? "New project" : "Edit project"}
      action={project === "new" ? "Create" : "Save"}
      initial={project === "new" ? undefined : project}
      onSubmit={async (body) => {
        await (project === "new" ? createProject(body) : updateProject(project.id, body));
        await Promise.all([
          client.invalidateQueries({ queryKey: ["projects"] }),
          client.invalidateQueries({ queryKey: ["project"] }),
        ]);
        onClose();
      }}
      onClose={onClose}
    >
      {project !== "new" && (
        <ResourceTags resource_type="project" resource_id={project.id} permission="projects:update" />
      )}
    </NameForm>
  );
}
