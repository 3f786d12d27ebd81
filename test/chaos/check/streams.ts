import { groupBy, type Index, indexWorld } from "./index-world.ts";
import type { Frame, KeptStream, Operation, Verdict, Violation, World } from "./world.ts";

/** Event that reports missing frames in the stream. */
const INCOMPLETE = "incomplete";

/**
 * Law 3: readers of a stream agree; each reader's frames are a prefix of the stored stream, with gapless ids; a stream
 * that ends as whole holds all frames of the attempt that finished.
 */
export function checkStreams(world: World): Verdict {
  const index = indexWorld(world);
  const violations: Violation[] = [];
  const checked = { readers: 0, whole: 0, frames: 0, incomplete: 0, shared: 0, unkept: 0 };
  const reads = world.operations.filter((op) => op.name === "stream.read" && op.run);
  const keptStreams = new Map(world.streams.map((stream) => [stream.run, stream]));
  for (const [run, readers] of groupBy(reads, (op) => op.run)) {
    const thread = readers[0]!.thread;
    const found = (text: string) => violations.push({ law: 3, text, run, thread });
    if (readers.length > 1) checked.shared++;
    checked.unkept += checkAgreement(readers, keptStreams.get(run), found);
    for (const reader of readers) {
      checked.readers++;
      checked.frames += reader.frames?.length ?? 0;
      checkIds(reader, found);
      const isIncomplete = reader.frames?.some(({ event }) => event === INCOMPLETE) ?? false;
      if (isIncomplete) {
        checked.incomplete++;
        if (index.runs.get(run)?.streamIncomplete === false)
          found(`reader ${reader.reader} was told that frames are missing, and the run does not say so`);
      } else if (reader.closed === "whole" && (reader.resumable || reader.frames?.length)) {
        // readers that join a finished run without kept frames receive none
        checked.whole++;
        checkWhole(reader, run, index, found);
      }
    }
  }
  for (const stream of keptStreams.values()) {
    const found = (text: string) =>
      violations.push({ law: 3, text, run: stream.run, thread: index.runs.get(stream.run)?.thread });
    checkKept(stream, index, found);
  }
  return { violations, checked };
}

type Found = (text: string) => void;

const show = ({ id, event, data }: Frame): string => `${id ?? "-"} ${event} ${data.slice(0, 120)}`;

/**
 * Checks that frames with the same id are equal across readers and in the stored stream. A non-resumable stream is
 * delivered before it is kept: a reader that lost its connection or received `incomplete` may have seen frames of a
 * lost attempt. Returns the number of such readers.
 */
function checkAgreement(readers: Operation[], kept: KeptStream | undefined, found: Found): number {
  const known = new Map(kept?.frames.map((frame) => [frame.id, { frame, by: "the table" }]));
  const isCut = ({ closed, frames }: Operation) =>
    closed === "broken" || (frames?.some(({ event }) => event === INCOMPLETE) ?? false);
  let unkept = 0;
  // readers that were not cut come first, so that the others are compared with them
  for (const operation of readers.toSorted((a, b) => Number(isCut(a)) - Number(isCut(b)))) {
    const { reader, resumable, frames } = operation;
    for (const frame of frames ?? []) {
      if (frame.id === undefined) continue;
      const first = known.get(frame.id);
      if (!first) {
        if (kept && resumable) found(`reader ${reader} has the frame ${show(frame)}, which is not kept`);
        known.set(frame.id, { frame, by: `reader ${reader}` });
      } else if (first.frame.event !== frame.event || first.frame.data !== frame.data) {
        if (!resumable && isCut(operation)) unkept++;
        else found(`reader ${reader} has ${show(frame)}, ${first.by} has ${show(first.frame)}`);
        break;
      }
    }
  }
  return unkept;
}

/** Checks that a reader's ids increase by one from 0: all readers of the generator start at the beginning. */
function checkIds(reader: Operation, found: Found): void {
  let next = 0;
  for (const frame of reader.frames ?? []) {
    if (frame.id === undefined) continue;
    if (Number(frame.id) !== next)
      return found(`reader ${reader.reader} got frame ${frame.id} where ${next} was to come`);
    next++;
  }
}

interface Tick {
  execution?: string;
  k?: number;
}

/** Checks for all custom events of the steps that the finishing attempt executed, and for the final state. */
function checkWhole(reader: Operation, run: string, index: Index, found: Found): void {
  const row = index.runs.get(run);
  if (row?.status !== "success" || row.token === null) return;
  const frames = reader.frames ?? [];
  const missing = missingFrames(frames, run, row.attempt, index);
  if (missing.length > 0) {
    found(
      `reader ${reader.reader} saw the stream end as whole without ${missing.join(", ")} of attempt ${row.attempt}`,
    );
    return;
  }
  const values = frames.findLast(({ event }) => event === "values");
  const lastStep = finished(run, row.attempt, index).at(-1);
  if (!lastStep) return;
  const done = values ? ((JSON.parse(values.data) as { done?: string[] }).done ?? []) : [];
  if (!done.includes(`${row.token}/${lastStep.step}`))
    found(`reader ${reader.reader} saw the stream end as whole without the final state`);
}

/** Returns the attempt's executions that completed. */
const finished = (run: string, attempt: number, index: Index) =>
  (index.ledgerByRun.get(run) ?? []).filter((line) => line.phase === "end" && line.attempt === attempt);

function missingFrames(frames: Frame[], run: string, attempt: number, index: Index): string[] {
  const seen = new Set<string>();
  for (const { event, data } of frames) {
    if (event !== "custom") continue;
    const { execution, k } = JSON.parse(data) as Tick;
    seen.add(`${execution} ${k}`);
  }
  return finished(run, attempt, index).flatMap((line) =>
    Array.from({ length: line.frames ?? 0 }, (_, at) => at + 1)
      .filter((k) => !seen.has(`${line.execution} ${k}`))
      .map((k) => `event ${k} of step ${line.step}`),
  );
}

/** Checks that the stored stream is gapless, and complete when it was ended as whole. */
function checkKept({ run, frames, status }: KeptStream, index: Index, found: Found): void {
  for (const [at, { id }] of frames.entries()) {
    if (id === undefined || Number(id) === at) continue;
    return found(`the stored stream holds frame ${id} at place ${at}`);
  }
  const row = index.runs.get(run);
  if (status !== "success" || row?.status !== "success" || row.token === null || row.streamIncomplete) return;
  if (frames.some(({ event }) => event === INCOMPLETE)) return;
  // only resumable runs are kept from the first frame on
  if (!index.accepted.get(run)?.resumable) return;
  const missing = missingFrames(frames, run, row.attempt, index);
  if (missing.length > 0)
    found(`the stored stream was ended as whole without ${missing.join(", ")} of attempt ${row.attempt}`);
}
