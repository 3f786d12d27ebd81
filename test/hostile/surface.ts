import type fc from "fast-check";

import { checkAnswer } from "./check-answer.ts";
import { encodeRequest, type HttpInput } from "./http-input.ts";
import type { RawAnswer, RawClient } from "./raw-client.ts";
import type { ServerName } from "./servers.ts";
import type { World } from "./world.ts";

/** What became of an input. */
export interface Outcome {
  /** For the counts, such as the status. */
  label: string;
  /** What is wrong. */
  problem?: string | undefined;
}

/** A way into a server, with the generator of its inputs. */
export interface Surface<T = unknown> {
  name: string;
  servers: readonly ServerName[];
  /** Its share of the inputs. */
  weight: number;
  /** Returns the generator of a server's n-th input. Inputs are plain data, so that they can be printed and kept. */
  inputs(world: World, server: ServerName): (n: number) => fc.Arbitrary<T>;
  run(input: T, session: Session): Promise<Outcome>;
}

export interface Session {
  world: World;
  client: RawClient;
}

/** Long enough for every answer that is computed; routes that wait for a run take longer and are left. */
const PATIENCE_MS = 3_000;
const STEP_MS = 60_000;

export async function sendHttp(
  input: HttpInput,
  { world, client }: Session,
  patienceMs = PATIENCE_MS,
): Promise<RawAnswer> {
  const request = encodeRequest(input, world.credentials(input.server, input.caller));
  return client.send({ ...request, port: world.port(input.server), patienceMs });
}

/** Sends a request of a flow whose next step needs the answer. */
export const sendStep = (input: HttpInput, session: Session): Promise<RawAnswer> => sendHttp(input, session, STEP_MS);

/** Sends one request and checks its answer. */
export async function runHttp(input: HttpInput, session: Session): Promise<Outcome> {
  const answer = await sendHttp(input, session);
  const label = answer.status === 0 ? answer.end : String(answer.status);
  return { label, problem: checkAnswer(input, answer, session.world) };
}
