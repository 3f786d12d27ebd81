// The search of the documentation, and the menu: open beside the page, closed above it on narrow screens.
const field = document.getElementById("search");
const results = document.getElementById("results");
const menu = document.querySelector(".menu");
const isWide = matchMedia("(min-width: 56.01rem)");
const openMenu = () => (menu.open = isWide.matches);
isWide.addEventListener("change", openMenu);
openMenu();
menu.querySelector(`a[href="${location.pathname}"]`)?.setAttribute("aria-current", "page");

/** Path below which the console is, and the documentation with it. */
const BASE = new URL("..", import.meta.url).pathname.slice(0, -1);
/** A file of the site, which the build copies. */
const LIBRARY = `${BASE}/docs/minisearch.js`;

let index;
/** The index is loaded once, when a reader reaches for the search. */
function load() {
  index ??= Promise.all([import(LIBRARY), fetch(`${BASE}/docs/search.json`).then((answer) => answer.text())]).then(
    ([{ default: MiniSearch }, text]) =>
      MiniSearch.loadJSON(text, { fields: ["title", "page", "text"], storeFields: ["title", "page", "url"] }),
  );
  return index;
}

const MATCHING = {
  boost: { title: 4, page: 2 },
  prefix: true,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  combineWith: "AND",
};

async function search() {
  const words = field.value.trim();
  const found = words === "" ? [] : (await load()).search(words, MATCHING).slice(0, 12);
  if (words !== field.value.trim()) return;
  results.replaceChildren(...found.map(row));
  if (found.length === 0)
    results.append(Object.assign(document.createElement("p"), { textContent: "No page has these words." }));
  results.hidden = words === "";
}

function row({ title, page, url }) {
  const link = Object.assign(document.createElement("a"), { href: BASE + url, textContent: title });
  if (page !== title) link.append(Object.assign(document.createElement("small"), { textContent: page }));
  return link;
}

field.addEventListener("focus", load);
field.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === "Escape") {
    results.hidden = true;
    field.blur();
  }
  if (results.hidden || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  event.preventDefault();
  const rows = [field, ...results.querySelectorAll("a")];
  const at = rows.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  rows[Math.max(0, Math.min(at, rows.length - 1))].focus();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) results.hidden = true;
  // a result on this page only moves to its heading
  if (event.target.closest("#results a")) results.hidden = true;
});
