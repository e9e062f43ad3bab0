/**
 * Spans of running operations. Without a tracer, OpenTelemetry is not loaded and spans cost nothing. The command line sets
 * a tracer if the environment configures a collector; other programs may set their own.
 */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Headers that propagate a trace between processes: `traceparent`, `tracestate` (W3C Trace Context). */
export type Carrier = Readonly<Record<string, string | undefined>>;

export interface Span {
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  /** Marks the span as failed. @param type an error code or a status */
  fail(type: string, message?: string): void;
  /** Headers that make a span of another process a child of this one. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A span that the caller ends. */
export interface OpenSpan extends Span {
  /** Runs `act` with this span as the parent of its spans. */
  run<T>(act: () => T): T;
  end(): void;
}

export interface SpanOptions {
  /** "client" and "server" are the sides of a request; default: "internal". */
  readonly kind?: "internal" | "client" | "server";
  readonly attributes?: Attributes;
  /** Parent span in another process; default: the active span. */
  readonly parent?: Carrier;
}

export interface Tracer {
  /** Headers of the active span, or null. */
  active(): Readonly<Record<string, string>> | null;
  startSpan(name: string, options: SpanOptions): OpenSpan;
}

let currentTracer: Tracer | null = null;

/** Sets the tracer of this process; null disables tracing. */
export function setTracer(one: Tracer | null): void {
  currentTracer = one;
}

/** Whether a span is active. Background work outside requests and runs is not traced. */
export const hasActiveSpan = (): boolean => activeTraceHeaders() !== null;

/** Headers that make spans of another process children of the active span, or null. */
export const activeTraceHeaders = (): Carrier | null => currentTracer?.active() ?? null;

export const isTracingEnabled = (): boolean => currentTracer !== null;

const noopSpan: OpenSpan = { set() {}, event() {}, fail() {}, headers: {}, run: (act) => act(), end() {} };

/** Starts a span, which the caller must end. */
export const startSpan = (name: string, options: SpanOptions = {}): OpenSpan =>
  currentTracer?.startSpan(name, options) ?? noopSpan;

/** Runs `act` within a span; an error marks the span as failed. */
export async function withSpan<T>(name: string, options: SpanOptions, act: (span: Span) => Promise<T>): Promise<T> {
  if (currentTracer === null) return act(noopSpan);
  const span = currentTracer.startSpan(name, options);
  try {
    return await span.run(() => act(span));
  } catch (error) {
    const { code, name: kind, message } = error as { code?: unknown; name?: string; message?: string };
    span.fail(typeof code === "string" ? code : (kind ?? "Error"), message);
    throw error;
  } finally {
    span.end();
  }
}
