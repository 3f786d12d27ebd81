import { Button, Group, Textarea } from "@mantine/core";
import { useState } from "react";

import { isBrokenJson, readAny } from "../../ui/schema-form/schema.ts";
import { OFFERED, offeredAnswers, usualAnswers } from "./offered-answers.ts";

interface AnswerFormProps {
  payload: unknown;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** Form for the answers that the payload lists, else the usual ones; and for text or any JSON, with the payload as a draft. */
export function AnswerForm({ payload, isBusy, onAnswer }: AnswerFormProps) {
  const [text, setText] = useState("");
  const isBroken = isBrokenJson(text);
  const listed = offeredAnswers(payload);
  const offered = listed.length > 0 ? listed : usualAnswers(payload);
  const edit = (value: unknown) => setText(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBroken && text.trim() !== "") onAnswer(readAny(text));
      }}
    >
      <Group gap="xs" mb="xs" role="group" aria-label="Offered answers">
        {offered.map(({ label, value, isDraft }, index) => (
          <Button
            key={label}
            {...{ [OFFERED]: true }}
            title={index < 9 ? `Key ${index + 1}` : undefined}
            size="sm"
            variant="default"
            disabled={isBusy}
            onClick={() => (isDraft ? edit(value) : onAnswer(value))}
          >
            {isDraft ? `${label}…` : label}
          </Button>
        ))}
      </Group>
      <Textarea
        label="Answer"
        description="Another answer, as text or JSON"
        autosize
        minRows={1}
        maxRows={14}
        value={text}
        error={isBroken ? "Invalid JSON" : undefined}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Group gap="xs" mt="xs">
        <Button type="submit" size="xs" loading={isBusy} disabled={isBroken || text.trim() === ""}>
          Answer
        </Button>
        {listed.length === 0 && (
          <Button size="xs" variant="subtle" disabled={isBusy} onClick={() => edit(payload)}>
            Edit payload
          </Button>
        )}
      </Group>
    </form>
  );
}
