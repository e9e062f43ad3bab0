/** What can happen between a client and a service; see fault-proxy.ts. */
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

/** The service never hears of it. */
export const cutBeforeRequest = createFault("cut before the request", async () => {
  throw new ConnectionCut();
});

/** The service gets half of the body, which it cannot use. */
export const cutInRequest = createFault("cut in the request", async (request, upstream) => {
  await upstream.sendHalf(request);
  throw new ConnectionCut();
});

/** The service has done it, and the client does not hear of it. */
export const cutAfterCommit = createFault("cut after the commit", async (request, upstream) => {
  await upstream.send(request);
  throw new ConnectionCut();
});

/** The service has done it, and the client gets half of the answer. */
export const cutInAnswer = createFault("cut in the answer", async (request, upstream) => {
  throw new ConnectionCut(await upstream.send(request));
});

/** The client's connection is cut; the service does it all the same, after the map was read the next time. */
export const delayedCommit = createFault("done late", async (request, upstream) => {
  upstream.sendLater(request);
  throw new ConnectionCut();
});

/** The answer is a whole message, of which the JSON text ends in its middle. */
export const truncatedBody = createFault("torn answer", async (request, upstream) => {
  const answer = await upstream.send(request);
  return { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) };
});

export const delayedBy = (milliseconds: number): ProxyFault =>
  createFault("delayed", async (request, upstream) => {
    await sleep(milliseconds);
    return upstream.send(request);
  });

const htmlResponse = (status: number, headers: ProxiedResponse["headers"] = {}): ProxiedResponse => ({
  status,
  headers: { "content-type": "text/html", ...headers },
  body: Buffer.from(`<html><body>${status}</body></html>`),
});

/** Something in front of the service answers for it, which never hears of it: 429, 503 … @param retryAfter seconds */
export const respondBeforeCommit = (status: number, retryAfter?: number): ProxyFault =>
  createFault(`${status} before the commit`, async () =>
    htmlResponse(status, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  );

/** The service has done it, and something in front of it says that it failed. */
export const respondAfterCommit = (status: number): ProxyFault =>
  createFault(`${status} after the commit`, async (request, upstream) => {
    await upstream.send(request);
    return htmlResponse(status);
  });

/** The token that comes with the request is good no more. */
export const expiredTokenFault = createFault("token expires", async (request, upstream) => {
  upstream.expire(request.headers.authorization);
  return upstream.send(request);
});

/** Somebody else does something before the service gets the request, or before the client gets the answer. */
export const concurrentWriter = (when: "before" | "after", act: () => Promise<unknown>): ProxyFault =>
  createFault(`another writer ${when}`, async (request, upstream) => {
    if (when === "before") await act();
    const answer = await upstream.send(request);
    if (when === "after") await act();
    return answer;
  });

/** Neither the service nor the client sees these headers; names in lower case. */
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

/** Changes the JSON of answers that have some. */
function changeResponse(name: string, change: (shown: ResponseJson) => object): ProxyFault {
  return createFault(name, async (request, upstream) => {
    const answer = await upstream.send(request);
    if (answer.status >= 300 || request.method === "token") return answer;
    return { ...answer, body: Buffer.from(JSON.stringify(change(JSON.parse(answer.body.toString()) as ResponseJson))) };
  });
}

/** Those that succeeded are told in another order than they were sent. */
export const shuffledSuccess = changeResponse("answers in another order", (shown) =>
  shown.success ? { ...shown, success: shown.success.toReversed() } : shown,
);

/** The service shows so many decimals of each coordinate. */
export const roundedTo = (decimals: number): ProxyFault =>
  changeResponse(`${decimals} decimals`, (shown) =>
    shown.features
      ? {
          ...shown,
          features: shown.features.map((one) => ({ ...one, geometry: roundedCoordinates(one.geometry, decimals) })),
        }
      : shown,
  );

/** The service offers no PATCH. */
export const rejectPatch = (status: 404 | 405 | 501): ProxyFault =>
  createFault(`PATCH gets ${status}`, async (request, upstream) =>
    request.method === "PATCH" ? htmlResponse(status) : upstream.send(request),
  );

interface Patch {
  readonly remoteField?: string;
  readonly features: readonly { readonly id?: string; geometry?: Geometry | null; properties?: Properties }[];
}

/** Changes what a PATCH says by what the map has, so that our service does what another one would. */
function changePatch(name: string, change: (sent: Patch["features"][number], held: WireFeature) => object): ProxyFault {
  return createFault(name, async (request, upstream) => {
    if (request.method !== "PATCH") return upstream.send(request);
    const patch = JSON.parse(request.body.toString()) as Patch;
    const all = await featuresOf(request, upstream);
    // Whoever may not read may not write.
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

/** PATCH puts what is sent in the place of all that the feature had. */
export const replacingPatch = changePatch("PATCH replaces", ({ geometry = null, properties = {}, ...sent }, held) => {
  const gone = Object.keys(held.properties).filter((name) => !Object.hasOwn(properties, name));
  return { ...sent, geometry, properties: { ...properties, ...Object.fromEntries(gone.map((name) => [name, null])) } };
});

/** PATCH puts the members of objects within properties together, too. */
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

/** What may happen to any request, and pass. */
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
 * Something happens to this share of the requests, told by the seed, the method and the count of its requests: the same
 * for the same seed, in whatever order requests of several methods come.
 */
export function atRandom(seed: number, share: number, faults: readonly ProxyFault[] = transientFaults): FaultChooser {
  return ({ method }, nth) => {
    const random = createRandom(seed + Math.imul(nth, 0x9e3779b1) + Math.imul(methods.indexOf(method), 0x85ebca6b));
    return random() < share ? faults[Math.floor(random() * faults.length)]! : null;
  };
}
const methods = ["token", "GET", "POST", "PUT", "PATCH", "DELETE"];
