/**
 * Reads the trace exporter from the environment (OpenTelemetry Environment Variable Specification; OTLP Exporter
 * Configuration). The OpenTelemetry packages read the other variables: endpoints, headers, timeouts, samplers, limits,
 * resources.
 */

export type TraceExporter = "otlp" | "console";

export interface TraceSettings {
  /** Null if no traces are sent. */
  readonly exporter: TraceExporter | null;
  /** A message for each unsupported setting. */
  readonly unsupported: readonly string[];
}

const exporterNames: Readonly<Record<string, TraceExporter | null>> = { otlp: "otlp", console: "console", none: null };

/**
 * Tracing is off unless `OTEL_TRACES_EXPORTER` or an OTLP endpoint is set: by default, geoferry sends no data.
 * @returns null if tracing is off
 */
export function readTraceSettings(environment: NodeJS.ProcessEnv): TraceSettings | null {
  const setting = (name: string) => environment[name]?.trim() || undefined;
  if (setting("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return null;
  const endpoint = setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? setting("OTEL_EXPORTER_OTLP_ENDPOINT");
  const named = setting("OTEL_TRACES_EXPORTER") ?? (endpoint && "otlp");
  if (named === undefined || named === "none") return null;
  if (!Object.hasOwn(exporterNames, named)) {
    const known = Object.keys(exporterNames).join(", ");
    return {
      exporter: null,
      unsupported: [`OTEL_TRACES_EXPORTER is ${named}, but must be one of ${known}: no traces are sent`],
    };
  }
  const protocol = setting("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? setting("OTEL_EXPORTER_OTLP_PROTOCOL");
  const isOther = named === "otlp" && protocol !== undefined && protocol !== "http/json";
  const unsupported = isOther
    ? [`the OTLP protocol ${protocol} is not supported: traces are sent as http/json, which collectors also accept`]
    : [];
  return { exporter: exporterNames[named]!, unsupported };
}
