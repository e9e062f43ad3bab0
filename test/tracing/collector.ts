/** A collector: takes traces as OTLP over HTTP in JSON, the way the protocol's own definition has it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** SpanKind: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** StatusCode: 0 unset, 2 error. */
  readonly status: number;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "service" | "attributes" | "status"> & {
        readonly attributes: readonly OtlpAttribute[];
        readonly status?: { readonly code?: number };
      })[];
    }[];
  }[];
}

const plainValue = ({ stringValue, intValue, doubleValue, boolValue }: OtlpValue): unknown =>
  stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;

const plainAttributes = (entries: readonly OtlpAttribute[]): Record<string, unknown> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, plainValue(value)]));

export class Collector implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** Headers of each export. */
  readonly headers: Readonly<Record<string, unknown>>[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Collector> {
    const server = createServer((request, response) => {
      json(request).then((body) => {
        collector.headers.push(request.headers);
        collector.take(body as OtlpExport);
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    const collector = new Collector(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private take({ resourceSpans }: OtlpExport): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(plainAttributes(resource.attributes)["service.name"]);
      for (const { spans } of scopeSpans)
        for (const { attributes, status, ...span } of spans)
          this.spans.push({ ...span, service, attributes: plainAttributes(attributes), status: status?.code ?? 0 });
    }
  }

  named(name: string): readonly ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** Names from the root of the trace to the span. */
  pathTo(span: ReceivedSpan): readonly string[] {
    const parent = this.spans.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);
    return parent ? [...this.pathTo(parent), span.name] : [span.name];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
