import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

import { Empty } from "./empty.tsx";

export function NotFound() {
  return (
    <Empty title="Page not found">
      <Text size="sm">
        The URL is wrong or belongs to a different version of Heddle.{" "}
        <Anchor component={Link} to="/" underline="always">
          Go to overview
        </Anchor>
      </Text>
    </Empty>
  );
}
