import {
  ActionIcon,
  Anchor,
  Button,
  Checkbox,
  Chip,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconDots, IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { ROLES } from "../../app/theme.ts";
import { ColumnPicker } from "../../ui/column-picker.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { FormModal } from "../../ui/form-modal.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SchemaForm } from "../../ui/schema-form/schema-form.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { SearchField } from "../../ui/search-field.tsx";
import { RoleBadge, StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { TimeRangePicker } from "../../ui/time-range-picker.tsx";
import { Part, Sample } from "./sample.tsx";

const STATUSES = ["success", "error", "running", "pending", "interrupted", "cancelled", "BUILD_FAILED", "superseded"];
const SCHEMA: JsonSchema = {
  type: "object",
  required: ["city"],
  properties: {
    city: { type: "string", description: "Where the weather is asked for." },
    days: { type: "integer" },
    unit: { type: "string", enum: ["celsius", "fahrenheit"] },
  },
};
const nothing = () => {};

export function Controls() {
  const [range, setRange] = useState<TimeRange>({ last: "24h" });
  const [value, setValue] = useState<Record<string, unknown>>({ city: "Rome" });
  const [hidden, setHidden] = useState<string[]>(["cost"]);
  const [json, setJson] = useState('{"city": "Rome"}');
  return (
    <>
      <Part title="Badges, links and buttons">
        <Sample name="Status">
          <Group gap={6}>
            {STATUSES.map((status) => (
              <StatusBadge key={status} status={status} />
            ))}
          </Group>
        </Sample>
        <Sample name="Role">
          <Group gap={6}>
            {ROLES.map((role) => (
              <RoleBadge key={role} role={role}>
                {role}
              </RoleBadge>
            ))}
          </Group>
        </Sample>
        <Sample name="Buttons: one filled a page, the others default, red only to delete">
          <Group gap="xs">
            <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />}>
              New thread
            </Button>
            <Button size="xs" variant="default">
              Edit
            </Button>
            <Button size="xs" color="danger">
              Delete
            </Button>
            <Button size="xs" variant="subtle" color="neutral">
              Dismiss
            </Button>
            <Button size="xs" loading>
              Save
            </Button>
            <PermittedButton size="xs" denial="Your role does not permit this.">
              Deploy
            </PermittedButton>
            <ActionIcon variant="default" size={30} aria-label="More">
              <IconDots size={16} />
            </ActionIcon>
            <CopyButton value="copied" label="Copy" />
          </Group>
        </Sample>
        <Sample name="Links and tabs">
          <Text size="sm" mb="xs">
            A link in a sentence is{" "}
            <Anchor href="#links" underline="always">
              underlined
            </Anchor>
            .
          </Text>
          <Anchor href="#links" size="sm">
            A link alone need not be
          </Anchor>
          <Tabs value="runs">
            <TabList>
              {["Runs", "State", "History", "Feedback"].map((name) => (
                <Tabs.Tab key={name} value={name.toLowerCase()}>
                  {name}
                </Tabs.Tab>
              ))}
            </TabList>
            <Tabs.Panel value="runs">{null}</Tabs.Panel>
          </Tabs>
        </Sample>
      </Part>
      <Part title="Forms">
        <Sample name="Fields">
          <Stack gap="xs">
            <TextInput label="Name" required placeholder="support" description="Shown in lists." />
            <TextInput label="Name with an error" defaultValue="support/eu" error="Use letters, digits and hyphens." />
            <Select label="Model" data={["small", "large"]} defaultValue="small" allowDeselect={false} />
            <Textarea label="Description" minRows={2} autosize defaultValue="Answers questions on orders." />
            <Group gap="md">
              <Checkbox size="xs" label="Checked" defaultChecked />
              <Switch size="xs" label="Live" defaultChecked />
              <Switch size="xs" label="Disabled" disabled />
            </Group>
          </Stack>
        </Sample>
        <Sample name="Fields of a schema">
          <SchemaForm schema={SCHEMA} value={value} onChange={setValue} />
        </Sample>
        <Sample name="JSON">
          <JsonField label="Input" value={json} onChange={setJson} />
        </Sample>
        <Sample name="Filters">
          <Group gap="xs">
            <SearchField label="Search" placeholder="Search" initial="" onSearch={nothing} width={160} />
            <TimeRangePicker value={range} onChange={setRange} />
            <ColumnPicker
              columns={["name", "latency", "cost"].map((id) => ({ id, label: id }))}
              hidden={hidden}
              onChange={setHidden}
            />
            <SegmentedControl size="xs" aria-label="View" data={["List", "Tree"]} />
            <Chip.Group defaultValue="all">
              <Group gap={6} role="group" aria-label="Status">
                {["all", "error"].map((name) => (
                  <Chip key={name} value={name} size="xs" variant="outline">
                    {name}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          </Group>
        </Sample>
        <Sample name="Dialogs: their buttons have the verb of their title">
          <Dialogs />
        </Sample>
      </Part>
    </>
  );
}

function Dialogs() {
  const [isOpen, setOpen] = useState(false);
  const { confirm, dialog } = useConfirm();
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Create project
      </Button>
      <Button
        size="xs"
        variant="default"
        onClick={() =>
          confirm({
            title: "Delete support?",
            body: "This permanently deletes its traces and their feedback.",
            action: "Delete",
            typed: "support",
            run: () => Promise.reject(new Error("A sample: nothing is deleted.")),
          })
        }
      >
        Delete project
      </Button>
      {isOpen && <FormSample onClose={() => setOpen(false)} />}
      {dialog}
    </Group>
  );
}

function FormSample({ onClose }: { onClose: () => void }) {
  const form = useForm({ initialValues: { name: "" } });
  return (
    <FormModal
      title="Create project"
      action="Create"
      form={form}
      failure="Could not create the project"
      onSubmit={() => Promise.reject(new Error("A sample: nothing is created."))}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
    </FormModal>
  );
}
