/**
 * The two generations of A2A on the wire. Internally everything has the shape of version 0.3. Version 1.0 differs in
 * its method names, in enumerations in capitals, and in unions distinguished by their field instead of `kind`.
 */
export type Generation = "0.3" | "1.0";

export interface TextPart {
  kind: "text";
  text: string;
}
export interface DataPart {
  kind: "data";
  data: unknown;
}
export interface FilePart {
  kind: "file";
  file: { uri?: string; bytes?: string; name?: string; mimeType?: string };
}
export type Part = TextPart | DataPart | FilePart;

export interface Message {
  kind: "message";
  role: "user" | "agent";
  messageId: string;
  parts: Part[];
  contextId?: string;
  taskId?: string;
}

const TASK_STATES = ["submitted", "working", "input-required", "completed", "failed", "canceled"] as const;
export type TaskState = (typeof TASK_STATES)[number];

export interface TaskStatus {
  state: TaskState;
  message?: Message;
  timestamp: string;
}

export interface Artifact {
  artifactId: string;
  name: string;
  parts: Part[];
}

export interface Task {
  kind: "task";
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts: Artifact[];
  history?: Message[];
}

export type StreamEvent =
  | Task
  | { kind: "status-update"; taskId: string; contextId: string; status: TaskStatus; final: boolean }
  | {
      kind: "artifact-update";
      taskId: string;
      contextId: string;
      artifact: Artifact;
      append: boolean;
      lastChunk: boolean;
    };

/** Name of a state in version 1.0: `input-required` is `TASK_STATE_INPUT_REQUIRED`. */
const stateOf1 = (state: TaskState): string => `TASK_STATE_${state.toUpperCase().replace("-", "_")}`;

export function stateFrom(text: string): TaskState | undefined {
  const plain = text
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replace("_", "-");
  return TASK_STATES.find((state) => state === plain);
}

export const serializeTaskResult = (generation: Generation, task: Task): object =>
  generation === "0.3" ? task : { ...without(task), status: status1(task.status), ...contents1(task) };

/** Result of sending: the bare task in version 0.3, wrapped as `{task}` in 1.0. */
export const serializeSendResult = (generation: Generation, task: Task): object =>
  generation === "0.3" ? task : { task: serializeTaskResult(generation, task) };

export function serializeEvent(generation: Generation, event: StreamEvent): object {
  if (generation === "0.3") return event;
  if (event.kind === "task") return { task: serializeTaskResult(generation, event) };
  if (event.kind === "status-update") {
    const { taskId, contextId, status } = event;
    return { statusUpdate: { taskId, contextId, status: status1(status) } };
  }
  return { artifactUpdate: { ...without(event), artifact: artifact1(event.artifact) } };
}

function without<T extends { kind: string }>({ kind: _, ...rest }: T): Omit<T, "kind"> {
  return rest;
}

const contents1 = ({ artifacts, history }: Task) => ({
  artifacts: artifacts.map(artifact1),
  ...(history && { history: history.map(message1) }),
});

const status1 = ({ message, state, timestamp }: TaskStatus) => ({
  state: stateOf1(state),
  timestamp,
  ...(message && { message: message1(message) }),
});

const artifact1 = (artifact: Artifact) => ({ ...artifact, parts: artifact.parts.map(part1) });

const message1 = (message: Message) => ({
  ...without(message),
  role: `ROLE_${message.role.toUpperCase()}`,
  parts: message.parts.map(part1),
});

function part1(part: Part): object {
  if (part.kind !== "file") return without(part);
  const { uri, bytes, name, mimeType } = part.file;
  return {
    ...(uri === undefined ? { raw: bytes } : { url: uri }),
    ...(name && { filename: name }),
    ...(mimeType && { mediaType: mimeType }),
  };
}
