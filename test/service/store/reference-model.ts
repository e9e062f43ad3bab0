/**
 * A reference model of a map as a list of plain objects, written from the rules of the service alone and independent of
 * the stores.
 */
import type { WriteKind } from "../../../src/service/store/contract.js";

export type Properties = Readonly<Record<string, unknown>>;

export interface ModelFeature {
  id: string;
  geometry: unknown;
  properties: Properties;
}

export interface ModelItem {
  readonly id: string | null;
  readonly geometry?: unknown;
  readonly properties?: Properties;
  readonly bad: boolean;
}

export interface ModelRequest {
  readonly kind: WriteKind;
  readonly remoteField: string | null;
  readonly items: readonly ModelItem[];
  readonly strict: boolean;
  /** How many revisions the required version is behind; null for none. */
  readonly behind: number | null;
}

/** Result of an item. An id that the service assigns is empty until it is known. */
export type ItemResult =
  | { readonly what: "created" | "updated"; readonly id: string }
  | { readonly what: "deleted"; readonly ids: readonly string[] }
  | { readonly what: "failed"; readonly id: string };

export type ModelOutcome =
  | { readonly kind: "done"; readonly fates: readonly ItemResult[]; readonly deleted: number }
  | { readonly kind: "refused"; readonly fates: readonly ItemResult[] }
  | { readonly kind: "other-version" };

const nil = "00000000-0000-0000-0000-000000000000";

function readModelKey(properties: Properties | undefined, name: string): string | null {
  const found = Object.entries(properties ?? {}).find(([key]) => key === name);
  if (!found) return null;
  const [, value] = found;
  if (typeof value === "string" && value.length > 0) return `text ${value}`;
  if (typeof value === "number" && Math.floor(value) === value && Math.abs(value) < 2 ** 53)
    return `number ${value + 0}`;
  return null;
}

export class ModelMap {
  features: ModelFeature[] = [];
  revision = 0;

  private named(item: ModelItem, request: ModelRequest): ModelFeature[] {
    if (request.kind === "create") return [];
    const { remoteField } = request;
    if (remoteField === null) return this.features.filter(({ id }) => id === item.id);
    const key = readModelKey(item.properties, remoteField);
    return this.features.filter(({ properties }) => readModelKey(properties, remoteField) === key);
  }

  private isRepeated(item: ModelItem, { kind, remoteField, items }: ModelRequest): boolean {
    if (kind === "create") return false;
    const name = (one: ModelItem) => (remoteField === null ? one.id : readModelKey(one.properties, remoteField));
    return name(item) !== null && items.filter((one) => name(one) === name(item)).length > 1;
  }

  private fateOf(item: ModelItem, request: ModelRequest, newIds: Set<string>): ItemResult {
    const { kind } = request;
    const named = this.named(item, request);
    const failed: ItemResult = { what: "failed", id: named[0]?.id ?? item.id ?? nil };
    if (item.bad || (kind !== "delete" && this.isRepeated(item, request))) return failed;
    if (named.length === 0 && (kind === "update" || kind === "delete")) return failed;
    if (named.length > 1 && (kind === "update" || kind === "upsert")) return failed;
    if (kind === "delete") return { what: "deleted", ids: named.map(({ id }) => id) };
    if (named[0]) return { what: "updated", id: named[0].id };
    const wanted = kind === "synchronize" ? item.id : null;
    if (wanted === null || newIds.has(wanted) || this.features.some(({ id }) => id === wanted)) {
      return { what: "created", id: "" };
    }
    newIds.add(wanted);
    return { what: "created", id: wanted };
  }

  /** @param idOf the id that the service assigned to the new feature at an index of the request */
  write(request: ModelRequest, idOf: (index: number) => string): ModelOutcome {
    if (request.behind !== null && request.behind > 0) return { kind: "other-version" };
    const newIds = new Set<string>();
    const gone = new Set<string>();
    const fates = request.items.map((item): ItemResult => {
      const fate = this.fateOf(item, request, newIds);
      if (fate.what !== "deleted") return fate;
      // A feature that several items identify is deleted by the first.
      const ids = fate.ids.filter((id) => !gone.has(id));
      for (const id of ids) gone.add(id);
      return { what: "deleted", ids };
    });
    const failing = fates.filter(({ what }) => what === "failed").length;
    if (request.strict && failing > 0) return { kind: "refused", fates };
    if (failing > 0 && failing === fates.length) return { kind: "done", fates, deleted: 0 };

    const before = JSON.stringify(this.features);
    let deleted = 0;
    if (request.kind === "synchronize") {
      const stays = new Set<string>();
      request.items.forEach((item, i) => {
        const fate = fates[i]!;
        if (fate.what === "updated") stays.add(fate.id);
        if (fate.what === "failed") for (const { id } of this.named(item, request)) stays.add(id);
      });
      const left = this.features.filter(({ id }) => stays.has(id));
      deleted = this.features.length - left.length;
      this.features = left;
    }
    request.items.forEach((item, i) => {
      this.apply(item, fates[i]!, request.kind, idOf(i));
    });
    if (JSON.stringify(this.features) !== before) this.revision++;
    return { kind: "done", fates, deleted };
  }

  private apply(item: ModelItem, fate: ItemResult, kind: WriteKind, chosen: string): void {
    if (fate.what === "created") {
      const { geometry = null, properties = {} } = item;
      this.features.push({ id: fate.id || chosen, geometry, properties });
    }
    if (fate.what === "deleted") this.features = this.features.filter(({ id }) => !fate.ids.includes(id));
    if (fate.what !== "updated") return;
    const feature = this.features.find(({ id }) => id === fate.id)!;
    if (item.geometry !== undefined) feature.geometry = item.geometry;
    if (item.properties === undefined) return;
    if (kind !== "update") {
      feature.properties = item.properties;
      return;
    }
    const { properties: stored } = feature;
    const changes = item.properties;
    const has = (one: Properties, name: string) => Object.keys(one).includes(name);
    const left = Object.entries(stored).filter(([name]) => !has(changes, name) || changes[name] !== null);
    const added = Object.entries(changes).filter(([name, value]) => !has(stored, name) && value !== null);
    const replaced = left.map(([name, value]): [string, unknown] => [name, has(changes, name) ? changes[name] : value]);
    feature.properties = Object.fromEntries([...replaced, ...added]);
  }
}
