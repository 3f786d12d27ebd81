// Before the first paint, so that a dark page never begins white. A separate file, because the policy of this
// origin runs no script that stands in a page.
try {
  const chosen = localStorage.getItem("mantine-color-scheme-value");
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
} catch {
  // without storage the page begins light
}
