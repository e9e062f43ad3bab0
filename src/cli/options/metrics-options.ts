/** Flags of the Prometheus endpoint. */
import { createError } from "../../errors.js";
import type { Flag } from "../command.js";
import { portNumber } from "../parse/values.js";
import { takes } from "./flag.js";

export interface MetricsArguments {
  readonly metricsPort?: string;
  readonly metricsHost?: string;
}

export const metricsOptions = {
  "metrics-port": {
    ...takes("PORT"),
    describe: "Serve Prometheus metrics on this port at /metrics while running; 0 picks a free port",
  },
  "metrics-host": {
    ...takes("HOST"),
    describe: "Host name or address to serve metrics on",
    defaultDescription: "127.0.0.1",
  },
} as const satisfies Readonly<Record<string, Flag>>;

export interface MetricsPlace {
  readonly host: string;
  readonly port: number;
}

/** @returns null without --metrics-port @throws option-invalid, usage */
export function metricsPlace({ metricsPort, metricsHost }: MetricsArguments): MetricsPlace | null {
  const port = portNumber("--metrics-port", metricsPort);
  if (port === undefined) {
    if (metricsHost === undefined) return null;
    throw createError("usage", { reason: "--metrics-host requires --metrics-port" });
  }
  return { host: metricsHost ?? "127.0.0.1", port };
}
