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

import type { Spaces } from "./spaces.ts";

export interface Place {
  to: LinkProps["to"];
  label: string;
  icon: ComponentType<{ size?: number | string; "aria-hidden"?: boolean }>;
}

export const OVERVIEW: Place = { to: "/", label: "Overview", icon: IconHome };

/** Pages of one agent server, below `/a/$server`. */
export const AGENT_PLACES: Place[] = [
  { to: "/a/$server/playground", label: "Playground", icon: IconPlayerPlay },
  { to: "/a/$server/threads", label: "Threads", icon: IconMessages },
  { to: "/a/$server/inbox", label: "Inbox", icon: IconBell },
  { to: "/a/$server/queue", label: "Queue", icon: IconActivity },
  { to: "/a/$server/assistants", label: "Assistants", icon: IconUsers },
  { to: "/a/$server/crons", label: "Crons", icon: IconClock },
  { to: "/a/$server/store", label: "Store", icon: IconDatabase },
  { to: "/a/$server/webhooks", label: "Webhooks", icon: IconWebhook },
];

export function platformPlaces({ trace, control }: Spaces["spaces"]): Place[] {
  return [
    ...(trace
      ? ([
          { to: "/projects", label: "Traces", icon: IconTimeline },
          { to: "/datasets", label: "Datasets", icon: IconHierarchy },
          { to: "/exports", label: "Exports", icon: IconDatabaseExport },
        ] as Place[])
      : []),
    ...(control ? ([{ to: "/deployments", label: "Deployments", icon: IconCloudUpload }] as Place[]) : []),
    ...(trace ? ([{ to: "/settings", label: "Settings", icon: IconSettings }] as Place[]) : []),
  ];
}

export const SERVER_ICON = IconBox;
