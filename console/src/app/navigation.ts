import {
  IconActivity,
  IconAdjustmentsBolt,
  IconBell,
  IconBellRinging,
  IconCoin,
  IconBox,
  IconChartLine,
  IconClock,
  IconCloudUpload,
  IconDatabase,
  IconDatabaseExport,
  IconFlask,
  IconGavel,
  IconHierarchy,
  IconHome,
  IconListCheck,
  IconMessages,
  IconPlayerPlay,
  IconQuote,
  IconSettings,
  IconTestPipe,
  IconTimeline,
  IconUsers,
  IconWebhook,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import type { ComponentType } from "react";

import type { Spaces } from "./queries.ts";

export interface NavItem {
  to: LinkProps["to"];
  label: string;
  icon: ComponentType<{ size?: number | string; className?: string | undefined; "aria-hidden"?: boolean }>;
}

export const OVERVIEW: NavItem = { to: "/", label: "Overview", icon: IconHome };

interface Page extends NavItem {
  /** The space that serves the page; a page without it is hidden. */
  needs: "agent" | keyof Spaces["spaces"];
}

/** Pages by what people do. Those that need an agent server are below `/a/$server`. */
const GROUPS: { label: string; pages: Page[] }[] = [
  {
    label: "Build",
    pages: [
      { to: "/a/$server/playground", label: "Playground", icon: IconPlayerPlay, needs: "agent" },
      { to: "/a/$server/assistants", label: "Assistants", icon: IconUsers, needs: "agent" },
      { to: "/prompts", label: "Prompts", icon: IconQuote, needs: "trace" },
      { to: "/playground", label: "Prompt playground", icon: IconFlask, needs: "trace" },
      { to: "/a/$server/store", label: "Store", icon: IconDatabase, needs: "agent" },
    ],
  },
  {
    label: "Observe",
    pages: [
      { to: "/a/$server/threads", label: "Threads", icon: IconMessages, needs: "agent" },
      { to: "/a/$server/inbox", label: "Inbox", icon: IconBell, needs: "agent" },
      { to: "/projects", label: "Traces", icon: IconTimeline, needs: "trace" },
      { to: "/dashboards", label: "Dashboards", icon: IconChartLine, needs: "trace" },
      { to: "/alerts", label: "Alerts", icon: IconBellRinging, needs: "trace" },
      { to: "/budgets", label: "Budgets", icon: IconCoin, needs: "trace" },
    ],
  },
  {
    label: "Evaluate",
    pages: [
      { to: "/datasets", label: "Datasets", icon: IconHierarchy, needs: "trace" },
      { to: "/experiments", label: "Experiments", icon: IconTestPipe, needs: "trace" },
      { to: "/evaluators", label: "Evaluators", icon: IconGavel, needs: "trace" },
      { to: "/annotation-queues", label: "Annotation queues", icon: IconListCheck, needs: "trace" },
      { to: "/rules", label: "Rules", icon: IconAdjustmentsBolt, needs: "trace" },
    ],
  },
  {
    label: "Operate",
    pages: [
      { to: "/deployments", label: "Deployments", icon: IconCloudUpload, needs: "control" },
      { to: "/a/$server/queue", label: "Queue", icon: IconActivity, needs: "agent" },
      { to: "/a/$server/crons", label: "Crons", icon: IconClock, needs: "agent" },
      { to: "/a/$server/webhooks", label: "Webhooks", icon: IconWebhook, needs: "agent" },
      { to: "/exports", label: "Exports", icon: IconDatabaseExport, needs: "trace" },
      { to: "/settings", label: "Settings", icon: IconSettings, needs: "trace" },
    ],
  },
];

export interface NavGroup {
  label: string;
  pages: NavItem[];
}

/**
 * Groups of the pages that this platform has; an empty group is left out.
 * @param about what the platform serves; undefined while that is not known
 */
export function navGroups(about: Spaces | undefined, hasAgent: boolean): NavGroup[] {
  const isServed = ({ needs }: Page): boolean => (needs === "agent" ? hasAgent : about?.spaces[needs] === true);
  return GROUPS.map(({ label, pages }) => ({ label, pages: pages.filter(isServed) })).filter(
    ({ pages }) => pages.length > 0,
  );
}

export const SERVER_ICON = IconBox;
