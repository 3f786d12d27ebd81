/**
 * The shared components in their states, without a server's data: docs/design.md says when each is used, and a test
 * photographs this page. No navigation leads here.
 */
import { Stack } from "@mantine/core";

import { Page } from "../../ui/page.tsx";
import { Charts } from "./charts.tsx";
import { Contents } from "./contents.tsx";
import { Controls } from "./controls.tsx";
import { States } from "./states.tsx";
import { Tables } from "./tables.tsx";
import { Tokens } from "./tokens.tsx";

export function ComponentsPage() {
  return (
    <Page title="Components" maw={1680}>
      <Stack gap="xl">
        <Tokens />
        <Controls />
        <States />
        <Tables />
        <Charts />
        <Contents />
      </Stack>
    </Page>
  );
}
