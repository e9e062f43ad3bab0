/** Faults between a client and a service, for fault-proxy.ts. */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Geometry } from "../../../src/model/geometry.js";
import type { Properties, WireFeature } from "../../../src/remote/wire.js";
import { roundedCoordinates } from "../formats/rounded-coordinates.js";
import { createRandom } from "../random.js";
import {
  ConnectionCut,
  type FaultChooser,
  type ProxiedRequest,
  type ProxiedResponse,
  type ProxyFault,
  type Upstream,
} from "./fault-proxy.js";

const createFault = (name: string, around: ProxyFault["around"]): ProxyFault => ({ name, around });

/** Reads get the first response to the same request, as from a copy of the map that lags behind, until it is up to date. */
export class LateCopy {
  isLate = true;
  private readonly seen = new Map<string, ProxiedResponse>();

  readonly fault = createFault("lags behind", async (request, upstream) => {
    const answer = this.seen.get(request.path) ?? (await upstream.send(request));
    this.seen.set(request.path, answer);
    return answer;
  });

  /** The copy answers the reads of a proxy. */
  readonly choose: FaultChooser = ({ method }) => (method === "GET" && this.isLate ? this.fault : null);
}

/** The process is interrupted (SIGINT, as Ctrl+C) before the service receives the request. */
export const interrupting = (process: Pick<ChildProcess, "kill">): ProxyFault =>
  createFault("interrupted", async (request, upstream) => {
    process.kill("SIGINT");
    // The process receives the signal before the response.
    await sleep(500);
    return upstream.send(request);
  });

/** The service does not receive the request. */
export const cutBeforeRequest = createFault("cut before the request", async () => {
  throw new ConnectionCut();
});

/** The service receives half of the body. */
export const cutInRequest = createFault("cut in the request", async (request, upstream) => {
  await upstream.sendHalf(request);
  throw new ConnectionCut();
});

/** The service applies the request, and the client receives no response. */
export const cutAfterCommit = createFault("cut after the commit", async (request, upstream) => {
  await upstream.send(request);
  throw new ConnectionCut();
});

/** The service applies the request, and the client receives half of the response. */
export const cutInAnswer = createFault("cut in the answer", async (request, upstream) => {
  throw new ConnectionCut(await upstream.send(request));
});

/** The client's connection is closed; the service applies the request after the map was read the next time. */
export const delayedCommit = createFault("done late", async (request, upstream) => {
  upstream.sendLater(request);
  throw new ConnectionCut();
});

/** The response is a complete message with truncated JSON. */
export const truncatedBody = createFault("torn answer", async (request, upstream) => {
  const answer = await upstream.send(request);
  return { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) };
});

export const delayedBy = (milliseconds: number): ProxyFault =>
  createFault("delayed", async (request, upstream) => {
    await sleep(milliseconds);
    return upstream.send(request);
  });

/** The service receives the request once this has happened. */
export const delayedUntil = (released: Promise<unknown>): ProxyFault =>
  createFault("delayed", async (request, upstream) => {
    await released;
    return upstream.send(request);
  });

const htmlResponse = (status: number, headers: ProxiedResponse["headers"] = {}): ProxiedResponse => ({
  status,
  headers: { "content-type": "text/html", ...headers },
  body: Buffer.from(`<html><body>${status}</body></html>`),
});

