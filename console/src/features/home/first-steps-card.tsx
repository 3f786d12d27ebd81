import { CloseButton, Group, Paper, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconCircle, IconCircleCheckFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";

import { AnchorLink } from "../../ui/links.tsx";
import { DISMISSED_KEY, DONE_KEY, happenedQuery, type Happened, type Step, STEPS } from "./first-steps.ts";
import classes from "./first-steps-card.module.css";
import { recentProjectsQuery } from "./queries.ts";

const NOTHING: Happened = { steps: [], failure: null, newest: null };
const remembered = { getInitialValueInEffect: false } as const;

/** Leads through the first minutes; a step is checked once it happened. Has its size at once, so that nothing below moves. */
export function FirstStepsCard({ server }: { server: string }) {
  const [isDismissed, setDismissed] = useLocalStorage({ key: DISMISSED_KEY, defaultValue: false, ...remembered });
  const [done, setDone] = useLocalStorage<Step[]>({ key: DONE_KEY, defaultValue: [], ...remembered });
  const { data: projects } = useQuery({ ...recentProjectsQuery, enabled: !isDismissed });
  const ids = projects?.map(({ id }) => id) ?? [];
  const { data: happened } = useQuery({
    ...happenedQuery(server, ids),
    enabled: !isDismissed && projects !== undefined,
  });
  useEffect(() => {
    if (happened?.steps.some((step) => !done.includes(step))) setDone([...new Set([...done, ...happened.steps])]);
  }, [happened]);
  if (isDismissed) return null;
  const isDone = (step: Step) => done.includes(step) || happened?.steps.includes(step) === true;
  const next = STEPS.find((step) => !isDone(step));
  return (
    <Paper withBorder p="md" component="section" aria-label="First steps">
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Title order={2} size="h5">
          {next === undefined ? "First steps: all done" : "First steps"}
        </Title>
        <CloseButton size="sm" aria-label="Dismiss first steps" onClick={() => setDismissed(true)} />
      </Group>
      <ol className={classes.steps}>
        {STEPS.map((step) => (
          <li key={step} className={classes.step} data-next={step === next || undefined}>
            {isDone(step) ? (
              <IconCircleCheckFilled size={18} className={classes.done} aria-label="Done" />
            ) : (
              <IconCircle size={18} className={classes.open} aria-label="Not done" />
            )}
            <div>
              <Text size="sm" fw={step === next ? 600 : 400} c={isDone(step) ? "dimmed" : undefined}>
                {LABELS[step]}
              </Text>
              {step === next && (
                <Text size="xs" c="dimmed" component="div" className={classes.hint}>
                  {explain(step, server, happened ?? NOTHING)}
                </Text>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Paper>
  );
}

const LABELS: Record<Step, string> = {
  talk: "Talk to the agent",
  trace: "See its trace",
  break: "Break the agent",
  fix: "Fix the agent",
  dataset: "Put it in a dataset",
};

function explain(step: Step, server: string, { failure, newest }: Happened): ReactNode {
  const playground = (
    <AnchorLink to="/a/$server/playground" params={{ server }} size="xs" underline="always">
      playground
    </AnchorLink>
  );
  const traceLink = (place: Happened["newest"], label: string) =>
    place && (
      <AnchorLink to="/projects/$projectId/r/$runId" params={place} size="xs" underline="always">
        {label}
      </AnchorLink>
    );
  switch (step) {
    case "talk":
      return <>Send a message in the {playground}.</>;
    case "trace":
      return <>Every run is traced: {traceLink(newest, "open the newest trace") ?? "the first trace arrives soon"}.</>;
    case "break":
      return <>Throw an error in a node of the graph, save, and run it again in the {playground}.</>;
    case "fix":
      return (
        <>
          {traceLink(failure, "The failed trace")} names the line. Repair it, save, and run it again in the {playground}
          .
        </>
      );
    case "dataset":
      return (
        <>Open {traceLink(newest, "a trace") ?? "a trace"} and add its run to a dataset, to test the next version.</>
      );
  }
}
