import { Button, Group, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";

import { Content } from "../../ui/messages/content.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { ToolCallView } from "../../ui/messages/tool-call-view.tsx";
import { isBrokenJson } from "../../ui/schema-form/schema.ts";
import { type Action, type Choice, type Decision, type Review, writeAnswer } from "./review.ts";

const LABELS: Record<Choice, string> = { approve: "Approve", edit: "Edit", reject: "Reject", respond: "Respond" };

interface Draft {
  choice: Choice;
  args: string;
  message: string;
}

interface ReviewFormProps {
  review: Review;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** Form for tool calls that need approval, with a decision for each. */
export function ReviewForm({ review, isBusy, onAnswer }: ReviewFormProps) {
  const [drafts, setDrafts] = useState(() => review.actions.map(initialDraft));
  const change = (index: number, next: Partial<Draft>) =>
    setDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...next } : draft)));
  const isBroken = drafts.some(({ choice, args }) => choice === "edit" && (isBrokenJson(args) || args.trim() === ""));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(writeAnswer(review, drafts.map(toDecision)));
      }}
    >
      <Stack gap="sm">
        {review.actions.map((action, index) => (
          <ActionForm key={index} action={action} draft={drafts[index]!} onChange={(next) => change(index, next)} />
        ))}
        <Group>
          <Button type="submit" size="xs" loading={isBusy} disabled={isBroken}>
            {drafts.length > 1 ? "Submit decisions" : LABELS[drafts[0]!.choice]}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ActionForm({
  action,
  draft,
  onChange,
}: {
  action: Action;
  draft: Draft;
  onChange: (next: Partial<Draft>) => void;
}) {
  return (
    <Stack gap="xs">
      {action.description !== null && <Content content={action.description} isPlain />}
      <ToolCallView call={{ name: action.name, args: action.args }} />
      <SegmentedControl
        size="xs"
        aria-label={`Decision for ${action.name}`}
        data={action.choices.map((choice) => ({ value: choice, label: LABELS[choice] ?? choice }))}
        value={draft.choice}
        onChange={(choice) => onChange({ choice })}
        style={{ alignSelf: "flex-start" }}
      />
      {draft.choice === "edit" && (
        <JsonField
          label={`Edited arguments of ${action.name}`}
          value={draft.args}
          error={isBrokenJson(draft.args) ? "Invalid JSON" : null}
          onChange={(args) => onChange({ args })}
        />
      )}
      {(draft.choice === "reject" || draft.choice === "respond") && (
        <Textarea
          label={draft.choice === "reject" ? "Reason (sent to the agent)" : "Response"}
          autosize
          minRows={1}
          value={draft.message}
          onChange={({ currentTarget }) => onChange({ message: currentTarget.value })}
        />
      )}
      {action.choices.length === 0 && (
        <Text size="sm" c="dimmed">
          The agent allows no decisions for this action.
        </Text>
      )}
    </Stack>
  );
}

const initialDraft = ({ choices, args }: Action): Draft => ({
  choice: choices[0] ?? "approve",
  args: JSON.stringify(args, null, 2),
  message: "",
});

function toDecision({ choice, args, message }: Draft): Decision {
  if (choice === "approve") return { choice };
  if (choice === "edit") return { choice, args: JSON.parse(args) as unknown };
  return { choice, message };
}
