/** The tab's title: the page's, after the number of threads that need review. */
let title = "";
let waiting = 0;

const show = (): void => {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title} · Heddle`;
};

export function setPageTitle(next: string): void {
  title = next;
  show();
}

export function setWaitingCount(next: number): void {
  waiting = next;
  if (title !== "") show();
}
