/** What browsers offer without a library: fetch, WebSocket and EventSource, from a page of an allowed origin. */
import type { FrontEnd } from "./checks.ts";

/** @param stranger URL of the same page on an origin that is not allowed */
export async function checkPlainPage(frontEnd: FrontEnd, stranger: string): Promise<void> {
  const { browser, page: url, apiUrl, key, report } = frontEnd;
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    // tsx names functions with a helper that the page lacks
    await page.addInitScript("globalThis.__name = (value) => value");
    await page.goto(url);
    const results = await page.evaluate(inPage, { apiUrl, key });
    for (const [check, error] of results) report(check, error ?? undefined);
    await page.goto(stranger);
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const made = await fetch(`${apiUrl}/threads`, { method: "POST", headers, body: "{}" });
    const { thread_id: thread } = (await made.json()) as { thread_id: string };
    const connected = await page.evaluate(connectInPage, { apiUrl, key, thread });
    const isRejected = connected.length === 0;
    report(
      "pages of other origins are rejected, also with the key",
      isRejected ? undefined : `connected: ${connected.join(", ")}`,
    );
  } finally {
    await context.close();
  }
}

/** Runs in the page. @returns each check with the reason if it failed */
async function inPage({ apiUrl, key }: { apiUrl: string; key: string }): Promise<[string, string | null][]> {
  const results: [string, string | null][] = [];
  const check = async (name: string, run: () => Promise<void>) => {
    try {
      await run();
      results.push([name, null]);
    } catch (error) {
      results.push([name, String(error)]);
    }
  };
  const expect = (isMet: boolean, what: unknown) => {
    if (!isMet) throw new Error(`got ${typeof what === "string" ? what : JSON.stringify(what)}`);
  };
  const json = { "x-api-key": key, "content-type": "application/json" };
  const post = (path: string, body: object, headers: Record<string, string> = json) =>
    fetch(`${apiUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const hello = { assistant_id: "agent", input: { messages: [{ role: "user", content: "Hello" }] } };
  const within = <T>(promise: Promise<T>, what: string) =>
    Promise.race([
      promise,
      new Promise<never>((_, fail) => setTimeout(() => fail(new Error(`no ${what} in 15 s`)), 15_000)),
    ]);

  await check("fetch with x-api-key: a run's stream, and headers that pages may read", async () => {
    const { thread_id: thread } = await (await post("/threads", {})).json();
    const response = await post(`/threads/${thread}/runs/stream`, { ...hello, stream_mode: "values" });
    expect(response.status === 200, response.status);
    const location = response.headers.get("content-location") ?? "";
    expect(location.startsWith(`/threads/${thread}/runs/`), location);
    const text = await response.text();
    expect(text.includes("event: values"), text);
  });
  await check("fetch with a bearer token", async () => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await post("/threads/search", {}, headers);
    expect(response.status === 200, response.status);
  });
  await check("a rejection without a key is readable: 401 with its message", async () => {
    const response = await post("/threads/search", {}, { "content-type": "application/json" });
    const text = await response.text();
    expect(response.status === 401 && text.includes("x-api-key"), `${response.status} ${text}`);
  });
  await check("WebSocket with the key in the query: a run with protocol v2", async () => {
    // pages of http have no crypto.randomUUID
    const { thread_id: thread } = await (await post("/threads", {})).json();
    const address = `${apiUrl.replace("http", "ws")}/threads/${thread}/stream/events?x-api-key=${key}`;
    const socket = new WebSocket(address);
    const done = new Promise<void>((resolve, reject) => {
      socket.addEventListener("error", () => reject(new Error("the connection failed")));
      socket.addEventListener("message", ({ data }) => {
        const event = JSON.parse(data as string);
        if (event.method === "lifecycle" && event.params.data.event === "completed") resolve();
      });
    });
    await within(new Promise((resolve) => socket.addEventListener("open", resolve)), "connection");
    socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: { channels: ["lifecycle"] } }));
    socket.send(JSON.stringify({ id: 2, method: "run.start", params: hello }));
    await within(done, "end of the run");
    socket.close();
  });
  await check(
    "EventSource with the key in the query: a thread's stream, and a run's from its first event",
    async () => {
      const { thread_id: thread } = await (await post("/threads", {})).json();
      const follow = new EventSource(`${apiUrl}/threads/${thread}/stream?x-api-key=${key}`);
      const followed = new Promise<void>((resolve) => follow.addEventListener("metadata", () => resolve()));
      await within(new Promise((resolve) => follow.addEventListener("open", resolve)), "connection");
      const run = await (
        await post(`/threads/${thread}/runs`, { ...hello, stream_mode: ["values"], stream_resumable: true })
      ).json();
      await within(followed, "event of the thread");
      follow.close();
      const joined = new EventSource(`${apiUrl}/threads/${thread}/runs/${run.run_id}/stream?x-api-key=${key}`);
      await within(new Promise((resolve) => joined.addEventListener("values", resolve)), "event of the run");
      joined.close();
    },
  );
  return results;
}

/** Runs in the page. @returns what could connect */
async function connectInPage(of: { apiUrl: string; key: string; thread: string }): Promise<string[]> {
  const { apiUrl, key, thread } = of;
  const query = `x-api-key=${key}`;
  const opens = (source: EventTarget) =>
    new Promise<boolean>((resolve) => {
      source.addEventListener("open", () => resolve(true));
      source.addEventListener("error", () => resolve(false));
    });
  const tries: Record<string, Promise<boolean>> = {
    fetch: fetch(`${apiUrl}/threads/search`, { method: "POST", headers: { "x-api-key": key }, body: "{}" }).then(
      () => true,
      () => false,
    ),
    WebSocket: opens(new WebSocket(`${apiUrl.replace("http", "ws")}/threads/${thread}/stream/events?${query}`)),
    EventSource: opens(new EventSource(`${apiUrl}/threads/${thread}/stream?${query}`)),
  };
  const connected: string[] = [];
  for (const [name, isOpen] of Object.entries(tries)) if (await isOpen) connected.push(name);
  return connected;
}
