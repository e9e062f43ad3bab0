/**
 * A malicious server: as a Map Features Service, the map id selects the attack; as a file server, the file name does.
 */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

const feature = (id: unknown, properties: object = {}, geometry: object | null = null) => ({
  ...{ type: "Feature", id, geometry, properties },
});
const collection = (features: readonly unknown[]): string => JSON.stringify({ type: "FeatureCollection", features });
const fullPage = (id: (n: number) => unknown): string =>
  collection(Array.from({ length: 500 }, (_, n) => feature(id(n))));

const nestedArrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const pageWith = (member: string): string =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":null,"properties":{${member}}}]}`;

/** Zeros, compressed to a thousandth of their size. */
const gzipBomb = (bytes: number): Buffer => gzipSync(Buffer.alloc(bytes));

export interface MapRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Page of the map, from 1. */
  readonly page: number;
}

type HarmfulResponse = (asked: MapRequest) => void;

const jsonResponse =
  (text: string | Buffer, headers: Record<string, string> = {}): HarmfulResponse =>
  ({ response }) => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(text);
  };

/** Writes as long as the client reads. */
function writeForever(response: ServerResponse, piece: Buffer): void {
  const more = () => {
    if (!response.destroyed) response.write(piece, more);
  };
  more();
}

/** Writes a byte from time to time. */
const writeSlowly = (write: (text: string) => void, ended: (stop: () => void) => void, first = ""): void => {
  write(first);
  const timer = setInterval(() => write("a"), 20).unref();
  ended(() => clearInterval(timer));
};

const mebibyteBuffer = Buffer.alloc(1 << 20, "a");

/** Attacks by map id. */
export const maps: Readonly<Record<string, HarmfulResponse>> = {
  "deep-properties": jsonResponse(pageWith(`"a":${nestedArrays(200_000)}`)),
  "deep-page": jsonResponse(nestedArrays(200_000)),
  "deep-collections": jsonResponse(
    `{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","properties":{},"geometry":${'{"type":"GeometryCollection","geometries":['.repeat(100_000)}${"]}".repeat(100_000)}}]}`,
  ),
  "deep-coordinates": jsonResponse(
    `{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","properties":{},"geometry":{"type":"Polygon","coordinates":${nestedArrays(200_000)}}}]}`,
  ),
  "other-page-forever": ({ response, page }) =>
    jsonResponse(fullPage((n) => `${page}-${n}`))({ response } as MapRequest),
  "same-page-forever": jsonResponse(fullPage((n) => `x-${n}`)),
  "turned-page-forever": ({ response, page }) =>
    jsonResponse(fullPage((n) => `x-${(n + page) % 500}`))({ response } as MapRequest),
  "next-forever": jsonResponse(collection([feature("a")]), { link: '<?page=2>; rel="next"' }),
  "next-elsewhere": jsonResponse(collection([feature("a")]), { link: '<http://127.0.0.2:9/steal>; rel="next"' }),
  "too-many": jsonResponse(collection(Array.from({ length: 501 }, (_, n) => feature(`x-${n}`)))),
  "one-id-twice": jsonResponse(collection([feature("a"), feature("a")])),
  "id-a-number": jsonResponse(collection([feature(7)])),
  "id-a-list": jsonResponse(collection([feature(["a"])])),
  "no-number": jsonResponse(pageWith('"a":NaN')),
  infinity: jsonResponse(pageWith('"a":-Infinity')),
  latin1: jsonResponse(Buffer.from(pageWith('"a":"Z\xfcrich"'), "latin1")),
  "gzip-bomb": jsonResponse(gzipBomb(300 << 20), { "content-encoding": "gzip" }),
  "gzip-of-gzip": jsonResponse(Buffer.from("x"), { "content-encoding": Array(1000).fill("gzip").join(",") }),
  "endless-body": ({ response }) => writeForever(response.writeHead(200), mebibyteBuffer),
  "endless-refusal": ({ response }) => writeForever(response.writeHead(400), mebibyteBuffer),
  "endless-drip": ({ response }) =>
    writeSlowly(
      (text) => response.write(text),
      (stop) => response.once("close", stop),
      "{",
    ),
  "endless-head": ({ response }) => {
    const { socket } = response;
    socket!.write("HTTP/1.1 200 OK\r\n");
    const more = () => socket!.destroyed || socket!.write(`x: ${"a".repeat(1000)}\r\n`, more);
    more();
  },
  "endless-redirects": ({ request, response }) =>
    void response.writeHead(302, { location: `${request.url}&again` }).end(),
  "redirect-elsewhere": ({ response }) => void response.writeHead(302, { location: "http://127.0.0.2:9/" }).end(),
  "length-too-large": ({ response }) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write('{"type":', () => response.destroy());
  },
  "length-too-small": ({ response }) => {
    const body = collection([feature("a")]);
    response.socket!.end(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${body}`);
  },
  "two-lengths": ({ response }) =>
    void response.socket!.end(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\n{}{}`),
  silent: () => {},
};

/** Attacks by file name. */
export const files: Readonly<Record<string, HarmfulResponse>> = {
  "endless.geojson": ({ response }) => writeForever(response.writeHead(200), mebibyteBuffer),
  "bomb.geojson": jsonResponse(gzipBomb(64 << 20), { "content-encoding": "gzip" }),
  "drip.geojson": maps["endless-drip"]!,
  "head.geojson": maps["endless-head"]!,
  "round.geojson": ({ response }) => void response.writeHead(302, { location: "/files/round.geojson" }).end(),
  "short.geojson": maps["length-too-large"]!,
  "silent.geojson": () => {},
  "refused.geojson": ({ response }) => writeForever(response.writeHead(500), mebibyteBuffer),
};

const token = jsonResponse(
  JSON.stringify({ token_type: "Bearer", expires_in: 3600, access_token: "token-of-a-hostile-server" }),
);

export class HostileServer implements AsyncDisposable {
  /** Requested paths. */
  readonly asked: string[] = [];
  /** Number of features that the list of maps reports. */
  announced: number | null = null;
  /** Replaces the attacks of `maps` and `files`. */
  harm: HarmfulResponse | null = null;
  private readonly server = http.createServer((request, response) => this.answer(request, response));

  static async start(): Promise<HostileServer> {
    const hostile = new HostileServer();
    hostile.server.listen(0, "127.0.0.1");
    await once(hostile.server, "listening");
    return hostile;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const url = new URL(request.url!, this.url);
    this.asked.push(`${request.method} ${url.pathname}${url.search}`);
    const asked = { request, response, page: Number(url.searchParams.get("page") ?? 1) };
    const harm = this.harm ?? this.harmAt(url.pathname);
    if (harm) harm(asked);
    else response.writeHead(404).end();
  }

  private harmAt(path: string): HarmfulResponse | undefined {
    if (path === "/token") return token;
    if (path === "/api/v1/maps" && this.announced !== null) return this.list();
    const [, map] = /^\/api\/v1\/maps\/([\w-]+)\/features$/.exec(path) ?? [];
    const [, file] = /^\/files\/(.+)$/.exec(path) ?? [];
    return maps[map ?? ""] ?? files[file ?? ""];
  }

  private list(): HarmfulResponse {
    const about = { private: true, owner: { name: "a" }, features: this.announced, revision: 1, created: "2026-01-01" };
    return jsonResponse(JSON.stringify({ maps: Object.keys(maps).map((id) => ({ id, name: id, ...about })) }));
  }
}
