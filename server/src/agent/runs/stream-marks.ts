/**
 * Marks of a stream: the checkpoints of its run up to which all frames are in the stream. A host sends a mark when what
 * led to a committed checkpoint has been sent; so an attempt that goes on from a marked checkpoint leaves no gap, and a
 * reader that shows a checkpoint's state already may begin behind its mark.
 */
export interface Mark {
  checkpointId: string;
  /** How many frames precede it. */
  frames: number;
}

/** Readers ask for a thread's newest checkpoints, and attempts go on from them. */
const MOST = 8;

export class StreamMarks {
  #marks: Mark[] = [];
  /** Of the marks themselves: changes with each. */
  version = 0;

  add(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > MOST) this.#marks.shift();
    this.version += 1;
  }

  find(checkpointId: string): Mark | undefined {
    return this.#marks.find((mark) => mark.checkpointId === checkpointId);
  }

  /** Whether all frames up to a checkpoint are there. Ids of checkpoints ascend. */
  reaches(checkpointId: string): boolean {
    const newest = this.#marks.at(-1);
    return newest !== undefined && newest.checkpointId >= checkpointId;
  }

  /** Forgets those behind frame `count`, which were dropped. */
  cut(count: number): void {
    this.#marks = this.#marks.filter((mark) => mark.frames <= count);
  }

  /** As in `run_streams.marks`, of those that precede frame `count`; null without any. */
  text(count: number): string | null {
    const marks = this.#marks.filter((mark) => mark.frames <= count);
    return marks.length === 0 ? null : marks.map((mark) => `${mark.checkpointId}@${mark.frames}`).join(" ");
  }

  /** Takes those of the kept stream that are newer. */
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
