// Keeps the console's files, so that it opens while its server does not answer. The pages keep their data themselves
// (src/app/kept-data.ts). A page from the server is always preferred; files whose names contain their hash never change.
const CACHE = "heddle-console";
const BASE = new URL(".", self.location.href).pathname;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin || !pathname.startsWith(BASE)) return;
  const path = pathname.slice(BASE.length);
  if (request.mode === "navigate") {
    if (!/^(docs|api)(\/|$)/.test(path)) event.respondWith(answerPage(request));
  } else if (path.startsWith("assets/")) event.respondWith(answerAsset(request));
  else if (/^(color-scheme\.js|favicon\.svg|manifest\.webmanifest)$/.test(path)) event.respondWith(answerFile(request));
});

// the files that the first page loaded before this worker was there
self.addEventListener("message", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(event.data)));
});

/** Every page is the same file; while the server is away it says so to its scripts. */
async function answerPage(request) {
  const cache = await caches.open(CACHE);
  const answer = await fetch(request).catch(() => Response.error());
  if (answer.ok) {
    await keepPage(cache, answer.clone());
    return answer;
  }
  // a proxy in front answers for a server that is away
  const kept = answer.type === "error" || answer.status >= 502 ? await cache.match(BASE) : undefined;
  if (!kept) return answer;
  const headers = new Headers(kept.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return new Response((await kept.text()).replace("<html", '<html data-offline="true"'), { headers });
}

/** A page that names other files belongs to another version, whose files replace the earlier ones. */
async function keepPage(cache, page) {
  const before = await cache.match(BASE);
  if (before && (await before.text()) !== (await page.clone().text())) {
    await Promise.all((await cache.keys()).map((key) => cache.delete(key)));
  }
  await cache.put(BASE, page);
}

async function answerAsset(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

async function answerFile(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    throw error;
  }
}
