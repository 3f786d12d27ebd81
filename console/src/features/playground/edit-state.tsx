import { Button, Group, Modal, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { agentApi, data } from "../../api/clients.ts";
import { JsonField } from "../../ui/json-field.tsx";
import { readObject, writeJson } from "../../ui/json-text.ts";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import type { State } from "../threads/queries.ts";
import { StateFields } from "./state-fields.tsx";

interface EditStateProps {
  server: string;
  threadId: string;
  state: State;
  /** Schema of the state; without one, it is edited as JSON. */
  schema: JsonSchema | null | undefined;
  /** Nodes of the graph. */
  nodes: readonly string[];
  onClose: () => void;
  /** Called with the new checkpoint, and whether the run should resume from it. */
  onDone: (checkpointId: string, resumes: boolean) => Promise<unknown>;
}

/** Updates a state, which creates a new checkpoint below it: a fork, unless it is the newest. */
export function EditState({ server, threadId, state, schema, nodes, onClose, onDone }: EditStateProps) {
  useFocusBack();
  const hasForm = Object.keys(schema?.properties ?? {}).length > 0;
  const [mode, setMode] = useState<"form" | "json">(hasForm ? "form" : "json");
  const [fields, setFields] = useState<Record<string, unknown>>(() => ({ ...state.values }));
  const [text, setText] = useState(() => writeJson(state.values));
  const [asNode, setAsNode] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async (resumes: boolean) => {
    setError(null);
    setBusy(true);
    try {
      const edited = mode === "form" ? fields : readObject(text, "The state");
      const values = pickChanged(edited, state.values);
      if (Object.keys(values).length === 0 && asNode === null) throw new Error("No changes to save.");
      const params = { path: { thread_id: threadId } };
      const body = {
        values,
        checkpoint_id: state.checkpoint!.checkpoint_id!,
        ...(asNode !== null && { as_node: asNode }),
      };
      const answer = await data(agentApi(server).POST("/threads/{thread_id}/state", { params, body }));
      await onDone((answer as unknown as { checkpoint: { checkpoint_id: string } }).checkpoint.checkpoint_id, resumes);
    } catch (problem) {
      setError((problem as Error).message);
    }
    setBusy(false);
  };
  const change = (next: "form" | "json") => {
    setError(null);
    try {
      if (next === "json") setText(writeJson(fields));
      else setFields(readObject(text, "The state"));
      setMode(next);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <Modal opened onClose={onClose} title="Edit state" size="xl" closeButtonProps={{ title: "Close" }}>
      <Stack gap="sm">
        <Text size="sm">
          Changed keys are written through the graph's reducers: an appending reducer appends new entries, and messages
          with the same ID are replaced. The current checkpoint is kept.
        </Text>
        {hasForm && (
          <SegmentedControl
            size="xs"
            aria-label="Format of the state"
            style={{ alignSelf: "flex-start" }}
            data={[
              { value: "form", label: "Form" },
              { value: "json", label: "JSON" },
            ]}
            value={mode}
            onChange={change}
          />
        )}
        {mode === "form" ? (
          <>
            <StateFields schema={schema!} value={fields} onChange={setFields} />
            {error !== null && (
              <Text size="sm" c="var(--heddle-danger)" role="alert">
                {error}
              </Text>
            )}
          </>
        ) : (
          <JsonField label="State" value={text} onChange={setText} error={error} minHeight="16rem" />
        )}
        <Select
          label="As node"
          description="The run resumes along the edges of this node"
          placeholder="Last node"
          clearable
          data={[...nodes]}
          value={asNode}
          onChange={setAsNode}
        />
        <Group gap="xs">
          <Button loading={isBusy} onClick={() => void save(true)}>
            Save and resume
          </Button>
          <Button variant="default" disabled={isBusy} onClick={() => void save(false)}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Returns only changed members: untouched ones would pass through their reducers a second time. */
function pickChanged(now: Record<string, unknown>, before: Record<string, unknown>): Record<string, unknown> {
  const changed = Object.entries(now).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]));
  return Object.fromEntries(changed.map(([key, value]) => [key, pickNew(value, before[key])]));
}

/** Returns the new or changed messages of a list: reducers of messages match them by id. */
function pickNew(now: unknown, before: unknown): unknown {
  if (!Array.isArray(now) || !Array.isArray(before)) return now;
  const hasIds = [...now, ...before].every((entry) => typeof (entry as { id?: unknown } | null)?.id === "string");
  if (!hasIds) return now;
  const known = new Set(before.map((entry) => JSON.stringify(entry)));
  return now.filter((entry) => !known.has(JSON.stringify(entry)));
}
