import { ActionIcon, Alert, Badge, Button, CloseButton, Group, NativeSelect, Text, Tooltip } from "@mantine/core";
import { IconMessagePlus, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { type Dispatch, lazy, Suspense, useEffect, useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { count, duration, money } from "../../ui/format.ts";
import { LazyJson } from "../../ui/lazy-json.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { Content, Reasoning } from "../../ui/messages/content.tsx";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { asMessage } from "../../ui/messages/message.ts";
import { adviceFor, type Answer, comparableText } from "./answer.ts";
import { type Column, columnPrompt, type Draft, type DraftAction, letter } from "./draft.ts";
import { ModelPicker } from "./model-picker.tsx";
import classes from "./prompt-playground.module.css";
import { newMessage } from "./prompt.ts";

const WordDiff = lazy(async () => ({ default: (await import("../../ui/word-diff.tsx")).WordDiff }));

const AddToDataset = lazy(async () => ({ default: (await import("../traces/add-to-dataset.tsx")).AddToDataset }));

interface AnswerColumnProps {
  column: Column;
  index: number;
  draft: Draft;
  answer: Answer | undefined;
  /** Text that the answer is compared with; null for none. */
  base: string | null;
  baseName: string;
  dispatch: Dispatch<DraftAction>;
  mayCall: string | null;
  onRun: () => void;
  onStop: () => void;
}

/** One model's answer, with its statistics. */
export function AnswerColumn({
  column,
  index,
  draft,
  answer,
  base,
  baseName,
  dispatch,
  mayCall,
  ...props
}: AnswerColumnProps) {
  const name = letter(index);
  const isRunning = answer?.status === "running";
  return (
    <section className={classes["column"]} aria-label={`Column ${name}`} aria-busy={isRunning}>
      <Group className={classes["columnHead"]} gap={6} wrap="nowrap" mih={34}>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <ModelPicker
          letter={name}
          model={column.model}
          onChange={(model) => dispatch({ type: "model", key: column.key, model })}
        />
        <Group gap={2} ms="auto" wrap="nowrap">
          {isRunning ? (
            <ActionIcon variant="subtle" color="danger" size="sm" aria-label={`Stop ${name}`} onClick={props.onStop}>
              <IconPlayerStop size={14} />
            </ActionIcon>
          ) : (
            <ActionIcon
              variant="subtle"
              color="neutral"
              size="sm"
              aria-label={`Run ${name}`}
              disabled={mayCall !== null}
              title={mayCall ?? undefined}
              onClick={props.onRun}
            >
              <IconPlayerPlay size={14} />
            </ActionIcon>
          )}
          {draft.columns.length > 1 && (
            <CloseButton
              size="sm"
              aria-label={`Remove column ${name}`}
              onClick={() => {
                props.onStop();
                dispatch({ type: "remove-column", key: column.key });
              }}
            />
          )}
        </Group>
      </Group>
      {draft.prompts.length > 1 && (
        <Group className={classes["columnHead"]} gap={6}>
          <NativeSelect
            size="xs"
            variant="unstyled"
            aria-label={`Prompt of ${name}`}
            data={draft.prompts.map(({ key }, at) => ({ value: key, label: `Prompt ${at + 1}` }))}
            value={columnPrompt(draft, column).key}
            onChange={({ currentTarget }) =>
              dispatch({ type: "column-prompt", key: column.key, promptKey: currentTarget.value })
            }
          />
        </Group>
      )}
      <div className={classes["answer"]} tabIndex={0} role="group" aria-label={`Answer of ${name}`}>
        {answer === undefined ? (
          <Text size="sm" c="dimmed">
            Run with Ctrl+Enter (⌘ Enter on a Mac).
          </Text>
        ) : base !== null && !isRunning && answer.error === null ? (
          <Suspense fallback={<Body answer={answer} />}>
            <WordDiff before={base} after={comparableText(answer)} label={`Differences of ${name} from ${baseName}`} />
          </Suspense>
        ) : (
          <Body answer={answer} />
        )}
        {answer?.error && <Failure answer={answer} mayCall={mayCall} onRetry={props.onRun} />}
      </div>
      <Group className={classes["columnFoot"]} gap={8} role="group" aria-label={`Statistics of ${name}`}>
        {answer && <Statistics answer={answer} />}
        {answer?.status === "done" && (
          <Group gap={2} ms="auto" wrap="nowrap">
            <CopyButton value={comparableText(answer)} label={`Copy answer of ${name}`} />
            <Tooltip label="Add the answer to the prompt's messages">
              <ActionIcon
                variant="subtle"
                color="neutral"
                size="sm"
                aria-label={`Add answer of ${name} to the messages`}
                onClick={() => dispatch({ type: "add-message", message: toMessage(answer) })}
              >
                <IconMessagePlus size={14} />
              </ActionIcon>
            </Tooltip>
          </Group>
        )}
      </Group>
    </section>
  );
}

/** Returns an answer as a literal message of the prompt. */
function toMessage({ text, toolCalls }: Answer) {
  const calls = toolCalls.map(({ id, name, args }) => ({ id: id ?? "", name, args }));
  return { ...newMessage("ai", text), isTemplate: false, toolCalls: calls };
}

function Body({ answer }: { answer: Answer }) {
  const { status, text, reasoning, toolCalls, structured } = answer;
  const calls = toolCalls.filter(({ name }) => name !== "");
  const message = calls.length > 0 && asMessage({ role: "assistant", content: "", tool_calls: calls });
  return (
    <>
      {reasoning !== "" && <Reasoning text={reasoning} />}
      {structured != null ? (
        <LazyJson value={structured} label="structured answer" />
      ) : status === "running" ? (
        // Markdown is rendered once, at the end
        <div className={classes["streaming"]}>{text === "" && calls.length === 0 ? "…" : text}</div>
      ) : (
        <Content content={text} />
      )}
      {message && <MessageList messages={[message]} />}
      {answer.structuredError !== null && (
        <Alert color="warning" variant="light" mt="xs" title="The answer does not follow the schema">
          {answer.structuredError}
        </Alert>
      )}
      {answer.isTruncated && (
        <Text size="xs" c="dimmed" mt={4}>
          The answer was cut off at its limit of tokens.
        </Text>
      )}
      {status === "stopped" && (
        <Badge size="sm" variant="default" mt={4}>
          stopped
        </Badge>
      )}
    </>
  );
}

function Failure({ answer, mayCall, onRetry }: { answer: Answer; mayCall: string | null; onRetry: () => void }) {
  const error = answer.error!;
  if (answer.status === "stopped") return null;
  return (
    <Alert
      color="danger"
      variant="light"
      role="alert"
      mt={answer.text === "" ? 0 : "xs"}
      title={errorTitle(error.kind, error.status)}
    >
      <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {error.message}
      </Text>
      <Text size="sm" mt={4}>
        {adviceFor(error)}
      </Text>
      <Button size="compact-xs" variant="default" mt={6} disabled={mayCall !== null} onClick={onRetry}>
        Retry
      </Button>
    </Alert>
  );
}

const TITLES: Record<string, string> = {
  auth: "The provider rejected the key",
  rate_limit: "The provider's rate limit is reached",
  bad_request: "The provider rejected the request",
  not_found: "The provider does not know the model",
  provider: "The provider failed",
  network: "The provider could not be reached",
  timeout: "The answer took too long",
  malformed: "The answer could not be read",
  blocked: "The address is not allowed",
  connection: "The connection to the server was lost",
};

const errorTitle = (kind: string, status: number | null): string =>
  status === 402 ? "The budget is used up" : (TITLES[kind] ?? "The prompt could not be run");

const Statistic = ({ title, children }: { title: string; children: string }) => (
  <Text size="xs" c="dimmed" className="numbers" title={title}>
    {children}
  </Text>
);

function Statistics({ answer }: { answer: Answer }) {
  const { latencyMs, firstTokenMs, usage, cost, runId, projectId, status, startedAt } = answer;
  return (
    <>
      {status === "running" ? <Elapsed since={startedAt} /> : <Statistic title="Time">{duration(latencyMs)}</Statistic>}
      {firstTokenMs !== null && (
        <Statistic title="Time to the first token">{`first ${duration(firstTokenMs)}`}</Statistic>
      )}
      {usage && (
        <Statistic title="Tokens in and out">{`${count(usage.input_tokens)} → ${count(usage.output_tokens)}`}</Statistic>
      )}
      {cost !== null && <Statistic title="Cost">{money(cost)}</Statistic>}
      {runId !== null && projectId !== null && status !== "running" && (
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId }} search={{ poll: true }} size="xs">
          Trace
        </AnchorLink>
      )}
      {runId !== null && status === "done" && <SaveAsExample runId={runId} />}
    </>
  );
}

/** Saves the traced call as an example of a dataset. */
function SaveAsExample({ runId }: { runId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="compact-xs" variant="subtle" onClick={() => setOpen(true)}>
        Save as example
      </Button>
      {isOpen && (
        <Suspense>
          <AddToDataset runIds={[runId]} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, []);
  return <Statistic title="Time">{duration(Math.max(0, now - since))}</Statistic>;
}
