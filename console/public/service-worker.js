// Keeps the console usable without its server: its page and its files, as they were last. Data is kept by the page itself
// (src/app/offline.ts). Requests to the servers are never answered from here.
const FILES = "heddle.files";
const PAGE = new URL("./", self.registration.scope).href;
const SCHEME = new URL("./color-scheme.js", self.registration.scope).href;
const ICON = new URL("./favicon.svg", self.registration.scope).href;
const ASSETS = new URL("./assets/", self.registration.scope).href;
/** Files of earlier builds are deleted from this number on, the oldest first. */
const MOST_FILES = 400;

self.addEventListener("install", (event) => {
  const needed = [PAGE, SCHEME, ICON].map((url) => new Request(url, { cache: "reload" }));
  event.waitUntil(caches.open(FILES).then((files) => files.addAll(needed)));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const { pathname } = new URL(request.url);
  const scope = new URL(self.registration.scope).pathname;
  if (request.mode === "navigate" && !pathname.startsWith(`${scope}api/`) && !pathname.startsWith(`${scope}docs`)) {
    event.respondWith(openPage(request));
  } else if (request.url === SCHEME || request.url === ICON) {
    event.respondWith(fetch(request).catch(() => caches.match(request)));
  } else if (request.url.startsWith(ASSETS)) {
    event.respondWith(openAsset(request));
  }
});

// files that a page has loaded without this worker
self.addEventListener("message", (event) => {
  event.waitUntil(
    caches.open(FILES).then(async (files) => {
      for (const name of event.data.slice(0, MOST_FILES)) {
        if (name.startsWith(ASSETS) && !(await files.match(name))) await files.add(name).catch(() => {});
      }
    }),
  );
});

async function openPage(request) {
  try {
    const response = await fetch(request);
    if (response.ok) {
      const files = await caches.open(FILES);
      await files.put(PAGE, response.clone());
    }
    return response;
  } catch (error) {
    const kept = await caches.match(PAGE);
    if (!kept) throw error;
    // tells the page that its server was not reached
    const html = (await kept.text()).replace("<html", '<html data-offline=""');
    return new Response(html, { headers: kept.headers });
  }
}

/** Names of assets contain their hash. */
async function openAsset(request) {
  const files = await caches.open(FILES);
  const kept = await files.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) {
    await files.put(request, response.clone());
    const all = await files.keys();
    const assets = all.filter(({ url }) => url.startsWith(ASSETS));
    await Promise.all(assets.slice(0, Math.max(0, assets.length - MOST_FILES)).map((old) => files.delete(old)));
  }
  return response;
}
