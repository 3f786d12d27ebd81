import { Group, Text } from "@mantine/core";

import { AnchorLink } from "../../ui/links.tsx";
import { readMetadata, type Run } from "../runs/run-record.ts";

/** Link to the commit of the prompt that a run used, which the SDKs record in its metadata. */
export function PromptOrigin({ run }: { run: Run }) {
  const { lc_hub_owner: owner, lc_hub_repo: repo, lc_hub_commit_hash: hash } = readMetadata(run);
  if (typeof repo !== "string" || repo === "" || typeof hash !== "string" || hash === "") return null;
  return (
    <Group gap="sm" mt={4}>
      <Text size="xs" c="dimmed">
        Prompt
      </Text>
      <AnchorLink
        to="/prompts/$owner/$repo"
        params={{ owner: typeof owner === "string" && owner !== "" ? owner : "-", repo }}
        search={{ commit: hash }}
        size="xs"
      >
        {repo}:{hash.slice(0, 8)}
      </AnchorLink>
    </Group>
  );
}
