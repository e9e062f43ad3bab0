/** Traces by OpenTelemetry: spans of this process, sent in batches to a collector. */
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

/** Milliseconds that the last spans may take to be sent: a run does not wait long for whoever watches it. */
const shutdownTimeoutMs = 3000;

const spanKinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

const propagator = new W3CTraceContextPropagator();

export interface Tracing extends AsyncDisposable {
  /** Sends what there is now: of a process that may be ended at any time. */
  flush(): Promise<void>;
}

/**
 * Sends the spans of this process from now on, and what is left of them when it is disposed of.
 * @param service `service.name`, where `OTEL_SERVICE_NAME` says no other
 * @param onTrouble is told the first time that they cannot be sent; nothing else comes of it
 */
export async function startTracing(
  exporter: TraceExporter,
  service: string,
  onTrouble: (sentence: string) => void,
): Promise<Tracing> {
  reportDiagnostics(onTrouble);
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
      if (!isSent) diag.error(`the collector has not taken them within ${shutdownTimeoutMs / 1000} seconds`);
      context.disable();
      diag.disable();
    },
  };
}

/** @returns whether it came to its end in time */
async function withTimeout(milliseconds: number, ending: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([late, ending.then(() => true)]);
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

/** stdout is for data. */
class StderrExporter extends ConsoleSpanExporter {
  override export(...[spans, done]: Parameters<ConsoleSpanExporter["export"]>): void {
    for (const { name, attributes, status, duration } of spans)
      process.stderr.write(`${JSON.stringify({ span: name, duration, status, attributes })}\n`);
    done({ code: 0 });
  }
}

/** The packages tell what goes wrong by their own log: the first of it is told, and no more. */
function reportDiagnostics(onTrouble: (sentence: string) => void): void {
  let isTold = false;
  const tell = (...words: unknown[]) => {
    if (isTold) return;
    isTold = true;
    onTrouble(`traces cannot be sent: ${diagnosticMessage(words)}`);
  };
  const nothing = () => {};
  const logger = { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Errors come as JSON of their members. */
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
    const around = context.active();
    return trace.getSpan(around) ? injectHeaders(around) : null;
  }

  startSpan(name: string, { kind = "internal", attributes = {}, parent }: SpanOptions): OpenSpan {
    // What is asked from outside is part of nothing that goes on here.
    const own = kind === "server" ? ROOT_CONTEXT : context.active();
    const around = parent?.traceparent ? propagator.extract(ROOT_CONTEXT, parent, carrierGetter) : own;
    const span = this.tracer.startSpan(name, { kind: spanKinds[kind], attributes: { ...attributes } }, around);
    return new RecordedSpan(span, trace.setSpan(around, span));
  }
}

const carrierGetter = {
  get: (carrier: Carrier, key: string) => carrier[key],
  keys: (carrier: object) => Object.keys(carrier),
};

function injectHeaders(around: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(around, headers, { set: (carrier, key, value) => (carrier[key] = value) });
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
