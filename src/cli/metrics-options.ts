/** Where a command answers Prometheus. */
import { fault } from "../errors.js";
import type { Flag } from "./command.js";
import { wholeNumber } from "./values.js";

export interface MetricsArguments {
  readonly metricsPort?: string;
  readonly metricsHost?: string;
}

const text = { type: "string", requiresArg: true } as const;

export const metricsOptions = {
  "metrics-port": {
    ...text,
    describe: "Answer Prometheus on this port, at /metrics, meanwhile; 0 for any that is free",
  },
  "metrics-host": { ...text, describe: "Name or address to answer on", defaultDescription: "127.0.0.1" },
} as const satisfies Readonly<Record<string, Flag>>;

export interface MetricsPlace {
  readonly host: string;
  readonly port: number;
}

/** @returns null where nobody asked for it @throws option-invalid, usage */
export function metricsPlace({ metricsPort, metricsHost }: MetricsArguments): MetricsPlace | null {
  const port = wholeNumber("--metrics-port", metricsPort, 0);
  if (port === undefined) {
    if (metricsHost === undefined) return null;
    throw fault("usage", { reason: "--metrics-host goes with --metrics-port" });
  }
  if (port > 65_535)
    throw fault("option-invalid", { option: "--metrics-port", value: metricsPort!, expected: "below 65536" });
  return { host: metricsHost ?? "127.0.0.1", port };
}