/** A proxy responds, and the service does not receive the request: 429, 503 … @param retryAfter seconds */
export const respondBeforeCommit = (status: number, retryAfter?: number): ProxyFault =>
  createFault(`${status} before the commit`, async () =>
    htmlResponse(status, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  );

/** The service applies the request, and a proxy reports a failure. */
export const respondAfterCommit = (status: number): ProxyFault =>
  createFault(`${status} after the commit`, async (request, upstream) => {
    await upstream.send(request);
    return htmlResponse(status);
  });

/** The token of the request expires. */
export const expiredTokenFault = createFault("token expires", async (request, upstream) => {
  upstream.expire(request.headers.authorization);
  return upstream.send(request);
});

/** Another client acts before the service receives the request, or before the client receives the response. */
export const concurrentWriter = (when: "before" | "after", act: () => Promise<unknown>): ProxyFault =>
  createFault(`another writer ${when}`, async (request, upstream) => {
    if (when === "before") await act();
    const answer = await upstream.send(request);
    if (when === "after") await act();
    return answer;
  });

/** Removes headers from requests and responses; names in lower case. */
export const withoutHeaders = (...names: readonly string[]): ProxyFault =>
  createFault(`without ${names.join(", ")}`, async (request, upstream) => {
    const answer = await upstream.send({ ...request, headers: removeHeaders(request.headers, names) });
    return { ...answer, headers: removeHeaders(answer.headers, names) };
  });

const removeHeaders = (headers: ProxiedResponse["headers"], names: readonly string[]): ProxiedResponse["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

interface ResponseJson {
  readonly features?: readonly WireFeature[];
  readonly success?: readonly unknown[];
}

/** Changes the JSON of successful responses. */
function changeResponse(name: string, change: (shown: ResponseJson) => object): ProxyFault {
  return createFault(name, async (request, upstream) => {
    const answer = await upstream.send(request);
    if (answer.status >= 300 || request.method === "token") return answer;
    return { ...answer, body: Buffer.from(JSON.stringify(change(JSON.parse(answer.body.toString()) as ResponseJson))) };
  });
}

/** Successes are reported in another order than in the request. */
export const shuffledSuccess = changeResponse("answers in another order", (shown) =>
  shown.success ? { ...shown, success: shown.success.toReversed() } : shown,
);

/** The service returns coordinates with this many decimals. */
export const roundedTo = (decimals: number): ProxyFault =>
  changeResponse(`${decimals} decimals`, (shown) =>
    shown.features
      ? {
          ...shown,
          features: shown.features.map((one) => ({ ...one, geometry: roundedCoordinates(one.geometry, decimals) })),
        }
      : shown,
  );

/** The service does not support PATCH. */
export const rejectPatch = (status: 404 | 405 | 501): ProxyFault =>
  createFault(`PATCH gets ${status}`, async (request, upstream) =>
    request.method === "PATCH" ? htmlResponse(status) : upstream.send(request),
  );

interface Patch {
  readonly remoteField?: string;
  readonly features: readonly { readonly id?: string; geometry?: Geometry | null; properties?: Properties }[];
}

/** Changes a PATCH depending on the stored features, so that our service behaves like another one. */
function changePatch(name: string, change: (sent: Patch["features"][number], held: WireFeature) => object): ProxyFault {
  return createFault(name, async (request, upstream) => {
    if (request.method !== "PATCH") return upstream.send(request);
    const patch = JSON.parse(request.body.toString()) as Patch;
    const all = await featuresOf(request, upstream);
    // Without read access there is no write access.
    if (all === null) return upstream.send(request);
    const { remoteField } = patch;
    const features = patch.features.map((sent) => {
      const key = remoteField === undefined ? undefined : sent.properties?.[remoteField];
      const held = all.find(({ id, properties }) =>
        remoteField === undefined ? id === sent.id : isDeepStrictEqual(properties[remoteField], key),
      );
      return held ? change(sent, held) : sent;
    });
    return upstream.send({ ...request, body: Buffer.from(JSON.stringify({ ...patch, features })) });
  });
}

async function featuresOf({ path, headers }: ProxiedRequest, { send }: Upstream): Promise<WireFeature[] | null> {
  const all: WireFeature[] = [];
  for (let page = 1; ; page++) {
    const query = `?page=${page}&per_page=500`;
    const asked = { method: "GET", path: path + query, headers: { authorization: headers.authorization } };
    const answer = await send({ ...asked, body: Buffer.alloc(0) });
    if (answer.status >= 300) return null;
    const { features } = JSON.parse(answer.body.toString()) as { readonly features: readonly WireFeature[] };
    all.push(...features);
    if (features.length < 500) return all;
  }
}

/** PATCH replaces the whole feature. */
export const replacingPatch = changePatch("PATCH replaces", ({ geometry = null, properties = {}, ...sent }, held) => {
  const gone = Object.keys(held.properties).filter((name) => !Object.hasOwn(properties, name));
  return { ...sent, geometry, properties: { ...properties, ...Object.fromEntries(gone.map((name) => [name, null])) } };
});

/** PATCH merges nested objects, too. */
export const deepPatch = changePatch("PATCH merges deeply", ({ properties = {}, ...sent }, held) => ({
  ...sent,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, deepMerge(held.properties[name], value)]),
  ),
}));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function deepMerge(held: unknown, sent: unknown): unknown {
  if (!isObject(held) || !isObject(sent)) return sent;
  const names = [...new Set([...Object.keys(held), ...Object.keys(sent)])];
  return Object.fromEntries(
    names.map((name) => [name, Object.hasOwn(sent, name) ? deepMerge(held[name], sent[name]) : held[name]]),
  );
}

/** Faults that can affect any request and are temporary. */
export const transientFaults: readonly ProxyFault[] = [
  cutBeforeRequest,
  cutInRequest,
  cutAfterCommit,
  cutInAnswer,
  delayedCommit,
  truncatedBody,
  delayedBy(3),
  respondBeforeCommit(429),
  respondBeforeCommit(429, 0),
  ...[500, 502, 503].flatMap((status) => [respondBeforeCommit(status), respondAfterCommit(status)]),
  expiredTokenFault,
];

/**
 * Applies random faults to this share of the requests. The choice depends on the seed, the method and the number of its
 * requests, and so not on the order of requests of different methods.
 */
export function atRandom(seed: number, share: number, faults: readonly ProxyFault[] = transientFaults): FaultChooser {
  return ({ method }, nth) => {
    const random = createRandom(seed + Math.imul(nth, 0x9e3779b1) + Math.imul(methods.indexOf(method), 0x85ebca6b));
    return random() < share ? faults[Math.floor(random() * faults.length)]! : null;
  };
}
const methods = ["token", "GET", "POST", "PUT", "PATCH", "DELETE"];

/** A feature in a write, as far as faults need it. */
type SentFeature = Partial<Pick<WireFeature, "id" | "geometry" | "properties">>;

/**
 * The service reports every feature of the request as done, but receives others: those that `change` returns.
 * @param change returns a feature to store in place of each sent one, or none
 */
export const pretending = (change: (sent: SentFeature, index: number) => readonly SentFeature[]): ProxyFault =>
  createFault("reports what it does not do", async (request, upstream) => {
    const { features, ...body } = JSON.parse(request.body.toString()) as { features: readonly SentFeature[] };
    const stored = features.flatMap(change);
    const answer =
      stored.length > 0
        ? await upstream.send({ ...request, body: Buffer.from(JSON.stringify({ ...body, features: stored })) })
        : await upstream.send({ ...request, method: "GET", path: `${request.path}?page=1`, body: Buffer.alloc(0) });
    const success = features.map(({ id = randomUUID() }) => ({ id, message: "ok" }));
    return { ...answer, status: 200, body: Buffer.from(JSON.stringify({ success })) };
  });
