import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

import { Empty } from "./empty.tsx";

export function NotFound() {
  return (
    <Empty title="There is no such page">
      <Text size="sm">
        The address may be of another version.{" "}
        <Anchor component={Link} to="/">
          To the first page
        </Anchor>
      </Text>
    </Empty>
  );
}
