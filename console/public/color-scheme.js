// Before the first paint, so that a dark page never begins white, and a slow one says that it loads. A separate file,
// because the policy of this origin runs no script, and applies no style, that stands in a page.
try {
  const chosen = localStorage.getItem("mantine-color-scheme-value");
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
  document.documentElement.dataset.density = localStorage.getItem("heddle.density") ?? "comfortable";
} catch {
  // without storage the page begins light, with comfortable rows
}
const sheet = new CSSStyleSheet();
// a page that loads quickly shows nothing of it
sheet.replaceSync(`
  [data-mantine-color-scheme="dark"] { background: #1a1b1e; }
  #starting { padding-top: 30vh; text-align: center; font: 14px sans-serif; color: #868e96; animation: start 0s 300ms both; }
  @keyframes start { from { visibility: hidden; } }
`);
document.adoptedStyleSheets = [sheet];
