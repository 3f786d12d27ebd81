import {
  IconActivity,
  IconBell,
  IconBox,
  IconClock,
  IconCloudUpload,
  IconDatabase,
  IconDatabaseExport,
  IconHierarchy,
  IconHome,
  IconMessages,
  IconPlayerPlay,
  IconSettings,
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
  icon: ComponentType<{ size?: number | string; "aria-hidden"?: boolean }>;
}

export const OVERVIEW: NavItem = { to: "/", label: "Overview", icon: IconHome };

/** Pages of one agent server, below `/a/$server`. */
export const AGENT_PAGES: NavItem[] = [
  { to: "/a/$server/playground", label: "Playground", icon: IconPlayerPlay },
  { to: "/a/$server/threads", label: "Threads", icon: IconMessages },
  { to: "/a/$server/inbox", label: "Inbox", icon: IconBell },
  { to: "/a/$server/queue", label: "Queue", icon: IconActivity },
  { to: "/a/$server/assistants", label: "Assistants", icon: IconUsers },
  { to: "/a/$server/crons", label: "Crons", icon: IconClock },
  { to: "/a/$server/store", label: "Store", icon: IconDatabase },
  { to: "/a/$server/webhooks", label: "Webhooks", icon: IconWebhook },
];

export function platformPages({ trace, control }: Spaces["spaces"]): NavItem[] {
  return [
    ...(trace
      ? ([
          { to: "/projects", label: "Traces", icon: IconTimeline },
          { to: "/datasets", label: "Datasets", icon: IconHierarchy },
          { to: "/exports", label: "Exports", icon: IconDatabaseExport },
        ] as NavItem[])
      : []),
    ...(control ? ([{ to: "/deployments", label: "Deployments", icon: IconCloudUpload }] as NavItem[]) : []),
    ...(trace ? ([{ to: "/settings", label: "Settings", icon: IconSettings }] as NavItem[]) : []),
  ];
}

export const SERVER_ICON = IconBox;
