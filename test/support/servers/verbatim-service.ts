/** A Map Features Service that keeps the digits of integers: it stores and returns what it gets, without entity tags. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface StoredFeature {
  readonly id?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Long integers are kept as texts with a mark. */
const readBody = (body: string): { readonly remoteField?: string; readonly features: readonly StoredFeature[] } =>
  JSON.parse(body.replace(/(?<=[:[,])-?\d{16,}(?=[,}\]])/g, '"#$&"'));
const withoutId = ({ id: _, ...rest }: StoredFeature) => rest;
const write = (value: unknown): string => JSON.stringify(value).replace(/"#(-?\d+)"/g, "$1");

export class VerbatimService implements AsyncDisposable {
  readonly account = { clientId: "verbatim", clientSecret: "secret" };
  readonly map = randomUUID();
  /** Writes received, as method and body. */
  readonly writes: { readonly method: string; readonly body: string }[] = [];
  private features: readonly StoredFeature[] = [];
  private readonly server = http.createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<VerbatimService> {
    const service = new VerbatimService();
    service.server.listen(0, "127.0.0.1");
    await once(service.server, "listening");
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Replaces the map by features given as JSON, and forgets the writes. */
  fill(...features: readonly string[]): void {
    ({ features: this.features } = readBody(`{"features":[${features.join(",")}]}`));
    this.writes.length = 0;
  }

  /** The JSON of all features. */
  get texts(): readonly string[] {
    return this.features.map(write);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const [path, method] = [request.url!.split("?")[0], request.method!];
    const body = await text(request);
    response.setHeader("content-type", "application/json");
    if (path === "/token") response.end('{"token_type":"Bearer","expires_in":3600,"access_token":"t"}');
    else if (path !== `/api/v1/maps/${this.map}/features`) response.writeHead(404).end("{}");
    else if (method === "GET") response.end(`{"type":"FeatureCollection","features":[${this.texts.join(",")}]}`);
    else {
      this.writes.push({ method, body });
      response.end(JSON.stringify({ success: this.write(method, body).map((id) => ({ id, message: "ok" })) }));
    }
  }

  /** @returns the ids of the features written */
  private write(method: string, body: string): readonly string[] {
    const { features, remoteField } = readBody(body);
    const held = features.map((feature) => ({
      ...{ type: "Feature", id: this.idOf(feature, remoteField) ?? randomUUID() },
      ...withoutId(feature),
    }));
    const byId = new Map(held.map((feature) => [feature.id, feature]));
    if (method === "DELETE") this.features = this.features.filter(({ id }) => !byId.has(id!));
    else if (method === "PATCH") this.features = this.features.map((feature) => byId.get(feature.id!) ?? feature);
    else this.features = method === "PUT" ? held : [...this.features, ...held];
    return held.map(({ id }) => id);
  }

  private idOf({ id, properties }: StoredFeature, remoteField: string | undefined): string | undefined {
    if (remoteField === undefined) return id;
    return this.features.find((feature) => feature.properties?.[remoteField] === properties?.[remoteField])?.id;
  }
}
