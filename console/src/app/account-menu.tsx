import { ActionIcon, Menu, Text } from "@mantine/core";
import { IconUserCircle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { readKey, readWorkspace, storeWorkspace } from "../api/credentials.ts";
import { PREFIX } from "../api/prefix.ts";
import { identityQuery } from "../features/settings/queries.ts";
import { DENSITIES, type Density, setDensity, useDensity } from "../ui/density.ts";
import { endSession } from "./end-session.ts";
import { workspacesQuery, spacesQuery } from "./queries.ts";

/** Shows the current workspace and user. */
export function AccountMenu() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { data: about } = useQuery(spacesQuery);
  const { data: workspaces = [] } = useQuery({
    ...workspacesQuery,
    staleTime: 60_000,
    enabled: about?.spaces.trace === true,
  });
  const { data: identity } = useQuery({ ...identityQuery, enabled: about?.spaces.trace === true, staleTime: 60_000 });
  const hasKey = readKey() !== null;
  const isAnonymous = identity !== undefined && identity.user_id === "" && !hasKey;
  const current = readWorkspace() ?? workspaces[0]?.id;
  const signOut = async () => {
    await endSession(queryClient);
    await navigate({ to: "/sign-in" });
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="neutral" aria-label="Account and workspace">
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {workspaces.length > 0 && <Menu.Label>Workspace</Menu.Label>}
        {workspaces.map(({ id, display_name: name }) => (
          <Menu.Item
            key={id}
            rightSection={id === current ? <Text size="xs">current</Text> : undefined}
            onClick={() => {
              storeWorkspace(id);
              void queryClient.resetQueries();
            }}
          >
            {name}
          </Menu.Item>
        ))}
        {workspaces.length > 0 && <Menu.Divider />}
        {identity && (
          <Menu.Label style={{ overflowWrap: "anywhere" }}>
            {isAnonymous
              ? "Local access without sign-in"
              : identity.user_id === ""
                ? "Signed in with an API key"
                : identity.user_email}
          </Menu.Label>
        )}
        <Menu.Item onClick={() => void navigate({ to: "/sign-in" })}>
          {hasKey ? "Use a different key" : isAnonymous ? "Sign in or use a key" : "Switch account"}
        </Menu.Item>
        {!isAnonymous && <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>}
        <Menu.Divider />
        <Menu.Label>Density of tables</Menu.Label>
        <Menu.RadioGroup value={useDensity()} onChange={(choice) => setDensity(choice as Density)}>
          {DENSITIES.map((choice) => (
            <Menu.RadioItem key={choice} value={choice} closeMenuOnClick={false}>
              {choice === "compact" ? "Compact" : "Comfortable"}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item component="a" href={`${PREFIX}/docs/`}>
          Documentation
        </Menu.Item>
        <Menu.Label>Heddle {about?.version}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
