import { Modal, Text, TextInput } from "@mantine/core";
import { IconMessages, IconTimeline } from "@tabler/icons-react";
import { useDebouncedValue, useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useRef, useState } from "react";

import { data, traceApi } from "../api/clients.ts";
import { notifyFailure } from "../ui/notify.ts";
import { useFocusBack } from "../ui/use-focus-back.ts";
import { type FoundObject, OBJECT_ICONS, objectsQuery } from "./find-objects.ts";
import classes from "./go-to.module.css";
import { bestMatches } from "./match-label.ts";
import { navGroups, OVERVIEW, type NavItem } from "./navigation.ts";
import { spacesQuery } from "./queries.ts";
import { keyOf, RECENT_KEY, withRecent } from "./recent-objects.ts";
import { useActions } from "./use-actions.ts";
import { useAgentServers } from "./use-agent-servers.ts";

interface Choice extends Pick<NavItem, "icon" | "label"> {
  key: string;
  words?: string;
  /** Kind of object, shown beside its name. */
  kind?: string;
  within?: string | undefined;
  go: () => Promise<void>;
}

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Load it lazily. The field keeps the focus; the arrows move through the matches, Enter goes there. */
export function GoTo({ onClose }: { onClose: () => void }) {
  useFocusBack();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const { choices, isSearching } = useChoices(text.trim());
  const selected = Math.min(at, choices.length - 1);
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    void choice.go().catch(notifyFailure("Could not open the page"));
  };
  const move = (to: number) => {
    const next = (to + choices.length) % Math.max(1, choices.length);
    setAt(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") move(selected + 1);
    else if (event.key === "ArrowUp") move(selected - 1);
    else if (event.key === "Enter") choose(choices[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Go to"
      closeButtonProps={{ "aria-label": "Close" }}
      transitionProps={{ duration: 0 }}
    >
      <TextInput
        data-autofocus
        placeholder="Page, action, name, content of a run, or 4 characters of an ID"
        aria-label="Page, object or ID"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choices[selected] ? `${id}-${selected}` : undefined}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={id} role="listbox" aria-label="Results" style={{ marginTop: 8 }}>
        {choices.map((choice, index) => (
          <div
            key={choice.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            className={classes.choice}
            onClick={() => choose(choice)}
            onKeyDown={onKeyDown}
            onMouseMove={() => setAt(index)}
          >
            <choice.icon size={16} aria-hidden />
            <span dir="auto">{choice.label}</span>
            {choice.kind !== undefined && (
              <Text span size="xs" c="dimmed" ms="auto" style={{ flexShrink: 0 }}>
                {choice.within === undefined ? choice.kind : `${choice.kind} in ${choice.within}`}
              </Text>
            )}
          </div>
        ))}
      </div>
      {choices.length === 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {isSearching ? "Searching…" : "No match among pages, settings, actions, names, contents of runs and IDs."}
        </Text>
      )}
    </Modal>
  );
}

function useChoices(text: string): { choices: Choice[]; isSearching: boolean } {
  const navigate = useNavigate();
  const { servers } = useAgentServers();
  const { server: current } = useParams({ strict: false });
  const { data: about } = useQuery(spacesQuery);
  const server = current ?? servers[0]?.id;
  const [recent, setRecent] = useLocalStorage<FoundObject[]>({
    key: RECENT_KEY,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [settled] = useDebouncedValue(text, 150);
  const { data: found, isFetching } = useQuery({
    ...objectsQuery(settled, about?.spaces, server),
    enabled: settled !== "",
  });
  const open = (object: FoundObject): Choice => ({
    key: keyOf(object),
    label: object.name,
    kind: object.kind,
    within: object.within,
    icon: OBJECT_ICONS[object.kind],
    go: () => {
      // a value, not an update: the palette is closed already, and updates of closed components are not computed
      setRecent(withRecent(recent, object));
      return navigate({ to: object.to, params: object.params, search: object.search ?? {} } as never);
    },
  });
  const places = [OVERVIEW, ...navGroups(about, server !== undefined).flatMap(({ pages }) => pages)];
  const pages = places.map(({ to, label, icon }): Choice => ({
    key: to!,
    label,
    icon,
    go: () => navigate({ to, ...(to!.includes("$server") && { params: { server } }) } as never),
  }));
  const actions = useActions(about, server).map(({ label, words = "", kind, icon, run }): Choice => ({
    key: `${kind} ${label}`,
    label,
    words,
    kind,
    icon,
    go: async () => void (await run()),
  }));
  if (text === "") return { choices: [...recent.map(open), ...pages, ...actions], isSearching: false };
  const isSearching = settled !== text || isFetching;
  if (!isId(text))
    return { choices: [...bestMatches([...pages, ...actions], text), ...(found ?? []).map(open)], isSearching };
  // whole ids are opened without a search
  const thread: Choice = {
    key: "thread",
    label: `Thread ${text}`,
    icon: IconMessages,
    go: () => navigate({ to: "/a/$server/threads/$threadId", params: { server: server!, threadId: text } }),
  };
  const trace: Choice = {
    key: "trace",
    label: `Trace of run ${text}`,
    icon: IconTimeline,
    async go() {
      const params = { path: { run_id: text } };
      const { session_id: projectId } = await data(traceApi.GET("/api/v1/runs/{run_id}", { params }));
      await navigate({ to: "/projects/$projectId/r/$runId", params: { projectId: String(projectId), runId: text } });
    },
  };
  const others = (found ?? []).filter(({ params }) => params["runId"] !== text);
  return {
    choices: [...(server === undefined ? [] : [thread]), ...(about?.spaces.trace ? [trace] : []), ...others.map(open)],
    isSearching,
  };
}
