import { Anchor, Group, Text } from "@mantine/core";

import { CopyButton } from "../../ui/copy-button.tsx";
import type { Deployment } from "./queries.ts";

/** Address of the deployment's API, for the SDKs. */
export function DeploymentAddress({ deployment }: { deployment: Deployment }) {
  const url = deployment.source_config.custom_url;
  if (url === null) return <Text size="sm">–</Text>;
  return (
    <Group gap={2} wrap="nowrap">
      <Anchor href={`${url}/docs`} target="_blank" rel="noreferrer" size="sm" style={{ overflowWrap: "anywhere" }}>
        {url}
      </Anchor>
      <CopyButton value={url} label="Copy URL" />
    </Group>
  );
}
