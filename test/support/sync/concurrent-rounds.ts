/** Rounds of concurrent pushes to one map: their sources, and the properties of the resulting map. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { canonicalFeature } from "../../../src/canonical/canonical-feature.js";
import type { WireFeature } from "../../../src/remote/wire.js";
import type { SyncRequest } from "../../../src/sync/request.js";
import { placesOfClient } from "./concurrent-pushes.js";
import type { Account, Place } from "./sync-fixture.js";
import { noGuards, runSyncInProcess, type SyncRunResult } from "./sync-runner.js";

/** A service for rounds. */
export interface RoundFixture {
  /** URLs that clients use in turn. */
  readonly urls: readonly string[];
  readonly as: Account;
  readonly folder: string;
  /** Decimals that the service stores. */
  readonly decimals: number;
  newMap(): Promise<string> | string;
  features(map: string): Promise<readonly Pick<WireFeature, "id" | "geometry" | "properties">[]>;
  fill(map: string, places: readonly Place[]): Promise<unknown>;
  source(places: readonly Place[]): string;
}

type Sources = readonly (readonly Place[])[];

/** Sources of the clients, by number of clients and of features per client. */
const overlaps: Readonly<Record<string, (clients: number, features: number) => Sources>> = {
  same: (clients, features) => {
    const places = placesOfClient(0, 0, features);
    return Array.from({ length: clients }, () => places);
  },
  /** Each source starts an eighth after the previous one; shared features are equal. */
  overlapping: (clients, features) => {
    const step = Math.ceil(features / 8);
    return Array.from({ length: clients }, (_, n) => placesOfClient(0, n * step, n * step + features));
  },
  /** Shared features differ. */
  differing: (clients, features) => {
    const step = Math.ceil(features / 8);
    return Array.from({ length: clients }, (_, n) => placesOfClient(n, n * step, n * step + features));
  },
};

export interface RoundKind {
  readonly sources: keyof typeof overlaps & string;
  readonly mode: "incremental" | "full";
  /** Performs a full push with creates, updates and deletes instead of one PUT. */
  readonly inParts?: boolean;
  /** The second half of the first source is on the map before, in another version or the same. */
  readonly before?: "other" | "same";
}

/** With conditional writes. */
export const roundsWithEntityTags: readonly RoundKind[] = [
  { sources: "same", mode: "incremental" },
  { sources: "differing", mode: "incremental" },
  { sources: "same", mode: "full" },
  { sources: "differing", mode: "full" },
  { sources: "overlapping", mode: "incremental", before: "other" },
  { sources: "same", mode: "full", inParts: true },
  { sources: "differing", mode: "full", inParts: true },
  { sources: "differing", mode: "full", inParts: true, before: "other" },
];

/** Without conditional writes and without updates. */
export const roundsWithoutEntityTags: readonly RoundKind[] = [
  { sources: "same", mode: "incremental" },
  { sources: "overlapping", mode: "incremental" },
  { sources: "same", mode: "full" },
  { sources: "differing", mode: "full" },
  { sources: "same", mode: "full", inParts: true },
  { sources: "same", mode: "incremental", before: "same" },
  { sources: "overlapping", mode: "incremental", before: "same" },
];

/** If contents differ, one of the clients must report an error. */
export const conflictsWithoutEntityTags: readonly RoundKind[] = [{ sources: "differing", mode: "incremental" }];

export interface RoundResult {
  readonly kind: RoundKind;
  readonly clients: number;
  readonly features: number;
  /** Result of each client. */
  readonly ends: readonly string[];
  /** Features that clients removed as duplicates of those of another client. */
  readonly twins: number;
  /** Violations on the map. */
  readonly wrong: readonly string[];
  readonly milliseconds: number;
}

export async function playRound(
  world: RoundFixture,
  kind: RoundKind,
  clients: number,
  random: () => number,
): Promise<RoundResult> {
  const features = 50 + Math.floor(random() * 751);
  const isInParts = kind.inParts === true;
  const inJob = (places: readonly Place[]) =>
    isInParts ? places.map((one) => ({ ...one, properties: { ...one.properties, job: "ours" } })) : places;
  const sources = overlaps[kind.sources]!(clients, features).map(inJob);
  const map = await world.newMap();
  // Shared by all sources, if there are at least five.
  const half = sources[0]!.slice(Math.ceil(features / 2));
  if (kind.before === "same") await world.fill(map, half);
  if (kind.before === "other")
    await world.fill(
      map,
      half.map((one) => ({ ...one, properties: { ...one.properties, title: "before" } })),
    );
  const request: Partial<SyncRequest> = {
    ...{ mode: kind.mode, guards: noGuards, conflictRetries: 20 },
    ...(isInParts && { scope: { property: "job", value: "ours" } }),
  };
  const began = Date.now();
  const driven = await Promise.all(
    sources.map(async (places, n): Promise<SyncRunResult> => {
      // Some start at the same time, some while others are running.
      await pause(random() < 0.5 ? 0 : random() * 150);
      return runSyncInProcess({
        ...{ url: world.urls[n % world.urls.length]!, as: world.as, map },
        ...{ folder: mkdtempSync(join(world.folder, "machine-")), source: world.source(places), request },
        traffic: { retries: 5, timeout: 60_000, firstRetryDelay: 20 },
      });
    }),
  );
  const milliseconds = Date.now() - began;
  return {
    ...{ kind, clients, features, milliseconds },
    ends: driven.map(({ end }) => end),
    twins: driven.reduce((sum, { report }) => sum + (report?.twins ?? 0), 0),
    wrong: findViolations(await world.features(map), sources, kind, world.decimals),
  };
}

type HeldPlace = Pick<Place, "geometry" | "properties">;

/**
 * Rules for concurrent writers: no duplicate keys, each feature equals that of a source, an incremental push loses
 * none; after full pushes the map equals one of the sources.
 */
function findViolations(held: readonly HeldPlace[], sources: Sources, { mode }: RoundKind, decimals: number): string[] {
  const text = ({ geometry, properties }: HeldPlace) =>
    canonicalFeature({ geometry, properties }, { degrees: decimals, metres: 3 });
  const said = new Map<unknown, Set<string>>();
  for (const places of sources)
    for (const one of places) said.set(one.properties.ref, (said.get(one.properties.ref) ?? new Set()).add(text(one)));
  const wrong: string[] = [];
  const seen = new Set<unknown>();
  for (const one of held) {
    const { ref } = one.properties;
    if (seen.has(ref)) wrong.push(`${ref} is there twice`);
    seen.add(ref);
    if (!said.get(ref)?.has(text(one))) wrong.push(`${ref} is what no source says`);
  }
  if (mode === "incremental") {
    for (const key of said.keys()) if (!seen.has(key)) wrong.push(`${key} is lost`);
  } else if (!sources.some((places) => isEqual(held.map(text), places.map(text))))
    wrong.push("the map is none of the sources");
  return wrong.length > 5 ? [...wrong.slice(0, 5), `and ${wrong.length - 5} more`] : wrong;
}

function isEqual(held: readonly string[], said: readonly string[]): boolean {
  const all = new Set(said);
  return held.length === all.size && held.every((one) => all.has(one));
}
