/**
 * Whether the environment asks for traces, in OpenTelemetry's words (Environment Variable Specification; OTLP Exporter
 * Configuration). What is not read here its packages read: endpoints, headers, time-outs, samplers, limits, resources.
 */

export type TraceExporter = "otlp" | "console";

export interface TraceSettings {
  /** Null where none is sent. */
  readonly exporter: TraceExporter | null;
  /** What the environment asks for and cannot have: a sentence each. */
  readonly unsupported: readonly string[];
}

const exporterNames: Readonly<Record<string, TraceExporter | null>> = { otlp: "otlp", console: "console", none: null };

/**
 * Nothing is asked for unless `OTEL_TRACES_EXPORTER` or an endpoint of OTLP is set: a tool for files sends nothing by
 * itself.
 * @returns null where nothing is asked for
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
      unsupported: [`OTEL_TRACES_EXPORTER is ${named}, and can be ${known}: no traces are sent`],
    };
  }
  const protocol = setting("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? setting("OTEL_EXPORTER_OTLP_PROTOCOL");
  const isOther = named === "otlp" && protocol !== undefined && protocol !== "http/json";
  const unsupported = isOther
    ? [`traces are sent by http/json, which collectors take beside http/protobuf; not by ${protocol}`]
    : [];
  return { exporter: exporterNames[named]!, unsupported };
}
