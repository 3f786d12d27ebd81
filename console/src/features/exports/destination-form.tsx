import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";

import {
  createDestination,
  type Credentials,
  type Destination,
  type DestinationBody,
  rotateCredentials,
} from "./queries.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";

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
  useFocusBack();
  const form = useForm({
    initialValues: { display_name: "", bucket: "", prefix: "", region: "", endpoint: "", ...NO_CREDENTIALS },
  });
  const save = useMutation({
    mutationFn(values: typeof form.values) {
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
      return createDestination(body);
    },
    onSuccess: onSaved,
  });
  return (
    <Modal opened onClose={onClose} title="New destination" closeButtonProps={{ title: "Close" }}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
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
          <Failure error={save.error} title="Could not create the destination" />
          <Buttons onClose={onClose} isBusy={save.isPending} action="Test and create" />
        </Stack>
      </form>
    </Modal>
  );
}

export function CredentialsForm({ destination, onClose, onSaved }: FormProps & { destination: Destination }) {
  useFocusBack();
  const form = useForm({ initialValues: NO_CREDENTIALS });
  const save = useMutation({
    mutationFn: (values: typeof NO_CREDENTIALS) => rotateCredentials(destination.id, readCredentials(values)),
    onSuccess: onSaved,
  });
  const title = `Edit credentials of ${destination.display_name}`;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ title: "Close" }}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
          <Text size="sm">The new credentials are tested first. If the test fails, the current ones are kept.</Text>
          <CredentialFields form={form} isRequired />
          <Failure error={save.error} title="Could not update the credentials" />
          <Buttons onClose={onClose} isBusy={save.isPending} action="Test and save" />
        </Stack>
      </form>
    </Modal>
  );
}

interface Fields {
  getInputProps: (name: never) => object;
}

function CredentialFields({ form, isRequired }: { form: Fields; isRequired: boolean }) {
  const input = (name: keyof typeof NO_CREDENTIALS) => form.getInputProps(name as never);
  return (
    <>
      <TextInput
        label="Access key ID"
        {...(!isRequired && {
          description: "Leave empty to use the installation's own credentials, if allowed",
        })}
        required={isRequired}
        autoComplete="off"
        {...input("access_key_id")}
      />
      <PasswordInput
        label="Secret access key"
        required={isRequired}
        autoComplete="new-password"
        {...input("secret_access_key")}
      />
      <PasswordInput label="Session token" autoComplete="new-password" {...input("session_token")} />
    </>
  );
}

const Failure = ({ error, title }: { error: Error | null; title: string }): ReactNode =>
  error && (
    <Alert color="red" role="alert" title={title} style={{ overflowWrap: "anywhere" }}>
      {error.message}
    </Alert>
  );

const Buttons = ({ onClose, isBusy, action }: { onClose: () => void; isBusy: boolean; action: string }) => (
  <Group justify="flex-end" gap="xs">
    <Button variant="default" onClick={onClose}>
      Cancel
    </Button>
    <Button type="submit" loading={isBusy}>
      {action}
    </Button>
  </Group>
);
