/**
 * A mark of a stream: a checkpoint of its run up to which all frames are in the stream. A host sends a mark after the
 * frames that led to a committed checkpoint. So an attempt that resumes from a marked checkpoint leaves no gap, and a
 * reader that already shows a checkpoint's state may begin after its mark.
 */
export interface Mark {
  checkpointId: string;
  /** Number of frames before it. */
  frames: number;
}

/** Number of marks kept: readers ask for a thread's newest checkpoints, and attempts resume from them. */
const MOST = 8;

export class StreamMarks {
  #marks: Mark[] = [];
  /** Incremented with each mark. */
  version = 0;

  add(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > MOST) this.#marks.shift();
    this.version += 1;
  }

  find(checkpointId: string): Mark | undefined {
    return this.#marks.find((mark) => mark.checkpointId === checkpointId);
  }

  /** Whether all frames up to a checkpoint are there. Checkpoint ids ascend. */
  reaches(checkpointId: string): boolean {
    const newest = this.#marks.at(-1);
    return newest !== undefined && newest.checkpointId >= checkpointId;
  }

  /** Removes the marks after frame `count`, whose frames were dropped. */
  cut(count: number): void {
    this.#marks = this.#marks.filter((mark) => mark.frames <= count);
  }

  /** Serializes the marks up to frame `count` as in `run_streams.marks`; null without any. */
  text(count: number): string | null {
    const marks = this.#marks.filter((mark) => mark.frames <= count);
    return marks.length === 0 ? null : marks.map((mark) => `${mark.checkpointId}@${mark.frames}`).join(" ");
  }

  /** Adds the marks of the stored stream that are newer. */
  read(text: string | null): void {
    for (const mark of parseMarks(text)) if (!this.reaches(mark.checkpointId)) this.add(mark);
  }
}

export const findMark = (text: string | null, checkpointId: string): Mark | undefined =>
  parseMarks(text).find((mark) => mark.checkpointId === checkpointId);

function parseMarks(text: string | null): Mark[] {
  return (text ?? "").split(" ").flatMap((part) => {
    const [checkpointId, frames] = part.split("@");
    return checkpointId && frames ? [{ checkpointId, frames: Number(frames) }] : [];
  });
}
