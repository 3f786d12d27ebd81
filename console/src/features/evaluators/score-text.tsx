import { Badge, Group, Text } from "@mantine/core";

interface Score {
  key: string;
  score: number | boolean | null;
  value: unknown;
  comment: string | null;
}

export const scoreText = ({ score, value }: { score: number | boolean | null; value: unknown }): string =>
  typeof value === "string" ? value : score === null ? JSON.stringify(value ?? null) : String(score);

/** Scores with their keys, and the reasoning below. */
export function ScoreText({ feedback }: { feedback: readonly Score[] }) {
  const comments = [...new Set(feedback.flatMap(({ comment }) => comment ?? []))];
  return (
    <>
      <Group gap={6}>
        {feedback.map((each) => (
          <Badge key={each.key} variant="light" tt="none">
            {each.key}: {scoreText(each)}
          </Badge>
        ))}
      </Group>
      {comments.map((comment) => (
        <Text key={comment} size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {comment}
        </Text>
      ))}
    </>
  );
}
