import { Center, Loader } from "@mantine/core";

/** Shown in place of the page until the first response arrives. */
export function Waiting() {
  return (
    <Center mih="100vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
