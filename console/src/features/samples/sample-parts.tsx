import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { CodeSample, type Sample } from "../../ui/code-sample.tsx";
import { Text } from "@mantine/core";
import { assistantsQuery } from "../threads/queries.ts";
import * as samples from "./samples.ts";
import { useAccess } from "./use-access.ts";

interface SampleProps {
  label: string;
  access: samples.Access;
  code: Sample[];
}

function Part({ label, access, code }: SampleProps) {
  return (
    <>
      <CodeSample label={label} samples={code} />
      {access.key !== null && (
        <Text size="xs" c="dimmed">
          <AnchorLink to="/settings" search={{ tab: "keys" }} size="xs">
            Create a key
          </AnchorLink>{" "}
          and replace the placeholder with it.
        </Text>
      )}
    </>
  );
}

export function TracingSample({ project }: { project: string }) {
  const access = useAccess("trace");
  return <Part label="Send a trace" access={access} code={samples.tracingSamples(access, project)} />;
}

/** Returns the name of an assistant of the server; `agent` if none is known. */
function useAssistantName(server: string): string {
  const { data: assistants } = useQuery(assistantsQuery(server));
  return assistants?.[0]?.name ?? "agent";
}

export function RunSample({ server }: { server: string }) {
  const access = useAccess({ agent: server });
  return <Part label="Create a run" access={access} code={samples.runSamples(access, useAssistantName(server))} />;
}

export function WebhookSample({ server }: { server: string }) {
  const access = useAccess({ agent: server });
  const code = samples.webhookSamples(access, useAssistantName(server));
  return <Part label="Create a run with a webhook" access={access} code={code} />;
}

export function CronSample({ server }: { server: string }) {
  const access = useAccess({ agent: server });
  return <Part label="Create a cron" access={access} code={samples.cronSamples(access, useAssistantName(server))} />;
}

export function StoreSample({ server }: { server: string }) {
  const access = useAccess({ agent: server });
  return <Part label="Write an item" access={access} code={samples.storeSamples(access)} />;
}

export function DatasetSample() {
  const access = useAccess("trace");
  return <Part label="Create a dataset" access={access} code={samples.datasetSamples(access, "my-dataset")} />;
}

export function PromptSample({ name = "my-prompt" }: { name?: string }) {
  const access = useAccess("trace");
  return <Part label="Push a prompt" access={access} code={samples.promptSamples(access, name)} />;
}

export function PullSample({ name, version }: { name: string; version: string }) {
  const access = useAccess("trace");
  return <Part label="Pull the prompt" access={access} code={samples.pullSamples(access, name, version)} />;
}

export function ExperimentSample({ dataset }: { dataset: string }) {
  const access = useAccess("trace");
  return <Part label="Run an experiment" access={access} code={samples.experimentSamples(access, dataset)} />;
}

export function DeploySample() {
  const access = useAccess("control");
  return <Part label="Deploy a project" access={access} code={samples.deploySamples(access)} />;
}
