import { Button, Select, Text } from "@mantine/core";
import { IconBulb } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { Empty } from "../../ui/empty.tsx";
import { fullTime } from "../../ui/format.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { projectQuery } from "../projects/queries.ts";
import type { InsightsSearch } from "./insights-search.ts";
import { JobReport } from "./job-report.tsx";
import { estimateQuery, type Job, jobsQuery } from "./queries.ts";

const StartForm = lazy(async () => ({ default: (await import("./start-form.tsx")).StartForm }));
const route = getRouteApi("/_shell/projects/$projectId/insights");

/** Recurring kinds of questions and failures of a project. */
export function InsightsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data: project } = useQuery(projectQuery(projectId));
  const jobs = useQuery(jobsQuery(projectId));
  // whether jobs can be started at all: without a model connection they cannot
  const estimate = useQuery(estimateQuery(projectId, {}));
  const [isStarting, setStarting] = useState(false);
  const missing = estimate.error instanceof ApiError && estimate.error.status === 424 ? estimate.error.message : null;
  const job = jobs.data?.find(({ id }) => id === search.job) ?? jobs.data?.[0];
  const change = (changes: InsightsSearch) => void navigate({ search: { ...search, ...changes } });
  const started = async (id: string) => {
    await client.invalidateQueries({ queryKey: ["insights", projectId], exact: true });
    change({ job: id, cluster: undefined });
  };
  return (
    <Page
      title={project ? `${project.name} insights` : "Insights"}
      actions={
        <>
          {jobs.data && jobs.data.length > 1 && (
            <Select
              aria-label="Insights job"
              size="xs"
              w={260}
              allowDeselect={false}
              data={jobs.data.map((each) => ({ value: each.id, label: jobLabel(each) }))}
              value={job?.id ?? null}
              onChange={(id) => change({ job: id ?? undefined, cluster: undefined })}
            />
          )}
          <PermittedButton
            size="xs"
            denial={missing}
            leftSection={<IconBulb size={14} aria-hidden />}
            onClick={() => setStarting(true)}
          >
            Find insights
          </PermittedButton>
          <ButtonLink to="/projects/$projectId" params={{ projectId }} variant="default" size="xs">
            Runs
          </ButtonLink>
        </>
      }
    >
      {!jobs.data ? (
        <LoadState query={jobs} rows={10} />
      ) : jobs.data.length === 0 && estimate.isPending ? (
        <Loading rows={10} />
      ) : job ? (
        <JobReport
          key={job.id}
          projectId={projectId}
          jobId={job.id}
          clusterId={search.cluster}
          onCluster={(cluster) => change({ job: job.id, cluster })}
        />
      ) : missing === null ? (
        <Nothing onStart={() => setStarting(true)} />
      ) : (
        <NoConnection />
      )}
      {isStarting && (
        <Suspense>
          <StartForm projectId={projectId} onStarted={started} onClose={() => setStarting(false)} />
        </Suspense>
      )}
    </Page>
  );
}

const jobLabel = ({ name, created_at: at }: Job): string => `${name} · ${fullTime(at)}`;

function Nothing({ onStart }: { onStart: () => void }) {
  return (
    <Empty title="What do people ask, and what fails?">
      <Text size="sm" maw={560}>
        Heddle samples this project&apos;s runs, embeds them, and groups those that are alike. A model names the groups.
        Each has its share of all runs, its error rate, its cost and examples to open.
      </Text>
      <Button size="sm" mt="xs" leftSection={<IconBulb size={16} aria-hidden />} onClick={onStart}>
        Find insights
      </Button>
    </Empty>
  );
}

function NoConnection() {
  return (
    <Empty title="Insights need a model connection">
      <Text size="sm" maw={560}>
        Runs are grouped by embeddings, and a model names the groups. Connect a provider with embeddings, such as
        OpenAI, Gemini, Mistral, Bedrock or an Ollama server of your own.
      </Text>
      <ButtonLink to="/settings" search={{ tab: "models" } as never} size="sm" mt="xs">
        Connect a model
      </ButtonLink>
    </Empty>
  );
}
