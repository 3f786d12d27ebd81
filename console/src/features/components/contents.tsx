import { lazy, Suspense } from "react";

import { CodeSample } from "../../ui/code-sample.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import type { NodeState } from "../../ui/graph-view/graph-view.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Loading } from "../../ui/loading.tsx";
import { LogView } from "../../ui/log-view.tsx";
import { asMessages } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { TimeAxis } from "../thread-run/time-axis.tsx";
import { RunError } from "../traces/run-error.tsx";
import { buildTree, type TreeRun } from "../traces/trace-tree.ts";
import { TraceTreeView } from "../traces/trace-tree-view.tsx";
import { Part, Sample } from "./sample.tsx";

const GraphView = lazy(async () => ({ default: (await import("../../ui/graph-view/graph-view.tsx")).GraphView }));

const START = Date.UTC(2026, 0, 5, 9, 30);
const VALUE = { city: "Rome", days: 3, isMetric: true, note: null, places: ["Trastevere", "שלום"] };
const MESSAGES = asMessages([
  { type: "system", content: "You are a weather assistant." },
  { type: "human", content: "What is the weather in **Rome**?" },
  { type: "ai", content: "", tool_calls: [{ id: "c1", name: "get_weather", args: { city: "Rome" } }] },
  { type: "tool", tool_call_id: "c1", content: "Sunny, 24 °C" },
  { type: "ai", content: "It is sunny, at 24 °C.", usage_metadata: { input_tokens: 120, output_tokens: 14 } },
  { type: "human", content: "תודה רבה!" },
])!;

/** @param times start and end, in seconds after the trace's start */
const run = (id: string, run_type: string, [from, to]: [number, number], more: Partial<TreeRun> = {}): TreeRun => ({
  id,
  name: id,
  run_type,
  status: "success",
  start: START + from * 1000,
  end: START + to * 1000,
  firstToken: null,
  tokens: null,
  cost: null,
  error: null,
  parentId: "agent",
  ...more,
});
const TREE = buildTree([
  run("agent", "chain", [0, 4], { parentId: null }),
  run("plan", "llm", [0, 1.4]),
  run("search", "retriever", [1.4, 2]),
  run("get_weather", "tool", [2, 2.6], { status: "error", error: "TimeoutError: no answer" }),
  run("answer", "llm", [2.6, 4]),
]);
const EVENTS = [
  { key: "run", lane: "Run" as const, at: START, end: START + 4000, label: "Run" },
  { key: "plan", lane: "Trace" as const, at: START, end: START + 1400, label: "plan" },
  { key: "tool", lane: "Trace" as const, at: START + 2000, end: START + 2600, label: "get_weather", isFailure: true },
  { key: "answer", lane: "Trace" as const, at: START + 2600, end: START + 4000, label: "answer" },
  { key: "step", lane: "Checkpoints" as const, at: START + 1400, label: "Step 1" },
  { key: "hook", lane: "Webhooks" as const, at: START + 4000, label: "Delivery" },
];
const LINES = ["INFO", "WARNING", "ERROR"].map((level, index) => ({
  id: level,
  timestamp: START + index * 1234,
  level,
  message: ["Server started", "Slow query, 1200 ms", "Run failed: no answer from the tool"][index]!,
}));
const DRAWING = {
  nodes: ["__start__", "plan", "act", "review", "__end__"].map((id) => ({ id })),
  edges: [
    { source: "__start__", target: "plan" },
    { source: "plan", target: "act" },
    { source: "act", target: "plan", conditional: true },
    { source: "act", target: "review" },
    { source: "review", target: "__end__" },
  ],
};
const STATES = new Map<string, NodeState>([
  ["plan", "done"],
  ["act", "active"],
  ["review", "waiting"],
]);

export const Contents = () => (
  <>
    <Part title="Contents">
      <Sample name="Messages">
        <MessageList messages={MESSAGES} />
      </Sample>
      <Sample name="JSON">
        <JsonView value={VALUE} label="state" />
      </Sample>
      <Sample name="Differences">
        <DiffView
          before={{ city: "Rome", answer: "It is sunny in Rome today.", days: 3 }}
          after={{ city: "Rome", answer: "It is cloudy in Rome today.", unit: "celsius" }}
        />
      </Sample>
      <Sample name="Error of a run">
        <RunError status="error" error={"TimeoutError: no answer from the tool\n    at getWeather (tools.ts:12:9)"} />
      </Sample>
      <Sample name="Code">
        <CodeSample
          label="First trace"
          samples={[
            { language: "Python", code: "client.runs.wait(None, 'agent', input={})" },
            { language: "TypeScript", code: "await client.runs.wait(null, 'agent', { input: {} })" },
          ]}
        />
      </Sample>
      <Sample name="Log">
        <LogView
          label="log"
          lines={LINES}
          filter={{ query: "", level: "" }}
          onFilter={() => {}}
          isLive={false}
          height={120}
        />
      </Sample>
    </Part>
    <Part title="Runs in time">
      <Sample name="Trace">
        <div style={{ height: 230 }}>
          <TraceTreeView tree={TREE} selectedId="answer" onSelect={() => {}} />
        </div>
      </Sample>
      <Sample name="Events of a run">
        <TimeAxis
          events={EVENTS}
          axis={{ from: START, to: START + 4000, later: null }}
          selected="tool"
          onSelect={() => {}}
        />
      </Sample>
      <Sample name="Graph: done, active, waiting">
        <div style={{ height: 320 }}>
          <Suspense fallback={<Loading rows={4} />}>
            <GraphView drawing={DRAWING} states={STATES} />
          </Suspense>
        </div>
      </Sample>
    </Part>
  </>
);
