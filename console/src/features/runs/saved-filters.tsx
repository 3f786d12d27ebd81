import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconBookmark, IconTrash } from "@tabler/icons-react";
import { useState } from "react";

import type { RunSearch } from "./run-search.ts";
import classes from "./quick-filters.module.css";

/** Parameters that a saved filter restores. */
const SAVED_KEYS = ["tab", "filter", "trace_filter", "tree_filter", "text"] as const;
type FilterValues = Pick<RunSearch, (typeof SAVED_KEYS)[number]>;
interface SavedFilter extends FilterValues {
  name: string;
}

const pickFilterValues = (search: RunSearch): FilterValues =>
  Object.fromEntries(SAVED_KEYS.map((name) => [name, search[name]])) as unknown as FilterValues;

/** Named filters, stored in this browser for each project. */
export function SavedFilters({
  projectId,
  search,
  onUse,
}: {
  projectId: string;
  search: RunSearch;
  onUse: (values: FilterValues) => void;
}) {
  const [saved, setSaved] = useLocalStorage<SavedFilter[]>({ key: `heddle.filters.${projectId}`, defaultValue: [] });
  const [name, setName] = useState("");
  const [isOpen, setOpen] = useState(false);
  const isEmpty = SAVED_KEYS.every((key) => key === "tab" || search[key].trim() === "");
  const save = () => {
    setSaved([
      ...saved.filter((savedFilter) => savedFilter.name !== name.trim()),
      { name: name.trim(), ...pickFilterValues(search) },
    ]);
    setName("");
  };
  return (
    <Popover position="bottom-start" width={320} trapFocus opened={isOpen} onChange={setOpen}>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          title="Saved in this browser"
          leftSection={<IconBookmark size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Saved filters
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <Stack gap={4}>
          {saved.map((savedFilter) => (
            <Group key={savedFilter.name} gap={4} wrap="nowrap">
              <UnstyledButton
                className={classes.value}
                onClick={() => {
                  onUse(pickFilterValues(savedFilter as unknown as RunSearch));
                  setOpen(false);
                }}
              >
                <Text size="sm" truncate title={savedFilter.filter}>
                  {savedFilter.name}
                </Text>
              </UnstyledButton>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={`Delete filter ${savedFilter.name}`}
                onClick={() => setSaved(saved.filter((other) => other !== savedFilter))}
              >
                <IconTrash size={14} />
              </ActionIcon>
            </Group>
          ))}
          {saved.length === 0 && (
            <Text size="sm" c="dimmed">
              No saved filters yet.
            </Text>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault();
              save();
            }}
          >
            <Group gap={4} wrap="nowrap" mt={4}>
              <TextInput
                size="xs"
                style={{ flex: 1 }}
                aria-label="Filter name"
                placeholder={isEmpty ? "Apply a filter to save it" : "Save this filter as"}
                disabled={isEmpty}
                value={name}
                onChange={({ currentTarget: { value } }) => setName(value)}
              />
              <Button size="xs" type="submit" disabled={isEmpty || name.trim() === ""}>
                Save
              </Button>
            </Group>
          </form>
          <Text size="xs" c="dimmed" mt={4}>
            Saved in this browser, for this project. To share a filter, use “Copy link”.
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
