/**
 * A map of the alternative service: the effects of writes on its features (Map Features Service Interface, 4.3 – 4.6).
 */
import { randomUUID } from "node:crypto";
import type { Geometry } from "../../../src/model/geometry.js";
import { nilId, type Properties, type RemoteKey } from "../../../src/remote/wire.js";
import { roundedCoordinates } from "../formats/rounded-coordinates.js";

/** Behavior that the interface leaves open. */
export interface ServiceBehavior {
  /** Response to a page after the last one. */
  readonly beyondLast: "empty" | 404;
  /** POST updates features with the same value of this property; null: it always creates. */
  readonly upsertBy: string | null;
  /** Whether PUT responds with results per feature, or with a sentence. */
  readonly putAnswer: "result" | "sentence";
  /** Larger bodies get 413. */
  readonly bodyBytes: number;
  /** Features with a longer `title` fail. */
  readonly titleLength: number;
  /** Entity tags of the map; null: none. */
  readonly entityTags: EntityTags | null;
}

/** How a service names and compares the state of a map in `ETag` and `If-Match`. */
export interface EntityTags {
  /** Suffix of the tag of a page, as for compressed responses (RFC 9110, 8.8.3.3). */
  readonly suffix: string;
  /** Whether a write may be done: the values of If-Match, and the tags of the map with and without the suffix. */
  readonly matches: (header: string, tag: string, suffixed: string) => boolean;
}

export interface MapFeature {
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** A feature in a body, before validation. */
export interface SentFeature {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly geometry?: Geometry | null;
  readonly properties?: Properties;
}
type GoodFeature = SentFeature & { readonly geometry: Geometry | null; readonly properties: Properties };

/** Result of a write: empty arrays are omitted. */
class WriteResult {
  private readonly success: { readonly id: string; readonly message: string }[] = [];
  private readonly failed: { readonly id: string; readonly path: string; readonly message: string }[] = [];

  done(id: string, message: string): void {
    // In reverse order: positions in the result have no meaning.
    this.success.unshift({ id, message });
  }

  /** @param index from 0; reported from 1 */
  refuse(index: number, field: string, message: string): void {
    const id = index % 2 === 0 ? nilId : randomUUID();
    this.failed.push({ id, path: `${index + 1}/${field}`, message });
  }

  toJSON(): object {
    const { success, failed } = this;
    return { ...(failed.length > 0 && { failed }), ...(success.length > 0 && { success }) };
  }
}

export class AlternativeMap {
  private readonly features = new Map<string, MapFeature>();
  /** Number of writes. */
  version = 0;

  constructor(
    private readonly manners: ServiceBehavior,
    /** Whether the map belongs to the account of the credential. */
    readonly isOwn: boolean,
  ) {}

  get size(): number {
    return this.features.size;
  }

  /** By id, so that a new feature may appear on any page. */
  all(): readonly MapFeature[] {
    return [...this.features.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  create(features: readonly SentFeature[]): object {
    const { upsertBy } = this.manners;
    const result = new WriteResult();
    for (const [index, feature] of features.entries()) {
      if (!this.isGood(feature, index, result)) continue;
      const there = upsertBy === null ? undefined : this.withValue(upsertBy, feature.properties[upsertBy])[0];
      const id = this.store(feature, there?.id);
      result.done(id, there ? "Feature replaced." : "Feature successfully created.");
    }
    return result;
  }

  /** Failed features count as part of the request, so that they are not deleted. */
  synchronise(features: readonly SentFeature[], remoteField: string | null): object {
    const result = new WriteResult();
    const kept = new Set<string>();
    for (const [index, feature] of features.entries()) {
      const there = this.matching(feature, remoteField)[0];
      if (there) kept.add(there.id);
      if (!this.isGood(feature, index, result)) continue;
      const id = this.store(feature, there?.id);
      kept.add(id);
      result.done(id, "ok");
    }
    for (const id of this.features.keys()) if (!kept.has(id)) this.features.delete(id);
    return result;
  }

  /** Ignores missing features. */
  remove(features: readonly SentFeature[], remoteField: string | null): object {
    const result = new WriteResult();
    for (const { id } of features.flatMap((feature) => this.matching(feature, remoteField))) {
      this.features.delete(id);
      result.done(id, "gone");
    }
    return result;
  }

  private isGood(feature: SentFeature, index: number, result: WriteResult): feature is GoodFeature {
    const { type, geometry, properties } = feature;
    const title = properties?.title;
    if (type !== "Feature") result.refuse(index, "type", "not a Feature");
    else if (geometry === undefined) result.refuse(index, "geometry", "missing");
    else if (properties === undefined) result.refuse(index, "properties", "missing");
    else if (typeof title === "string" && title.length > this.manners.titleLength)
      result.refuse(index, "title", "the title is too long");
    else return true;
    return false;
  }

  /** @returns the id of the stored feature; a new one if it did not exist */
  private store({ geometry, properties }: GoodFeature, there: string | undefined): string {
    const id = there ?? randomUUID().toUpperCase();
    const reversed = Object.fromEntries(Object.entries(properties).reverse());
    this.features.set(id, { id, geometry: roundedCoordinates(geometry, 6), properties: reversed });
    return id;
  }

  private matching(feature: SentFeature, remoteField: string | null): MapFeature[] {
    if (remoteField !== null) return this.withValue(remoteField, feature.properties?.[remoteField] as RemoteKey);
    const there = typeof feature.id === "string" ? this.features.get(feature.id) : undefined;
    return there ? [there] : [];
  }

  private withValue(name: string, value: unknown): MapFeature[] {
    if (value === undefined) return [];
    return [...this.features.values()].filter(({ properties }) => properties[name] === value);
  }
}
