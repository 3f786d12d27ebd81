/**
 * Named points at which a crash test kills this process, like a power failure: `name:n` in HEDDLE_FAULT_POINTS sends
 * SIGKILL when the point is reached for the n-th time.
 */
export type FaultPoint = (name: string) => void;

export function createFaultPoint(spec: string | undefined): FaultPoint {
  if (!spec) return () => {};
  const left = new Map<string, number>();
  for (const part of spec.split(",")) {
    const [name, count] = part.split(":");
    left.set(name!.trim(), Number(count ?? 1));
  }
  return (name) => {
    const count = left.get(name);
    if (count === undefined) return;
    left.set(name, count - 1);
    if (count === 1) process.kill(process.pid, "SIGKILL");
  };
}
