import { Text } from "@mantine/core";

import { AnchorLink } from "../../ui/links.tsx";
import { type PromptName, shortHash } from "./queries.ts";

/** Link to a prompt's page at a commit; a dash without one. */
export function CommitLink({ name, hash }: { name: PromptName; hash: string | null | undefined }) {
  if (!hash) {
    return (
      <Text span size="sm" c="dimmed">
        –
      </Text>
    );
  }
  return (
    <AnchorLink to="/prompts/$owner/$repo" params={name} search={{ commit: hash }} size="sm" ff="monospace">
      {shortHash(hash)}
    </AnchorLink>
  );
}
