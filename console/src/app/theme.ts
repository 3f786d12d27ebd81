import { createTheme } from "@mantine/core";

/** Shades with a contrast of at least 4.5 to 1 on both backgrounds where text uses them. */
export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: 9,
  autoContrast: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  defaultRadius: "sm",
  cursorType: "pointer",
});
