import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ComponentType } from "react";

import { Page } from "../../ui/page.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { Account } from "./account.tsx";
import { Models } from "../models/models.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Keys } from "./keys.tsx";
import { Masking } from "./masking.tsx";
import { Members } from "./members.tsx";
import { PromptDefaults } from "./prompt-defaults.tsx";
import { PromptWebhooks } from "./prompt-webhooks.tsx";
import { RateLimits } from "./rate-limits.tsx";
import { Roles } from "./roles.tsx";
import { SETTINGS_TABS, SETTINGS_TITLES, type SettingsTab } from "./tabs.ts";
import { Workspaces } from "./workspaces.tsx";

const route = getRouteApi("/_shell/settings");

const CONTENTS: Record<SettingsTab, ComponentType> = {
  workspaces: Workspaces,
  members: Members,
  roles: Roles,
  keys: Keys,
  models: Models,
  prompts: PromptDefaults,
  webhooks: PromptWebhooks,
  masking: Masking,
  limits: RateLimits,
  audit: AuditLog,
  account: Account,
};

export function SettingsPage() {
  const { tab = "workspaces" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Settings">
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => void navigate({ search: { tab: next as SettingsTab } })}
      >
        <TabList mb="md">
          {SETTINGS_TABS.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {SETTINGS_TITLES[value]}
            </Tabs.Tab>
          ))}
        </TabList>
        {SETTINGS_TABS.map((value) => {
          const Content = CONTENTS[value];
          return (
            <Tabs.Panel key={value} value={value}>
              <Content />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Page>
  );
}
