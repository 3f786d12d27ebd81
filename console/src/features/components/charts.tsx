import { Chart } from "../../ui/chart.tsx";
import { percent, seconds } from "../../ui/format.ts";
import { Part, Sample } from "./sample.tsx";

const START = Date.UTC(2026, 0, 5) / 1000;
const TIMES = Array.from({ length: 24 }, (_, hour) => START + hour * 3600);
const wave = (phase: number, height: number) => TIMES.map((_, hour) => height * (1.2 + Math.sin((hour + phase) / 3)));
const count = (value: number) => value.toFixed(0);

export const Charts = () => (
  <Part title="Charts">
    <Sample name="One series: bars for counts">
      <Chart
        title="Traces"
        times={TIMES}
        kind="bars"
        format={count}
        series={[{ label: "Traces", values: wave(0, 40) }]}
      />
    </Sample>
    <Sample name="Several series, with a marker and the previous period">
      <Chart
        title="Latency"
        times={TIMES}
        format={seconds}
        series={[
          { label: "P50", values: wave(0, 1) },
          { label: "P95", values: wave(1, 2) },
          { label: "P50 before", values: wave(2, 1.3), before: 0 },
        ]}
        markers={[{ time: START + 12 * 3600, label: "Deployed" }]}
      />
    </Sample>
    <Sample name="Eight series">
      <Chart
        title="Cost by model"
        times={TIMES}
        format={(value) => `$${value.toFixed(1)}`}
        series={Array.from({ length: 8 }, (_, index) => ({
          label: `model-${index + 1}`,
          values: wave(index * 2, 1 + index / 2),
        }))}
      />
    </Sample>
    <Sample name="Errors: red, and red is nothing else; a limit is neutral">
      <Chart
        title="Error rate"
        times={TIMES}
        format={percent}
        series={[
          { label: "Failed", values: wave(4, 0.1), color: "danger" },
          { label: "Limit", values: TIMES.map(() => 0.15), color: "neutral" },
        ]}
      />
    </Sample>
    <Sample name="Thin data: points, no lines to what is not known">
      <Chart
        title="Feedback"
        note="average"
        times={TIMES}
        format={(value) => value.toFixed(2)}
        series={[
          { label: "helpful", values: TIMES.map((_, hour) => ([3, 11, 12, 20].includes(hour) ? hour / 24 : null)) },
        ]}
      />
    </Sample>
    <Sample name="Empty">
      <Chart
        title="Tool calls"
        times={TIMES}
        format={count}
        series={[{ label: "Calls", values: TIMES.map(() => null) }]}
      />
    </Sample>
  </Part>
);
