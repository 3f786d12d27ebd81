import { Stack, Text, Title } from "@mantine/core";
import type { CSSProperties } from "react";

import { ROLES } from "../../app/theme.ts";
import { Part, Sample } from "./sample.tsx";
import classes from "./components.module.css";

const OTHERS = ["link", "selection", "selection-quiet", "focus", "raised"];
const SERIES = Array.from({ length: 8 }, (_, index) => `series-${index + 1}`);
const CODE = ["code-key", "code-string", "code-number"];

export const Tokens = () => (
  <>
    <Part title="Colours">
      <Sample name="Roles: themselves, fill, quiet" isWide>
        <Swatches names={ROLES.flatMap((role) => [role, `${role}-fill`, `${role}-quiet`])} />
      </Sample>
      <Sample name="Interaction and surfaces">
        <Swatches names={OTHERS} />
      </Sample>
      <Sample name="Series of charts">
        <Swatches names={SERIES} />
      </Sample>
      <Sample name="Code">
        <Swatches names={CODE} />
      </Sample>
    </Part>
    <Part title="Type">
      <Sample name="Headings">
        <Stack gap="xs">
          <Title order={3} size="h3">
            Title of a page, 22 px
          </Title>
          <Title order={3} size="h4">
            Title of a part or of an empty state, 18 px
          </Title>
          <Title order={3} size="h5">
            Title of a card or section, 16 px
          </Title>
          <Title order={3} size="h6">
            Title of a chart or a small card, 13 px
          </Title>
        </Stack>
      </Sample>
      <Sample name="Text">
        <Stack gap={6}>
          <Text size="xl" fw={700} className="numbers">
            1,204 traces, 18 px: a number that leads
          </Text>
          <Text size="lg">A question to a human, 16 px</Text>
          <Text size="md">Text of a form, 14 px</Text>
          <Text size="sm">Text of a table or a card, 13 px</Text>
          <Text size="xs" c="dimmed">
            A hint or a label, 12 px, dimmed
          </Text>
          <Text size="xs" c="dimmed" ff="monospace">
            9c42d7e1, an id: small, dimmed, monospaced
          </Text>
        </Stack>
      </Sample>
    </Part>
  </>
);

const Swatches = ({ names }: { names: readonly string[] }) => (
  <ul className={classes.swatches}>
    {names.map((name) => (
      <li key={name} className={classes.swatch}>
        <span className={classes.color} style={{ "--color": `var(--heddle-${name})` } as CSSProperties} />
        {name}
      </li>
    ))}
  </ul>
);
