import { Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";

import { FormModal } from "./form-modal.tsx";

interface NameFormProps {
  title: string;
  action: string;
  /** Absent for a new one. */
  initial?: { name: string; description: string | null } | undefined;
  onSubmit: (body: { name: string; description: string | null }) => Promise<unknown>;
  onClose: () => void;
  /** Further fields, which save themselves. */
  children?: ReactNode;
}

/** Form for the name and the description of a project or a dataset. */
export function NameForm({ title, action, initial, onSubmit, onClose, children }: NameFormProps) {
  const form = useForm({ initialValues: { name: initial?.name ?? "", description: initial?.description ?? "" } });
  return (
    <FormModal
      title={title}
      action={action}
      size="md"
      form={form}
      isReady={form.values.name.trim() !== ""}
      onSubmit={({ name, description }) => onSubmit({ name: name.trim(), description: description.trim() || null })}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.getInputProps("description")} />
      {children}
    </FormModal>
  );
}
