import { Button, Group, Textarea } from "@mantine/core";
import { useState } from "react";

import { isBrokenJson, readAny } from "../../ui/schema-form/schema.ts";

interface AnswerFormProps {
  payload: unknown;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** Form for yes, no, text, or any JSON; the interrupt's value can be used as a draft. */
export function AnswerForm({ payload, isBusy, onAnswer }: AnswerFormProps) {
  const [text, setText] = useState("");
  const isBroken = isBrokenJson(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBroken && text.trim() !== "") onAnswer(readAny(text));
      }}
    >
      <Textarea
        label="Answer"
        description="Text, or JSON"
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
        <Button size="xs" variant="default" disabled={isBusy} onClick={() => onAnswer(true)}>
          Approve (true)
        </Button>
        <Button size="xs" variant="default" disabled={isBusy} onClick={() => onAnswer(false)}>
          Reject (false)
        </Button>
        <Button
          size="xs"
          variant="subtle"
          disabled={isBusy}
          onClick={() => setText(typeof payload === "string" ? payload : JSON.stringify(payload, null, 2))}
        >
          Edit payload
        </Button>
      </Group>
    </form>
  );
}
