/** Sends the spans of this process to an OpenTelemetry collector. */
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  type Span as Recorded,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { version } from "../version.js";
import { type Attributes, type Carrier, type OpenSpan, type SpanOptions, setTracer, type Tracer } from "./span.js";
import type { TraceExporter } from "./trace-settings.js";

/** Time limit in milliseconds for sending the last spans. */
const shutdownTimeoutMs = 3000;

const spanKinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

const propagator = new W3CTraceContextPropagator();

export interface Tracing extends AsyncDisposable {
  /** Sends finished spans now, for processes that may be killed at any time. */
  flush(): Promise<void>;
}

/**
 * Starts exporting spans; disposal sends the remaining ones.
 * @param service default of `service.name`; `OTEL_SERVICE_NAME` overrides it
 * @param onWarning called once if spans cannot be sent
 */
export async function startTracing(
  exporter: TraceExporter,
  service: string,
  onWarning: (sentence: string) => void,
): Promise<Tracing> {
  reportDiagnostics(onWarning);
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  const named = resourceFromAttributes({ "service.name": service, "service.version": version });
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor(await createExporter(exporter));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  setTracer(new OpenTelemetryTracer(provider.getTracer("geoferry", version)));
  return {
    async flush() {
      await withTimeout(shutdownTimeoutMs, provider.forceFlush());
    },
    async [Symbol.asyncDispose]() {
      setTracer(null);
      const isSent = await withTimeout(shutdownTimeoutMs, provider.shutdown());
      if (!isSent) diag.error(`the collector did not accept them within ${shutdownTimeoutMs / 1000} seconds`);
      context.disable();
      diag.disable();
    },
  };
}

/** @returns whether `work` finished in time */
async function withTimeout(milliseconds: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([late, work.then(() => true)]);
  } catch (error) {
    diag.error(String(error));
    return true;
  } finally {
    clearTimeout(timer);
  }
}

async function createExporter(exporter: TraceExporter): Promise<SpanExporter> {
  if (exporter === "console") return new StderrExporter();
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  return new OTLPTraceExporter();
}

/** Writes to stderr, since stdout is for data. */
class StderrExporter extends ConsoleSpanExporter {
  override export(...[spans, done]: Parameters<ConsoleSpanExporter["export"]>): void {
    for (const { name, attributes, status, duration } of spans)
      process.stderr.write(`${JSON.stringify({ span: name, duration, status, attributes })}\n`);
    done({ code: 0 });
  }
}

/** Reports the first message of the diagnostic logger of the OpenTelemetry packages. */
function reportDiagnostics(onWarning: (sentence: string) => void): void {
  let isReported = false;
  const report = (...words: unknown[]) => {
    if (isReported) return;
    isReported = true;
    onWarning(`traces cannot be sent: ${diagnosticMessage(words)}`);
  };
  const nothing = () => {};
  const logger = { error: report, warn: report, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** The packages log errors as JSON. */
function diagnosticMessage(words: readonly unknown[]): string {
  const text = words.map(String).join(" ");
  try {
    const { message, code } = JSON.parse(text) as { message?: string; code?: string };
    return message || code || text;
  } catch {
    return text;
  }
}

class OpenTelemetryTracer implements Tracer {
  constructor(private readonly tracer: ReturnType<BasicTracerProvider["getTracer"]>) {}

  active(): Readonly<Record<string, string>> | null {
    const parentContext = context.active();
    return trace.getSpan(parentContext) ? injectHeaders(parentContext) : null;
  }

  startSpan(name: string, { kind = "internal", attributes = {}, parent }: SpanOptions): OpenSpan {
    // A server span has no parent in this process.
    const own = kind === "server" ? ROOT_CONTEXT : context.active();
    const parentContext = parent?.traceparent ? propagator.extract(ROOT_CONTEXT, parent, carrierGetter) : own;
    const span = this.tracer.startSpan(name, { kind: spanKinds[kind], attributes: { ...attributes } }, parentContext);
    return new RecordedSpan(span, trace.setSpan(parentContext, span));
  }
}

const carrierGetter = {
  get: (carrier: Carrier, key: string) => carrier[key],
  keys: (carrier: object) => Object.keys(carrier),
};

function injectHeaders(parentContext: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(parentContext, headers, { set: (carrier, key, value) => (carrier[key] = value) });
  return headers;
}

class RecordedSpan implements OpenSpan {
  constructor(
    private readonly span: Recorded,
    private readonly parentContext: Context,
  ) {}

  get headers(): Readonly<Record<string, string>> {
    return injectHeaders(this.parentContext);
  }

  set(attributes: Attributes): void {
    this.span.setAttributes({ ...attributes });
  }

  event(name: string, attributes: Attributes = {}): void {
    this.span.addEvent(name, { ...attributes });
  }

  fail(type: string, message?: string): void {
    this.span.setAttribute("error.type", type);
    this.span.setStatus({ code: SpanStatusCode.ERROR, ...(message ? { message } : {}) });
  }

  run<T>(act: () => T): T {
    return context.with(this.parentContext, act);
  }

  end(): void {
    this.span.end();
  }
}
