import { ActionIcon, AppShell, Burger, Group, Loader, NavLink, ScrollArea, Select, Stack, Text } from "@mantine/core";
import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconMoon, IconSun } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";

import { Problem } from "../ui/problem.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { GoToButton } from "./go-to-button.tsx";
import { AGENT_PAGES, OVERVIEW, type NavItem, platformPages, SERVER_ICON } from "./navigation.ts";
import { spacesQuery } from "./queries.ts";
import { useAgentServers } from "./use-agent-servers.ts";

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
              <img src="/favicon.svg" width={22} height={22} alt="" />
              <Text fw={700}>Heddle</Text>
            </Group>
          </Link>
          <Group ml="auto" gap="xs" wrap="nowrap">
            <GoToButton />
            <ColorSchemeButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <AppShell.Section grow component={ScrollArea} p="xs">
          <Navigation />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: "none" }}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation() {
  const { data: about, error, refetch } = useQuery(spacesQuery);
  if (error) return <Problem error={error} onRetry={refetch} />;
  if (!about) return <Loader size="sm" m="md" aria-label="Loading" />;
  return (
    <Stack gap={2} component="nav" aria-label="Pages">
      <NavItemLink place={OVERVIEW} />
      <AgentPages />
      {platformPages(about.spaces).map((place) => (
        <NavItemLink key={place.label} place={place} />
      ))}
    </Stack>
  );
}

/** Navigation of the server whose pages are open, or of the first. */
function AgentPages() {
  const { servers, isPending } = useAgentServers();
  const { server: current } = useParams({ strict: false });
  const navigate = useNavigate();
  const server = current ?? servers[0]?.id;
  if (server === undefined) {
    return isPending ? <Loader size="sm" m="md" aria-label="Loading" /> : null;
  }
  return (
    <>
      {(servers.length > 1 || !servers.some(({ id }) => id === server)) && (
        <Select
          aria-label="Agent server"
          size="xs"
          mb={4}
          leftSection={<SERVER_ICON size={14} aria-hidden />}
          data={servers.map(({ id, name }) => ({ value: id, label: name }))}
          value={server}
          allowDeselect={false}
          searchable={servers.length > 8}
          onChange={(id) => id !== null && void navigate({ to: "/a/$server/playground", params: { server: id } })}
        />
      )}
      {AGENT_PAGES.map((place) => (
        <NavItemLink key={place.label} place={place} params={{ server }} />
      ))}
    </>
  );
}

function NavItemLink({ place, params }: { place: NavItem; params?: { server: string } }) {
  const { icon: Icon, label, to } = place;
  const path = useRouterState({ select: (state) => state.location.pathname });
  const target = params ? to!.replace("$server", encodeURIComponent(params.server)) : to!;
  const isActive = path === target || (target !== "/" && path.startsWith(`${target}/`));
  return (
    <NavLink
      component={Link}
      {...({ to, params } as object)}
      label={label}
      active={isActive}
      aria-current={isActive ? "page" : undefined}
      leftSection={<Icon size={16} aria-hidden />}
      py={6}
    />
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const next = scheme === "dark" ? "light" : "dark";
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      onClick={() => setColorScheme(next)}
      aria-label={next === "dark" ? "Dark mode" : "Light mode"}
    >
      {scheme === "dark" ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}
