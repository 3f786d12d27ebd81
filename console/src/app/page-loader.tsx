import { Center, Loader } from "@mantine/core";

/** Shown in place of the page until the first response arrives. */
export function PageLoader() {
  return (
    <Center mih="100vh">
      <Loader role="img" aria-label="Loading" />
    </Center>
  );
}
