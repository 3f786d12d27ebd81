/** Reads a stream to its end. The clients type each mode separately; the tests inspect event names themselves. */
// oxlint-disable-next-line no-explicit-any -- tests look into frames of any shape
export async function collect(stream: AsyncIterable<any>): Promise<{ id?: string; event: string; data: any }[]> {
  const frames = [];
  for await (const frame of stream) frames.push(frame);
  // A heartbeat after a frame with an id makes the client emit an empty part (contract 1.5).
  return frames.filter((frame) => frame.event !== "");
}

/** Returns the data of every frame with this event name. */
// oxlint-disable-next-line no-explicit-any -- see above
export function eventData(frames: { event: string; data: any }[], event: string): any[] {
  return frames.filter((frame) => frame.event === event).map((frame) => frame.data);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";
