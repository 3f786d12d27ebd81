import type { Page } from "playwright-core";

/** Stops of a walk: a long list has as many as it has links. */
const MAX_STOPS = 40;

interface Stop {
  /** Name of the focused element; null outside of the page's main part. */
  name: string | null;
  problem: string | null;
}

/**
 * Walks through the main part of the open page by Tab. Returns a line for each stop whose focus is not seen, not in
 * view, or does not move on, as in an editor that takes Tab for itself.
 */
export async function walkKeys(page: Page): Promise<string[]> {
  // colours in transition would hide a change
  await page.evaluate(() => {
    // the page's policy applies no style that stands in it
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { transition: none !important; }");
    document.adoptedStyleSheets.push(sheet);
  });
  await page.evaluate(() => document.getElementById("main")?.focus());
  const problems: string[] = [];
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    await page.keyboard.press("Tab");
    const { name, problem } = await page.evaluate(readStop);
    if (name === null) break;
    if (problem !== null) problems.push(`the focus on "${name}" ${problem}`);
    if (problem === "stays") break;
  }
  return problems;
}

/** Runs in the page. */
async function readStop(): Promise<Stop> {
  const element = document.activeElement as HTMLElement;
  const labels = "labels" in element ? [...((element.labels as NodeListOf<HTMLElement> | null) ?? [])] : [];
  const text = element.getAttribute("aria-label") ?? labels[0]?.textContent ?? element.textContent ?? "";
  if (element === document.body || !element.closest("#main")) return { name: null, problem: null };
  const name = `${element.tagName.toLowerCase()} ${text.trim().slice(0, 50)}`;
  const memory = window as unknown as { lastStop?: Element };
  // the controls of a recording are inside of it
  if (memory.lastStop === element) return { name, problem: element instanceof HTMLMediaElement ? null : "stays" };
  memory.lastStop = element;
  // a switch or a radio button is drawn beside its field, which is hidden
  const drawn = element.matches("input[type=checkbox], input[type=radio]")
    ? (element.parentElement ?? element)
    : element;
  const { width, height, bottom, top } = drawn.getBoundingClientRect();
  if (width === 0 || height === 0) return { name, problem: "has no size" };
  if (bottom < 0 || top > innerHeight) return { name, problem: "is out of view" };
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  // an editor marks itself a moment later
  for (let n = 0; n < 3 && element.closest(".cm-editor"); n++) await frame();
  const parts: Element[] = [element];
  if (element.nextElementSibling) parts.push(element.nextElementSibling);
  for (let part = element.parentElement; part && part.id !== "main" && parts.length < 8; part = part.parentElement) {
    parts.push(part);
  }
  const look = () =>
    parts
      .map((part) => {
        const { outline, boxShadow, borderColor, backgroundColor, stroke } = getComputedStyle(part);
        return [outline, boxShadow, borderColor, backgroundColor, stroke].join(" ");
      })
      .join();
  const withFocus = look();
  element.blur();
  let isSeen = withFocus !== look();
  for (let n = 0; n < 10 && !isSeen && element.closest(".cm-editor"); n++) {
    await frame();
    isSeen = withFocus !== look();
  }
  element.focus({ preventScroll: true });
  return { name, problem: isSeen ? null : "is not seen" };
}
