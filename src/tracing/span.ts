/**
 * Spans of what is under way. Nothing of OpenTelemetry is loaded and a span costs nothing unless a tracer is set: by the
 * command line where the environment names a collector, or by a program that has one of its own.
 */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** What carries a trace from one process to the next, as headers have it: `traceparent`, `tracestate` (W3C). */
export type Carrier = Readonly<Record<string, string | undefined>>;

export interface Span {
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  /** Marks it as failed. @param type the code of an error, or a status */
  fail(type: string, message?: string): void;
  /** Headers that make a span of another process a child of this one. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A span that whoever began it ends. */
export interface OpenSpan extends Span {
  /** Runs something whose spans are children of this one. */
  run<T>(act: () => T): T;
  end(): void;
}

export interface SpanOptions {
  /** "client" and "server" are the two sides of a request; "internal" where absent. */
  readonly kind?: "internal" | "client" | "server";
  readonly attributes?: Attributes;
  /** The span of another process that it is a child of; that of whatever runs now where absent or empty. */
  readonly parent?: Carrier;
}

export interface Tracer {
  /** Headers of the span that is under way; null where none is. */
  active(): Readonly<Record<string, string>> | null;
  startSpan(name: string, options: SpanOptions): OpenSpan;
}

let currentTracer: Tracer | null = null;

/** Sets where the spans of this process go; null ends it. */
export function setTracer(one: Tracer | null): void {
  currentTracer = one;
}

/** Whether something is under way that is a span: what is no request's or run's own needs none. */
export const hasActiveSpan = (): boolean => activeTraceHeaders() !== null;

/** What makes a span of another process a child of what is under way; null where no span is. */
export const activeTraceHeaders = (): Carrier | null => currentTracer?.active() ?? null;

export const isTracingEnabled = (): boolean => currentTracer !== null;

const noopSpan: OpenSpan = { set() {}, event() {}, fail() {}, headers: {}, run: (act) => act(), end() {} };

/** A span to be ended by the caller. */
export const startSpan = (name: string, options: SpanOptions = {}): OpenSpan =>
  currentTracer?.startSpan(name, options) ?? noopSpan;

/** Does something within a span, which is marked as failed by what it throws. */
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
