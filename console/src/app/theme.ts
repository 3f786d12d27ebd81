import { Badge, colorsTuple, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

/** Colours that components can have; tokens.css gives each its values. */
export const ROLES = ["brand", "success", "warning", "danger", "info", "neutral"] as const;
export type Role = (typeof ROLES)[number];

/** Properties of components accept roles and variables: the name of a colour does not compile. */
declare module "@mantine/core" {
  export interface MantineThemeColorsOverride {
    colors: Record<Role | "dark" | "dimmed" | `var(--${string})`, MantineColorsTuple>;
  }
}

export const theme = createTheme({
  colors: {
    ...Object.fromEntries(ROLES.map((role) => [role, colorsTuple(`var(--heddle-${role})`)])),
    // Mantine's surfaces in the dark: page 7, controls and menus 6, borders 4
    dark: colorsTuple([
      "#dfe2e7",
      "#b6bcc5",
      "#a9b0ba",
      "#959ca7",
      "#434952",
      "#30353c",
      "#24282d",
      "#191c20",
      "#131518",
      "#0d0f11",
    ]),
  },
  primaryColor: "brand",
  fontFamily: "Inter, 'Inter Fallback', system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  // labels and buttons are medium; bold is left to headings and what is active
  fontWeights: { regular: "400", medium: "500", bold: "700" },
  // one scale for text, 12 to 18 px, and headings of pages, sections and parts
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  headings: {
    fontWeight: "600",
    sizes: {
      h3: { fontSize: "1.375rem", lineHeight: "1.25" },
      h4: { fontSize: "1.125rem", lineHeight: "1.35" },
      h5: { fontSize: "1rem", lineHeight: "1.4" },
      h6: { fontSize: "0.8125rem", lineHeight: "1.5" },
    },
  },
  // controls, and what frames them
  radius: { xs: "3px", sm: "6px", md: "8px" },
  defaultRadius: "sm",
  cursorType: "pointer",
  components: {
    Badge: Badge.extend({ styles: { label: { textTransform: "none", fontWeight: 500, letterSpacing: 0 } } }),
    // not `extend`: the first page has none of them
    Tabs: { defaultProps: { color: "var(--heddle-selection)" } },
    SegmentedControl: { styles: { label: { paddingInline: 10 } } },
    Pagination: { defaultProps: { color: "neutral" } },
    Chip: { defaultProps: { color: "var(--heddle-selection)" } },
  },
});

/** Lets the variants of Mantine's components follow the tokens, instead of shades of one colour. */
export const cssVariables: CSSVariablesResolver = () => {
  const variants = Object.fromEntries(
    ROLES.flatMap((role) => {
      const token = `var(--heddle-${role})`;
      const fill = `var(--heddle-${role}-fill)`;
      const quiet = `var(--heddle-${role}-quiet)`;
      return Object.entries({
        text: token,
        filled: fill,
        "filled-hover": `color-mix(in srgb, ${fill}, black 12%)`,
        light: quiet,
        // also that of quiet buttons; darker, their text would lack contrast
        "light-hover": quiet,
        "light-color": token,
        outline: token,
        "outline-hover": quiet,
      }).map(([variant, value]) => [`--mantine-color-${role}-${variant}`, value]);
    }),
  );
  const colors = {
    ...variants,
    "--mantine-color-anchor": "var(--heddle-link)",
    "--mantine-color-error": "var(--heddle-danger)",
    "--mantine-color-success": "var(--heddle-success)",
  };
  return { variables: {}, light: colors, dark: colors };
};
