/** Probes of a container, with the thresholds and defaults of Kubernetes. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { Container, Probe } from "./pod.ts";

export interface ProbeTarget {
  address: string;
  container: Container;
  /** Runs a command in the container; returns its exit code. */
  execute(command: string[]): Promise<number>;
}

/**
 * Probes until the signal aborts. Calls `onChange` when the outcome changes and has reached its threshold. The initial
 * state is `false` for readiness and startup, and `true` for liveness.
 */
export async function runProbe(
  probe: Probe,
  initial: boolean,
  target: ProbeTarget,
  onChange: (isGood: boolean, reason: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  let state = initial;
  let streak = 0;
  let last: boolean | undefined;
  const pause = (seconds: number) => sleep(seconds * 1000, undefined, { signal }).catch(() => {});
  await pause(initialDelaySeconds);
  while (!signal.aborted) {
    const reason = await tryProbe(probe, target);
    if (signal.aborted) return;
    const isGood = reason === undefined;
    streak = isGood === last ? streak + 1 : 1;
    last = isGood;
    if (isGood !== state && streak >= (isGood ? successThreshold : failureThreshold)) {
      state = isGood;
      onChange(state, reason ?? "");
    }
    await pause(periodSeconds);
  }
}

/** Returns the reason for a failure; undefined if the probe succeeds. */
async function tryProbe(probe: Probe, target: ProbeTarget): Promise<string | undefined> {
  const milliseconds = (probe.timeoutSeconds ?? 1) * 1000;
  const { httpGet, tcpSocket, exec } = probe;
  try {
    if (httpGet) return await tryHttp(httpGet, target, milliseconds);
    if (tcpSocket) return await tryTcp(target.address, portNumber(tcpSocket.port, target.container), milliseconds);
    if (exec) {
      const code = await Promise.race([target.execute(exec.command), sleep(milliseconds, -1)]);
      return code === 0 ? undefined : code === -1 ? "the command did not end in time" : `exit code ${code}`;
    }
    return "the test kubelet does not know this kind of probe";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Sends the request of a probe or hook. Returns the reason for a failure. */
export async function tryHttp(
  action: NonNullable<Probe["httpGet"]>,
  target: Pick<ProbeTarget, "address" | "container">,
  milliseconds: number,
): Promise<string | undefined> {
  const port = portNumber(action.port, target.container);
  const headers = new Headers(action.httpHeaders?.map(({ name, value }) => [name, value] as [string, string]));
  headers.set("user-agent", "kube-probe/1.31");
  try {
    const url = `${(action.scheme ?? "HTTP").toLowerCase()}://${target.address}:${port}${action.path ?? "/"}`;
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(milliseconds) });
    await response.body?.cancel();
    return response.status < 400 ? undefined : `HTTP probe failed with statuscode: ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

function portNumber(port: number | string, { ports = [] }: Container): number {
  if (typeof port === "number") return port;
  const named = ports.find(({ name }) => name === port);
  return named?.containerPort ?? Number(port);
}

function tryTcp(host: string, port: number, milliseconds: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: milliseconds });
    const end = (reason: string | undefined) => {
      socket.destroy();
      resolve(reason);
    };
    socket.on("connect", () => end(undefined));
    socket.on("timeout", () => end("timeout"));
    socket.on("error", (error) => end(error.message));
  });
}
