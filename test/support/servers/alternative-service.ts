/**
 * A second Map Features Service, written from the interface alone, that behaves differently from ours where the
 * interface is open: no PATCH, no ETag, always 200, six decimals, pages ordered by id, ids in capitals, failures
 * counted from 1, plain-text errors. A client that works with both relies only on the interface.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { AlternativeMap, type MapFeature, type SentFeature, type ServiceBehavior } from "./alternative-map.js";

const defaultBehavior: ServiceBehavior = {
  beyondLast: "empty",
  upsertBy: null,
  putAnswer: "sentence",
  bodyBytes: 1 << 20,
  titleLength: 255,
  entityTags: null,
};

/** An error response in plain text. */
class HttpError extends Error {
  constructor(
    readonly status: number,
    words: string,
  ) {
    super(words);
  }
}

/** The content of a body. */
interface WriteBody {
  readonly type?: unknown;
  readonly remoteField?: unknown;
  readonly features: readonly SentFeature[];
}

export class AlternativeService implements AsyncDisposable {
  readonly clientId = "odd-client";
  readonly clientSecret = "odd-secret";
  /** Received requests, as `METHOD path?query`. */
  readonly seen: string[] = [];
  private readonly tokens = new Set<string>();
  private readonly maps = new Map<string, AlternativeMap>();
  private readonly server = http.createServer((request, response) => void this.answer(request, response));

  private constructor(private readonly manners: ServiceBehavior) {}

  static async start(manners: Partial<ServiceBehavior> = {}): Promise<AlternativeService> {
    const service = new AlternativeService({ ...defaultBehavior, ...manners });
    service.server.listen(0, "127.0.0.1");
    await once(service.server, "listening");
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** @returns the id of an empty map, of the credential's account or of another one */
  newMap(isOwn = true): string {
    const id = randomUUID();
    this.maps.set(id, new AlternativeMap(this.manners, isOwn));
    return id;
  }

  featuresOf(map: string): readonly MapFeature[] {
    return this.maps.get(map)!.all();
  }

  /** Adds features to a map like another client. */
  fill(map: string, features: readonly SentFeature[]): void {
    this.maps.get(map)!.create(features);
  }

  /** Deletes features of a map like another client. */
  remove(map: string, ids: readonly string[]): void {
    this.maps.get(map)!.remove(
      ids.map((id) => ({ id })),
      null,
    );
  }

  /** Invalidates all tokens issued so far. */
  expireTokens(): void {
    this.tokens.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    this.seen.push(`${request.method} ${request.url}`);
    try {
      const answered = this.respond(request, await text(request));
      const isText = typeof answered === "string";
      const tag = this.entityTag(request);
      const contentType = isText ? "text/plain" : "application/json; charset=utf-8";
      response.writeHead(200, { "content-type": contentType, ...(tag !== null && { etag: tag }) });
      response.end(isText ? answered : JSON.stringify(answered));
    } catch (error) {
      const status = error instanceof HttpError ? error.status : 500;
      response.writeHead(status, { "content-type": "text/plain" }).end(`${(error as Error).message}\n`);
    }
  }

  private respond(request: http.IncomingMessage, body: string): object | string {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const method = request.method!;
    const type = request.headers["content-type"];
    if (pathname === "/token") return this.token(method, type, new URLSearchParams(body));
    if (!this.tokens.has(request.headers.authorization ?? "")) throw new HttpError(401, "who are you?");
    const map = this.mapOf(pathname);
    if (!map || method === "PATCH") throw new HttpError(404, "nothing here");
    if (method === "GET") return this.page(map, Number(searchParams.get("page") ?? 1), searchParams.get("per_page"));
    if (!map.isOwn) throw new HttpError(403, "this map is not yours");
    const condition = request.headers["if-match"];
    const { entityTags } = this.manners;
    const tags = [tagOf(map), tagOf(map, entityTags?.suffix)] as const;
    if (entityTags && condition !== undefined && !entityTags.matches(condition, ...tags))
      throw new HttpError(412, "the map has changed");
    const result = this.write(method, map, this.parsed(type, body));
    map.version++;
    return result;
  }

  private mapOf(pathname: string): AlternativeMap | undefined {
    const id = /^\/api\/v1\/maps\/([^/]+)\/features$/.exec(pathname)?.[1];
    return id === undefined ? undefined : this.maps.get(id);
  }

  /** Tag for the response to a request, after its effect. */
  private entityTag({ method, url }: http.IncomingMessage): string | null {
    const map = this.mapOf(new URL(url!, this.url).pathname);
    const { entityTags } = this.manners;
    return map && entityTags ? tagOf(map, method === "GET" ? entityTags.suffix : "") : null;
  }

  /** Section 4.1; the response has only the members of 2.5. */
  private token(method: string, type: string | undefined, form: URLSearchParams): object {
    if (method !== "POST" || type?.split(";")[0] !== "application/x-www-form-urlencoded")
      throw new HttpError(400, "POST a form");
    if (form.get("grant_type") !== "client_credentials_with_user") throw new HttpError(400, "no such grant");
    if (form.get("client_id") !== this.clientId || form.get("client_secret") !== this.clientSecret)
      throw new HttpError(401, "unknown client");
    const token = randomUUID();
    this.tokens.add(`Bearer ${token}`);
    return { token_type: "Bearer", expires_in: 3600, access_token: token };
  }

  /** Section 4.2. Larger page sizes are reduced to the maximum. */
  private page(map: AlternativeMap, page: number, asked: string | null): object {
    const size = Math.min(500, Number(asked ?? 200));
    const features = map.all().slice((page - 1) * size, page * size);
    if (features.length === 0 && page > 1 && this.manners.beyondLast === 404) throw new HttpError(404, "no such page");
    return { features: features.map((feature) => ({ ...feature, type: "Feature" })), type: "FeatureCollection" };
  }

  private parsed(type: string | undefined, body: string): WriteBody {
    if (type !== "application/json") throw new HttpError(415, "JSON, please");
    if (Buffer.byteLength(body) > this.manners.bodyBytes) throw new HttpError(413, "too much at once");
    const sent = parseJson(body) as Partial<WriteBody>;
    const { features } = sent;
    if (!Array.isArray(features) || features.length > 1000)
      throw new HttpError(400, "features: an array of at most 1000");
    return { ...sent, features };
  }

  private write(method: string, map: AlternativeMap, sent: WriteBody): object | string {
    const { features } = sent;
    if (method === "POST") {
      // Section 4.3: an object with `features` only, without ids.
      if (Object.keys(sent).length > 1 || features.some((feature) => "id" in feature))
        throw new HttpError(400, "features alone, without ids");
      return map.create(features);
    }
    if (method === "DELETE")
      return map.remove(features, sent.remoteField === undefined && sent.type === undefined ? null : remoteField(sent));
    if (method !== "PUT") throw new HttpError(405, "not that");
    const result = map.synchronise(features, remoteField(sent));
    return this.manners.putAnswer === "result" ? result : `The map has ${map.size} features now.`;
  }
}

const tagOf = ({ version }: AlternativeMap, suffix = ""): string => `"${version}${suffix}"`;

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new HttpError(400, "this is not JSON");
  }
}

function remoteField({ type, remoteField: name }: WriteBody): string | null {
  if (type !== "FeatureCollection") throw new HttpError(400, "type: FeatureCollection");
  if (name === undefined || typeof name === "string") return name ?? null;
  throw new HttpError(400, "remoteField: a name");
}
