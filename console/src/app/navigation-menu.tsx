import { Collapse, Loader, NavLink, Select, Stack, UnstyledButton } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { useEffect, useId } from "react";

import { count, counted } from "../ui/format.ts";
import { setWaitingCount } from "../ui/page-title.ts";
import { Problem } from "../ui/problem.tsx";
import classes from "./navigation-menu.module.css";
import { type NavGroup, navGroups, type NavItem, OVERVIEW, SERVER_ICON } from "./navigation.ts";
import { interruptedCountQuery, spacesQuery } from "./queries.ts";
import { useAgentServers } from "./use-agent-servers.ts";

/** All pages in groups, which can be closed; this browser remembers which are. */
export function NavigationMenu() {
  const { data: about, error, refetch } = useQuery(spacesQuery);
  const { servers, isPending } = useAgentServers();
  const current = useParams({ strict: false, select: ({ server }) => server });
  const [closed, setClosed] = useLocalStorage<string[]>({
    key: "heddle.navigation.closed",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  if (error && !about) return <Problem error={error} onRetry={refetch} />;
  if (!about || isPending) return <Loader size="sm" m="md" role="img" aria-label="Loading" />;
  // the server whose pages are open, or the first
  const server = current ?? servers[0]?.id;
  const toggle = (label: string) =>
    setClosed(closed.includes(label) ? closed.filter((other) => other !== label) : [...closed, label]);
  return (
    <Stack gap={2} component="nav" aria-label="Pages">
      {server !== undefined && (servers.length > 1 || !servers.some(({ id }) => id === server)) && (
        <ServerSelect servers={servers} server={server} />
      )}
      <PageLink page={OVERVIEW} server={server} />
      {navGroups(about, server !== undefined).map((group) => (
        <Group
          key={group.label}
          group={group}
          server={server}
          isOpen={!closed.includes(group.label)}
          onToggle={() => toggle(group.label)}
        />
      ))}
    </Stack>
  );
}

function ServerSelect({ servers, server }: { servers: { id: string; name: string }[]; server: string }) {
  const navigate = useNavigate();
  return (
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
  );
}

interface GroupProps {
  group: NavGroup;
  server: string | undefined;
  isOpen: boolean;
  onToggle: () => void;
}

function Group({ group, server, isOpen, onToggle }: GroupProps) {
  const id = useId();
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <>
      <UnstyledButton className={classes.heading} onClick={onToggle} aria-expanded={isOpen} aria-controls={id}>
        {group.label}
        <Chevron size={12} className={classes.chevron} aria-hidden />
      </UnstyledButton>
      <Collapse expanded={isOpen} id={id} transitionDuration={0}>
        {group.pages.map((page) => (
          <PageLink key={page.label} page={page} server={server} />
        ))}
      </Collapse>
    </>
  );
}

function PageLink({ page: { icon: Icon, label, to }, server }: { page: NavItem; server: string | undefined }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const needsServer = to!.includes("$server");
  const target = needsServer ? to!.replace("$server", encodeURIComponent(server!)) : to!;
  const isActive = path === target || (target !== "/" && path.startsWith(`${target}/`));
  const isInbox = to === "/a/$server/inbox";
  return (
    <NavLink
      component={Link}
      {...({ to, ...(needsServer && { params: { server } }) } as object)}
      label={label}
      active={isActive}
      aria-current={isActive ? "page" : undefined}
      leftSection={<Icon size={16} className={classes.icon} aria-hidden />}
      rightSection={isInbox && server !== undefined ? <WaitingCount server={server} /> : undefined}
      py={4}
      className={classes.page}
    />
  );
}

/** Number of threads that need review, here and in the tab's title. */
function WaitingCount({ server }: { server: string }) {
  const { data: waiting = 0 } = useQuery(interruptedCountQuery(server));
  useEffect(() => {
    setWaitingCount(waiting);
    return () => setWaitingCount(0);
  }, [waiting]);
  if (waiting === 0) return null;
  return (
    <span className={classes.waiting} title={`${counted(waiting, "thread")} to review`}>
      {count(waiting)}
    </span>
  );
}
