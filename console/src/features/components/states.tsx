import { Button, Stack, Text } from "@mantine/core";

import { ApiError } from "../../api/api-error.ts";
import { Empty } from "../../ui/empty.tsx";
import { Loading } from "../../ui/loading.tsx";
import { ConnectionState, Problem } from "../../ui/problem.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Part, Sample } from "./sample.tsx";

const failure = (status: number, message: string) => new ApiError(status, message, "01a2296f-sample");
const retry = () => {};

export const States = () => (
  <Part title="States">
    <Sample name="Empty: what will be here, and the next step">
      <Empty title="No threads yet">
        <Text size="sm">Start a conversation in the playground.</Text>
        <Button size="xs">New thread</Button>
      </Empty>
    </Sample>
    <Sample name="Loading: the size of what comes">
      <Loading rows={5} />
    </Sample>
    <Sample name="Error: what failed, why, and a way out">
      <Problem error={failure(500, "Postgres refused the connection. Check DATABASE_URI.")} onRetry={retry} />
    </Sample>
    <Sample name="Unreachable">
      <Problem error={failure(0, "No answer from http://127.0.0.1:2024 after 10 s.")} onRetry={retry} />
    </Sample>
    <Sample name="Denied">
      <Problem error={failure(403, "Your role does not permit reading traces.")} />
    </Sample>
    <Sample name="Connection lost, and back">
      <Stack gap="xs" align="flex-start">
        <ConnectionState isLost />
        <ConnectionState isLost={false} />
      </Stack>
    </Sample>
    <Sample name="Progress: known, unknown, failed">
      <Stack gap="sm">
        <Progress label="Rows written" done={12_000} total={50_000}>
          12,000 of 50,000 rows
        </Progress>
        <Progress label="Rows counted" done={0} total={null}>
          Counting rows
        </Progress>
        <Progress label="Runs" done={8} total={10} color="warning">
          8 of 10 runs, 2 failed
        </Progress>
      </Stack>
    </Sample>
  </Part>
);
