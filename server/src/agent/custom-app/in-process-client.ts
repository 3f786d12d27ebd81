/** Makes `new Client()` without a URL reach this server in project code that runs in the server (contract §17). */
const FETCH = Symbol.for("langgraph_api:fetch");
const URL_OF = Symbol.for("langgraph_api:url");

type Answer = (request: Request) => Promise<Response>;

/** @returns a function that undoes it */
export function provideInProcessClient(answer: Answer, prefix: string): () => void {
  const shared = globalThis as { [FETCH]?: typeof fetch; [URL_OF]?: string };
  const own: typeof fetch = (input, init) => answer(new Request(input, init));
  shared[FETCH] = own;
  // the SDK's own default; no connection is made to it
  shared[URL_OF] = `http://localhost:8123${prefix}`;
  return () => {
    if (shared[FETCH] !== own) return;
    delete shared[FETCH];
    delete shared[URL_OF];
  };
}
