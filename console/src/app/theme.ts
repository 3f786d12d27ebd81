import { Badge, createTheme } from "@mantine/core";

/** Shades with a contrast of at least 4.5 to 1 on both backgrounds where text uses them. */
export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: 9,
  autoContrast: true,
  fontFamily: "Inter, 'Inter Fallback', system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  // labels and buttons are medium; bold is left to headings and what is active
  fontWeights: { regular: "400", medium: "500", bold: "700" },
  // one scale for text, 12 to 18 px, and headings of pages, sections and parts
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  headings: {
    fontWeight: "600",
    sizes: {
      h3: { fontSize: "1.25rem", lineHeight: "1.3" },
      h4: { fontSize: "1.0625rem", lineHeight: "1.4" },
      h5: { fontSize: "0.9375rem", lineHeight: "1.45" },
      h6: { fontSize: "0.8125rem", lineHeight: "1.5" },
    },
  },
  defaultRadius: "sm",
  cursorType: "pointer",
  components: { Badge: Badge.extend({ styles: { label: { textTransform: "none", fontWeight: 500 } } }) },
});
