/** The tab's title: the page's, after the number of threads that need review. */
let title = "";
let waiting = 0;

const show = (): void => {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title} · Heddle`;
};

type Listener = (title: string) => void;
const listeners = new Set<Listener>();

export function setPageTitle(next: string): void {
  title = next;
  show();
  for (const notify of listeners) notify(next);
}

/** Calls the listener with the title of the page, and of each one that follows. @returns a function that ends this */
export function onPageTitle(listener: Listener): () => void {
  listeners.add(listener);
  if (title !== "") listener(title);
  return () => listeners.delete(listener);
}

export function setWaitingCount(next: number): void {
  waiting = next;
  if (title !== "") show();
}
