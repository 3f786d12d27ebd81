import { useCallback, useEffect, useRef, useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { traceApi } from "../../api/clients.ts";
import { readEvents } from "../../api/read-events.ts";
import { type Answer, applyEvent, type PlaygroundEvent, startAnswer, stopAnswer } from "./answer.ts";

/** Interval at which streamed text is rendered: eight columns at each token would block typing. */
const FLUSH_MS = 50;

export type Answers = Record<string, Answer>;

/** Runs columns and holds their answers. A closed page or a stopped column closes its stream, which cancels the call. */
export function useAnswers(onEnd: (columnKey: string, answer: Answer) => void) {
  const [answers, setAnswers] = useState<Answers>({});
  const controllers = useRef(new Map<string, AbortController>());
  const ended = useRef(onEnd);
  ended.current = onEnd;
  useEffect(() => () => controllers.current.forEach((controller) => controller.abort()), []);

  const stop = useCallback((key?: string) => {
    for (const [name, controller] of controllers.current) if (key === undefined || key === name) controller.abort();
  }, []);

  /** @param build returns the request's body; an error that it throws is the answer */
  const run = useCallback(async (key: string, model: string, build: () => Record<string, unknown>) => {
    controllers.current.get(key)?.abort();
    const controller = new AbortController();
    controllers.current.set(key, controller);
    let answer = startAnswer(model, Date.now());
    const isCurrent = () => controllers.current.get(key) === controller;
    const show = () => isCurrent() && setAnswers((before) => ({ ...before, [key]: answer }));
    show();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      for await (const event of play(build(), controller.signal)) {
        answer = applyEvent(answer, event, Date.now());
        timer ??= setTimeout(() => {
          timer = undefined;
          show();
        }, FLUSH_MS);
      }
      if (answer.status === "running") throw new ApiError(0, "The server closed the stream before the answer's end.");
    } catch (error) {
      answer = controller.signal.aborted
        ? stopAnswer(answer, Date.now())
        : applyEvent(answer, { event: "error", data: describe(error as Error) }, Date.now());
    }
    clearTimeout(timer);
    show();
    if (isCurrent()) controllers.current.delete(key);
    ended.current(key, answer);
  }, []);
  return { answers, run, stop };
}

async function* play(body: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<PlaygroundEvent> {
  const options = { body: body as never, parseAs: "stream" as const, signal };
  const { data: stream } = await traceApi.POST("/api/v1/playground/stream", options);
  for await (const { event, data } of readEvents(stream as unknown as ReadableStream<Uint8Array>)) {
    yield { event, data: JSON.parse(data) as never } as PlaygroundEvent;
  }
}

function describe(error: Error) {
  const status = error instanceof ApiError && error.status > 0 ? error.status : null;
  const kind = error instanceof ApiError && status === null ? "connection" : "request";
  return { kind, status, message: error.message };
}
