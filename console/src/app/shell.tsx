import { ActionIcon, AppShell, Burger, Group, ScrollArea, Text } from "@mantine/core";
import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconMoon, IconSun } from "@tabler/icons-react";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";

import { BASE_PATH } from "../api/base-path.ts";
import { AccountMenu } from "./account-menu.tsx";
import { ConnectionNotice } from "./connection-notice.tsx";
import { GoToButton } from "./go-to-button.tsx";
import { NavigationMenu } from "./navigation-menu.tsx";

/** Frame of every page: current location and navigation. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(close, [path, close]);
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 208, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={0}
      transitionDuration={0}
    >
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="xs" wrap="nowrap">
          <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
          <Link to="/" style={{ textDecoration: "none", color: "inherit" }}>
            <Group gap={8} wrap="nowrap">
              <img src={`${BASE_PATH}/favicon.svg`} width={22} height={22} alt="" />
              <Text fw={700}>Heddle</Text>
            </Group>
          </Link>
          <Group ms="auto" gap="xs" wrap="nowrap">
            <GoToButton />
            <ColorSchemeButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <AppShell.Section grow component={ScrollArea} p="xs">
          <NavigationMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: "none" }}>
        <Outlet />
        <ConnectionNotice />
      </AppShell.Main>
    </AppShell>
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const next = scheme === "dark" ? "light" : "dark";
  return (
    <ActionIcon
      variant="subtle"
      color="neutral"
      onClick={() => setColorScheme(next)}
      aria-label={next === "dark" ? "Dark mode" : "Light mode"}
    >
      {scheme === "dark" ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
