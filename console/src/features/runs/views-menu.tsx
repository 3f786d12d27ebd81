import {
  ActionIcon,
  Badge,
  Button,
  Checkbox,
  Group,
  Popover,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { IconBookmark, IconHome, IconHomeFilled, IconTrash, IconUsers } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { useConfirm } from "../../ui/confirm.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { usePermission } from "../settings/use-permission.ts";
import { BrowserFilters } from "./browser-filters.tsx";
import classes from "./quick-filters.module.css";
import type { RunSearch } from "./run-search.ts";
import { useRunColumns } from "./use-run-columns.ts";
import { deleteView, saveView, updateView, viewsQuery } from "./view-queries.ts";
import { isChanged, isUntouched, searchOfView, type View, viewOfSearch } from "./view-record.ts";

interface ViewsMenuProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

/** Saved views of the project: opens, saves, changes and deletes them. The URL names the open one. */
export function ViewsMenu({ projectId, search, onChange }: ViewsMenuProps) {
  const client = useQueryClient();
  const { data: views } = useQuery(viewsQuery(projectId));
  const [isOpen, setOpen] = useState(false);
  const denial = usePermission("projects:update");
  const { confirm, dialog } = useConfirm();
  const { visible } = useRunColumns(search, onChange);
  const open = views?.find(({ id }) => id === search.view);
  const changed = open !== undefined && isChanged(open, search);
  const use = (view: View) => onChange({ ...searchOfView(view), view: view.id });
  useOpeningView(views, search, use);
  const refresh = () => client.invalidateQueries({ queryKey: viewsQuery(projectId).queryKey });
  const save = useMutation({
    mutationFn: (view: View) =>
      updateView(projectId, view.id, { ...viewOfSearch(search, visible), if_updated_at: view.updated_at }),
    onSuccess: async (view) => {
      await refresh();
      use(view);
    },
    onError(error) {
      notifyFailure("Could not save the view")(error);
      // shows what another person has saved
      void refresh();
    },
  });
  // a click in the dialog is outside of the menu and closes it, so the dialog is no part of the menu
  const remove = (view: View) => {
    setOpen(false);
    confirm({
      title: `Delete ${view.display_name}?`,
      body: view.is_shared ? "This deletes the view for the whole workspace." : "This deletes your view.",
      action: "Delete",
      run: async () => {
        await deleteView(projectId, view.id);
        if (view.id === search.view) onChange({ view: "", columns: "" });
        await refresh();
      },
    });
  };
  const maySave = open !== undefined && (!open.is_shared || denial === null);
  return (
    <Group gap={4}>
      <Popover position="bottom-start" width={340} trapFocus opened={isOpen} onChange={setOpen}>
        <Popover.Target>
          <Button
            variant="default"
            size="xs"
            maw={260}
            leftSection={<IconBookmark size={14} aria-hidden />}
            onClick={() => setOpen(!isOpen)}
          >
            {open ? `View: ${open.display_name}` : "Views"}
          </Button>
        </Popover.Target>
        <Popover.Dropdown p="xs">
          <ViewList
            projectId={projectId}
            views={views ?? []}
            openId={open?.id}
            denial={denial}
            onUse={(view) => {
              use(view);
              setOpen(false);
            }}
            onClose={() => onChange({ view: "", columns: "" })}
            onDelete={remove}
          />
          <SaveAsNew
            projectId={projectId}
            search={search}
            columns={visible}
            denial={denial}
            onSaved={async (view) => {
              await refresh();
              use(view);
              setOpen(false);
            }}
          />
          <BrowserFilters projectId={projectId} columns={visible} />
        </Popover.Dropdown>
      </Popover>
      {dialog}
      {open && changed && (
        <>
          <Badge variant="light" color="warning" size="sm" tt="none">
            Changed
          </Badge>
          {maySave && (
            <Button size="compact-xs" variant="default" loading={save.isPending} onClick={() => save.mutate(open)}>
              Save
            </Button>
          )}
          <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => setOpen(true)}>
            Save as new
          </Button>
          <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => use(open)}>
            Reset
          </Button>
        </>
      )}
    </Group>
  );
}

