import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { hubSettingsQuery } from "./queries.ts";

interface PublicSwitchProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** Switch for a prompt's visibility. A public prompt needs the workspace's handle, by which others name it. */
export function PublicSwitch({ checked, onChange }: PublicSwitchProps) {
  const { data: workspace } = useQuery(hubSettingsQuery);
  const needsHandle = workspace !== undefined && workspace.tenant_handle === null && !checked;
  return (
    <Switch
      label="Public within this installation"
      description={
        needsHandle ? (
          <>
            First give the workspace a handle under{" "}
            <AnchorLink to="/settings" search={{ tab: "prompts" }} size="xs">
              Settings
            </AnchorLink>
            .
          </>
        ) : (
          "All workspaces can view, pull and fork it."
        )
      }
      disabled={needsHandle}
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
