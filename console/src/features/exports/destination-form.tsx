import { Group, PasswordInput, Text, TextInput } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";

import { FormModal } from "../../ui/form-modal.tsx";
import {
  createDestination,
  type Credentials,
  type Destination,
  type DestinationBody,
  rotateCredentials,
} from "./queries.ts";

interface FormProps {
  onClose: () => void;
  onSaved: () => Promise<unknown>;
}

const NO_CREDENTIALS = { access_key_id: "", secret_access_key: "", session_token: "" };
const orNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

const readCredentials = (values: typeof NO_CREDENTIALS): Credentials => ({
  access_key_id: values.access_key_id.trim(),
  secret_access_key: values.secret_access_key.trim(),
  ...(orNull(values.session_token) !== null && { session_token: values.session_token.trim() }),
});

/** Form for a new destination; the server writes a test object before it saves anything. */
export function DestinationForm({ onClose, onSaved }: FormProps) {
  const form = useForm({
    initialValues: { display_name: "", bucket: "", prefix: "", region: "", endpoint: "", ...NO_CREDENTIALS },
  });
  const save = async (values: typeof form.values) => {
    const body: DestinationBody = {
      destination_type: "s3",
      display_name: values.display_name.trim(),
      config: {
        bucket_name: orNull(values.bucket),
        prefix: values.prefix.trim(),
        region: orNull(values.region),
        endpoint_url: orNull(values.endpoint),
        include_bucket_in_prefix: true,
      },
      ...(orNull(values.access_key_id) !== null && { credentials: readCredentials(values) }),
    };
    await createDestination(body);
    await onSaved();
  };
  return (
    <FormModal
      title="New destination"
      action="Test and create"
      size="md"
      failure="Could not create the destination"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("display_name")} />
      <Group grow align="start">
        <TextInput label="Bucket" required {...form.getInputProps("bucket")} />
        <TextInput label="Prefix" placeholder="heddle/traces" {...form.getInputProps("prefix")} />
      </Group>
      <Group grow align="start">
        <TextInput
          label="Endpoint"
          description="Leave empty for AWS"
          placeholder="https://s3.example"
          {...form.getInputProps("endpoint")}
        />
        <TextInput
          label="Region"
          description="Required for AWS"
          placeholder="eu-central-1"
          {...form.getInputProps("region")}
        />
      </Group>
      <CredentialFields form={form} isRequired={false} />
    </FormModal>
  );
}

export function CredentialsForm({ destination, onClose, onSaved }: FormProps & { destination: Destination }) {
  const form = useForm({ initialValues: NO_CREDENTIALS });
  return (
    <FormModal
      title={`Edit credentials of ${destination.display_name}`}
      action="Test and save"
      size="md"
      failure="Could not update the credentials"
      form={form}
      onSubmit={async (values) => {
        await rotateCredentials(destination.id, readCredentials(values));
        await onSaved();
      }}
      onClose={onClose}
    >
      <Text size="sm">The new credentials are tested first. If the test fails, the current ones are kept.</Text>
      <CredentialFields form={form} isRequired />
    </FormModal>
  );
}

interface CredentialFieldsProps {
  form: UseFormReturnType<typeof NO_CREDENTIALS>;
  isRequired: boolean;
}

function CredentialFields({ form, isRequired }: CredentialFieldsProps) {
  return (
    <>
      <TextInput
        label="Access key ID"
        {...(!isRequired && {
          description: "Leave empty to use the installation's own credentials, if allowed",
        })}
        required={isRequired}
        autoComplete="off"
        {...form.getInputProps("access_key_id")}
      />
      <PasswordInput
        label="Secret access key"
        required={isRequired}
        autoComplete="new-password"
        {...form.getInputProps("secret_access_key")}
      />
      <PasswordInput label="Session token" autoComplete="new-password" {...form.getInputProps("session_token")} />
    </>
  );
}