/** Opens a link that only names a view, and a project without search parameters by the reader's default view. */
function useOpeningView(views: View[] | undefined, search: RunSearch, use: (view: View) => void): void {
  const [isDecided, setDecided] = useState(!isUntouched(search));
  useEffect(() => {
    if (isDecided || !views) return;
    setDecided(true);
    if (!isUntouched(search)) return;
    const view = views.find(({ id, is_default: isDefault }) => (search.view === "" ? isDefault : id === search.view));
    if (view) use(view);
  }, [views, isDecided]);
}

interface ViewListProps {
  projectId: string;
  views: View[];
  openId: string | undefined;
  /** Why the reader may not change shared views. */
  denial: string | null;
  onUse: (view: View) => void;
  onClose: () => void;
  onDelete: (view: View) => void;
}

function ViewList({ projectId, views, openId, denial, onUse, onClose, onDelete }: ViewListProps) {
  const client = useQueryClient();
  const setDefault = useMutation({
    mutationFn: (view: View) => updateView(projectId, view.id, { is_default: !view.is_default }),
    onSuccess: () => client.invalidateQueries({ queryKey: viewsQuery(projectId).queryKey }),
    onError: notifyFailure("Could not change the default view"),
  });
  return (
    <Stack gap={2} mah="45vh" style={{ overflowY: "auto" }}>
      {views.length === 0 && (
        <Text size="sm" c="dimmed">
          No saved views yet. A view keeps filters, columns, sort order and time range.
        </Text>
      )}
      {views.map((view) => (
        <Group key={view.id} gap={4} wrap="nowrap">
          <UnstyledButton
            className={classes.value}
            aria-current={view.id === openId}
            onClick={() => onUse(view)}
            title={view.description ?? view.filter_string ?? undefined}
          >
            <Text size="sm" truncate fw={view.id === openId ? 600 : undefined} dir="auto">
              {view.display_name}
            </Text>
            {view.is_shared && (
              <Text
                span
                size="xs"
                c="dimmed"
                style={{ flexShrink: 0 }}
                title={view.owner_name === null ? undefined : `Shared by ${view.owner_name}`}
              >
                <IconUsers size={12} aria-hidden /> shared
              </Text>
            )}
            {view.session_id === null && (
              <Text span size="xs" c="dimmed" style={{ flexShrink: 0 }}>
                all projects
              </Text>
            )}
          </UnstyledButton>
          <ActionIcon
            variant="subtle"
            color={view.is_default ? undefined : "neutral"}
            size="sm"
            aria-pressed={view.is_default}
            aria-label={`Open by default: ${view.display_name}`}
            title="Open the project with this view"
            onClick={() => setDefault.mutate(view)}
          >
            {view.is_default ? <IconHomeFilled size={14} /> : <IconHome size={14} />}
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="neutral"
            size="sm"
            disabled={view.is_shared && denial !== null}
            aria-label={`Delete view ${view.display_name}`}
            onClick={() => onDelete(view)}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      {openId !== undefined && (
        <Button size="compact-xs" variant="subtle" color="neutral" onClick={onClose}>
          Close this view
        </Button>
      )}
    </Stack>
  );
}

interface SaveAsNewProps {
  projectId: string;
  search: RunSearch;
  columns: readonly string[];
  denial: string | null;
  onSaved: (view: View) => Promise<void>;
}

function SaveAsNew({ projectId, search, columns, denial, onSaved }: SaveAsNewProps) {
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const [isEverywhere, setEverywhere] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      saveView(projectId, {
        ...viewOfSearch(search, columns),
        display_name: name.trim(),
        is_shared: isShared,
        all_projects: isEverywhere,
      }),
    onSuccess: async (view) => {
      setName("");
      await onSaved(view);
    },
    onError: notifyFailure("Could not save the view"),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Group gap={4} wrap="nowrap" mt="xs">
        <TextInput
          size="xs"
          style={{ flex: 1 }}
          aria-label="View name"
          placeholder="Save this list as"
          maxLength={512}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <Button size="xs" type="submit" loading={save.isPending} disabled={name.trim() === ""}>
          Save as new
        </Button>
      </Group>
      <Checkbox
        size="xs"
        my={6}
        label="Share with the workspace"
        title={denial ?? undefined}
        disabled={denial !== null}
        checked={isShared}
        onChange={({ currentTarget: { checked } }) => setShared(checked)}
      />
      <Checkbox
        size="xs"
        my={6}
        label="In all projects"
        checked={isEverywhere}
        onChange={({ currentTarget: { checked } }) => setEverywhere(checked)}
      />
    </form>
  );
}
