/** Where a command answers Prometheus. */
import { createError } from "../../errors.js";
import type { Flag } from "../command.js";
import { portNumber } from "../parse/values.js";
import { text } from "./source-options.js";

export interface MetricsArguments {
  readonly metricsPort?: string;
  readonly metricsHost?: string;
}

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
  const port = portNumber("--metrics-port", metricsPort);
  if (port === undefined) {
    if (metricsHost === undefined) return null;
    throw createError("usage", { reason: "--metrics-host goes with --metrics-port" });
  }
  return { host: metricsHost ?? "127.0.0.1", port };
}
