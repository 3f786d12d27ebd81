import { Group, Text } from "@mantine/core";

import { AnchorLink } from "../../ui/links.tsx";
import { CorrectJudgement } from "./correct-judgement.tsx";
import type { Feedback } from "./queries.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Evaluator, version and cost of a judgement, with a link to the judge's trace; nothing for other feedback. */
export function JudgedBy({ entry, canCorrect }: { entry: Feedback; canCorrect: boolean }) {
  const { feedback_source: source } = entry;
  const metadata = source.metadata ?? {};
  const evaluatorId = source.type === "model" ? text(metadata["evaluator_id"]) : undefined;
  if (evaluatorId === undefined) return null;
  const [runId, projectId] = [text(metadata["judge_run_id"]), text(metadata["judge_project_id"])];
  const cost = text(metadata["cost_usd"]);
  return (
    <Group gap={8} mt={4}>
      <AnchorLink to="/evaluators/$evaluatorId" params={{ evaluatorId }} size="xs">
        {text(metadata["evaluator_name"]) ?? "Evaluator"}
      </AnchorLink>
      <Text size="xs" c="dimmed">
        version {String(metadata["version"] ?? "?")}
        {cost !== undefined && ` · $${cost}`}
      </Text>
      {runId !== undefined && projectId !== undefined && (
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId }} size="xs">
          Trace of the judge
        </AnchorLink>
      )}
      {canCorrect && <CorrectJudgement entry={entry} />}
    </Group>
  );
}
