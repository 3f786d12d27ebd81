import { Button, Group, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";

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

export interface ReviewFormProps {
  review: Review;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** Form for tool calls that need approval, with a decision for each. */
export function ReviewForm({ review, isBusy, onAnswer }: ReviewFormProps) {
  const form = useForm({ initialValues: { drafts: review.actions.map(initialDraft) } });
  const { drafts } = form.values;
  const isBroken = drafts.some(({ choice, args }) => choice === "edit" && (isBrokenJson(args) || args.trim() === ""));
  return (
    <form onSubmit={form.onSubmit(() => onAnswer(writeAnswer(review, drafts.map(toDecision))))}>
      <Stack gap="sm">
        {review.actions.map((action, index) => (
          <ActionFields key={index} action={action} form={form} index={index} />
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

interface ActionFieldsProps {
  action: Action;
  form: UseFormReturnType<{ drafts: Draft[] }>;
  index: number;
}

function ActionFields({ action, form, index }: ActionFieldsProps) {
  const { choice, args } = form.values.drafts[index]!;
  return (
    <Stack gap="xs">
      {action.description !== null && <Content content={action.description} isPlain />}
      <ToolCallView call={{ name: action.name, args: action.args }} />
      <SegmentedControl
        size="xs"
        aria-label={`Decision for ${action.name}`}
        data={action.choices.map((value) => ({ value, label: LABELS[value] ?? value }))}
        style={{ alignSelf: "flex-start" }}
        {...form.getInputProps(`drafts.${index}.choice`)}
      />
      {choice === "edit" && (
        <JsonField
          label={`Edited arguments of ${action.name}`}
          {...form.getInputProps(`drafts.${index}.args`)}
          error={isBrokenJson(args) ? "Invalid JSON" : null}
        />
      )}
      {(choice === "reject" || choice === "respond") && (
        <Textarea
          label={choice === "reject" ? "Reason (sent to the agent)" : "Response"}
          autosize
          minRows={1}
          {...form.getInputProps(`drafts.${index}.message`)}
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
