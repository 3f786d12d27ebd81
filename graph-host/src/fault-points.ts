/**
 * Named points at which a crash test kills this process. `HEDDLE_FAULT_POINTS` lists `name:n`, separated by commas: on
 * reaching `name` for the n-th time the process sends itself SIGKILL, so that no cleanup can run. When unset, as always
 * outside tests, a point is a call of an empty function.
 */
const countdown = new Map<string, number>();
for (const entry of process.env.HEDDLE_FAULT_POINTS?.split(",") ?? []) {
  const [name, n] = entry.trim().split(":");
  if (name) countdown.set(name, Number(n ?? 1));
}

export const faultPoint: (name: string) => void = countdown.size === 0 ? () => {} : pass;

function pass(name: string): void {
  const left = countdown.get(name);
  if (left === undefined) return;
  countdown.set(name, left - 1);
  if (left === 1) process.kill(process.pid, "SIGKILL");
}
