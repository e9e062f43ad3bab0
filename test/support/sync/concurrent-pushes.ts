/** Several clients on separate machines that push to one map concurrently. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { WireFeature } from "../../../src/remote/wire.js";
import type { SyncRequest } from "../../../src/sync/request.js";
import { type Account, createPlace, type Place } from "./sync-fixture.js";
import { noGuards, runSyncInProcess, type SyncRunResult } from "./sync-runner.js";

export interface ConcurrentPush {
  /** URLs of the service for the clients: its processes, or proxies in front of them. */
  readonly urls: readonly string[];
  readonly as: Account;
  /** For states, backups and sources. */
  readonly folder: string;
  readonly map: string;
  /** The source of each client. */
  readonly sources: readonly (readonly Place[])[];
  /** Writes a file with these features. @returns its path */
  readonly write: (places: readonly Place[]) => string;
  readonly request?: Partial<SyncRequest>;
}

/** Pushes concurrently, each client with its own state folder. */
export function pushConcurrently({
  urls,
  as,
  folder,
  map,
  sources,
  write,
  request,
}: ConcurrentPush): Promise<SyncRunResult[]> {
  return Promise.all(
    sources.map((places, n) =>
      runSyncInProcess({
        url: urls[n % urls.length]!,
        as,
        folder: mkdtempSync(join(folder, "machine-")),
        map,
        source: write(places),
        request: { guards: noGuards, ...request },
        traffic: { retries: 5, timeout: 60_000, firstRetryDelay: 20 },
      }),
    ),
  );
}

/** Features `from` to `to` in the version of client n. */
export const placesOfClient = (n: number, from: number, to: number): Place[] =>
  Array.from({ length: to - from }, (_, i) => createPlace(`k${from + i}`, { writer: n, title: `Place ${from + i}` }));

/**
 * Violations on a map after concurrent pushes: each feature of a source exists once; an incremental push loses none;
 * each feature equals that of a source.
 */
export function findViolations(
  held: readonly WireFeature[],
  sources: readonly (readonly Place[])[],
  mode: SyncRequest["mode"],
): string[] {
  const wrong: string[] = [];
  const said = new Map<unknown, Set<string>>();
  for (const places of sources)
    for (const { geometry, properties } of places)
      said.set(properties.ref, (said.get(properties.ref) ?? new Set()).add(JSON.stringify([geometry, properties])));
  const seen = new Set<unknown>();
  for (const { geometry, properties } of held) {
    if (seen.has(properties.ref)) wrong.push(`${properties.ref} is there twice`);
    seen.add(properties.ref);
    if (!said.get(properties.ref)?.has(JSON.stringify([geometry, properties])))
      wrong.push(`${properties.ref} is what no source says`);
  }
  if (mode === "incremental") {
    for (const key of said.keys()) if (!seen.has(key)) wrong.push(`${key} is lost`);
  } else if (!sources.some((places) => equals(held, places))) wrong.push("the map is none of the sources");
  return wrong.slice(0, 5);
}

const equals = (held: readonly WireFeature[], places: readonly Place[]): boolean => {
  const text = ({ geometry, properties }: Pick<Place, "geometry" | "properties">) =>
    JSON.stringify([geometry, properties]);
  const all = new Set(places.map(text));
  return held.length === places.length && held.every((one) => all.has(text(one)));
};
