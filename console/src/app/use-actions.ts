import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import type { TablerIcon } from "@tabler/icons-react";
import {
  IconArrowsDiff,
  IconBook,
  IconBuilding,
  IconLink,
  IconLogout,
  IconMessagePlus,
  IconMoon,
  IconPlus,
  IconSettings,
  IconSun,
} from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { readWorkspace, storeWorkspace } from "../api/credentials.ts";
import { SETTINGS_TABS, SETTINGS_TITLES } from "../features/settings/tabs.ts";
import { notifyDone } from "../ui/notify.ts";
import { endSession } from "./end-session.ts";
import { workspacesQuery, type Spaces } from "./queries.ts";

/** What the palette does or opens without a search. */
export interface Action {
  label: string;
  /** Other words by which it is found. */
  words?: string;
  kind: "Action" | "Settings";
  icon: TablerIcon;
  run: () => Promise<unknown>;
}

/** Pages that have a form for a new object. */
const FORMS: [label: string, to: string, needs: "agent" | "trace"][] = [
  ["New project", "/projects", "trace"],
  ["New dataset", "/datasets", "trace"],
  ["New prompt", "/prompts", "trace"],
  ["New annotation queue", "/annotation-queues", "trace"],
  ["New alert", "/alerts", "trace"],
  ["New rule", "/rules", "trace"],
  ["New budget", "/budgets", "trace"],
  ["New assistant", "/a/$server/assistants", "agent"],
  ["New cron", "/a/$server/crons", "agent"],
];

/** Returns the palette's actions, and the parts of the settings. */
export function useActions(about: Spaces | undefined, server: string | undefined): Action[] {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const hasTraces = about?.spaces.trace === true;
  const { data: workspaces = [] } = useQuery({ ...workspacesQuery, staleTime: 60_000, enabled: hasTraces });
  const current = readWorkspace() ?? workspaces[0]?.id;
  const isServed = (needs: "agent" | "trace") => (needs === "trace" ? hasTraces : server !== undefined);
  const go = (to: string, more: object = {}) =>
    navigate({ to, ...(to.includes("$server") && { params: { server } }), ...more } as never);
  const action = (label: string, icon: TablerIcon, run: Action["run"], words = ""): Action => ({
    kind: "Action",
    label,
    words,
    icon,
    run,
  });
  const nextScheme = scheme === "dark" ? "light" : "dark";
  return [
    ...(server === undefined
      ? []
      : [action("New thread", IconMessagePlus, () => go("/a/$server/playground"), "chat playground conversation")]),
    ...FORMS.filter(([, , needs]) => isServed(needs)).map(([label, to]) =>
      action(label, IconPlus, () => go(to, { state: { isNew: true } }), "create add"),
    ),
    ...(hasTraces
      ? [
          action("New evaluator", IconPlus, () => go("/evaluators/new"), "create add"),
          action("Compare two runs", IconArrowsDiff, () => go("/compare"), "difference"),
        ]
      : []),
    action(
      "Copy link to this page",
      IconLink,
      async () => {
        await navigator.clipboard.writeText(location.href);
        notifyDone("Link copied");
      },
      "share url address",
    ),
    action(
      nextScheme === "dark" ? "Dark mode" : "Light mode",
      nextScheme === "dark" ? IconMoon : IconSun,
      async () => setColorScheme(nextScheme),
      "theme colours colors",
    ),
    ...workspaces
      .filter(({ id }) => id !== current)
      .map(({ id, display_name: name }) =>
        action(`Switch to workspace ${name}`, IconBuilding, async () => {
          storeWorkspace(id);
          await client.resetQueries();
        }),
      ),
    action("Documentation", IconBook, async () => location.assign("/docs/"), "help manual"),
    ...(hasTraces
      ? [
          action(
            "Sign out",
            IconLogout,
            async () => {
              await endSession(client);
              await go("/sign-in");
            },
            "log out",
          ),
          ...SETTINGS_TABS.map((tab): Action => ({
            kind: "Settings",
            label: SETTINGS_TITLES[tab],
            words: "settings",
            icon: IconSettings,
            run: () => go("/settings", { search: { tab } }),
          })),
        ]
      : []),
  ];
}
