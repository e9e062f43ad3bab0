import { fault } from "../errors.js";
import { ifMatch, ifNoneMatch, revisionTag } from "./entity-tag.js";
import type { CompleteSet, Condition, Doomed, MapClient, MapPage, WriteOutcome } from "./map-client.js";
import { outcomeOf } from "./outcome.js";
import { readMaps } from "./read-maps.js";
import { featuresOf, OddPage } from "./read-page.js";
import type { Transport } from "./transport.js";
import { featuresPerRequest, pageSize } from "./wire.js";

type Method = "POST" | "PUT" | "PATCH" | "DELETE";
type Headers = Readonly<Record<string, string>>;

/** The features of one map (Map Features Service Interface, 4). */
export class FeaturesResource implements MapClient {
  private readonly address: string;

  constructor(
    private readonly transport: Transport,
    readonly id: string,
  ) {
    this.address = `${transport.addresses.api}/maps/${encodeURIComponent(id)}/features`;
  }

  get url(): string {
    return this.transport.service;
  }

  async page(number: number, tag?: string | null): Promise<MapPage | null> {
    const answer = await this.get(number, pageSize.most, ifNoneMatch(tag));
    if (answer.status === 304 && tag) return null;
    if (answer.status === 404 || answer.status === 410 || answer.status === 403) throw this.missing();
    if (!answer.isSuccess) throw this.odd(this.transport.describe(answer));
    try {
      return { features: featuresOf(answer), etag: revisionTag(answer.headers) };
    } catch (error) {
      if (error instanceof OddPage) throw this.odd(`page ${number} of map ${this.id} ${error.message}`);
      throw error;
    }
  }

  async announced(): Promise<number | null> {
    const { addresses } = this.transport;
    const maps = await readMaps((query) => this.transport.read(`${addresses.api}/maps${query}`));
    return maps?.find(({ id }) => id === this.id)?.features ?? null;
  }

  create(features: readonly string[], idempotencyKey: string, condition?: Condition): Promise<WriteOutcome> {
    const headers = { "idempotency-key": quoted(idempotencyKey), ...ifMatch(condition?.ifMatch) };
    return this.write("POST", withFeatures({}, features), headers);
  }

  update(
    features: readonly string[],
    remoteField: string | null,
    idempotencyKey: string,
    condition?: Condition,
  ): Promise<WriteOutcome> {
    const members = remoteField === null ? {} : { remoteField };
    const headers = { "idempotency-key": quoted(idempotencyKey), ...ifMatch(condition?.ifMatch) };
    return this.write("PATCH", withFeatures(members, features), headers);
  }

  replaceAll({ features, remoteField }: CompleteSet, condition?: Condition): Promise<WriteOutcome> {
    const members = { type: "FeatureCollection", ...(remoteField !== null && { remoteField }) };
    return this.write("PUT", withFeatures(members, features), ifMatch(condition?.ifMatch));
  }

  remove(doomed: Doomed, condition?: Condition): Promise<WriteOutcome> {
    return this.write("DELETE", bodyOfDelete(doomed), ifMatch(condition?.ifMatch));
  }

  private get(page: number, size: number, headers: Headers = {}) {
    return this.transport.read(`${this.address}?page=${page}&per_page=${size}`, headers);
  }

  private async write(method: Method, body: string, headers: Headers): Promise<WriteOutcome> {
    const answer = await this.transport.write(method, this.address, body, headers);
    if ("doubt" in answer) return { kind: "in-doubt", reason: answer.doubt };
    const outcome = outcomeOf(answer, this.transport.describe(answer));
    if (outcome === "forbidden") throw fault("remote-forbidden", { service: this.url, map: this.id });
    if (outcome === "full") throw fault("remote-full", { service: this.url });
    if (outcome !== "missing") return outcome;
    // Not the map, where that can be read: what was asked for.
    const { isSuccess } = await this.get(1, 1);
    if (!isSuccess) throw this.missing();
    return { kind: "not-offered", status: answer.status };
  }

  private missing() {
    return fault("remote-map-missing", { service: this.url, map: this.id });
  }

  private odd(reason: string) {
    return fault("remote-odd", { service: this.url, reason });
  }
}

/** A string of RFC 9651 (3.3.3), as draft-ietf-httpapi-idempotency-key-header wants the key. */
const quoted = (key: string): string => `"${key}"`;

/** An object with `members` and the features, whose texts go in as they are. */
function withFeatures(members: object, features: readonly string[]): string {
  if (features.length > featuresPerRequest)
    throw new RangeError(`${features.length} features in one request; ${featuresPerRequest} are possible`);
  const before = JSON.stringify(members).slice(0, -1);
  return `${before}${before === "{" ? "" : ","}"features":[${features.join(",")}]}`;
}

function bodyOfDelete(doomed: Doomed): string {
  if ("ids" in doomed)
    return withFeatures(
      {},
      doomed.ids.map((id) => JSON.stringify({ id })),
    );
  const { remoteField, keys } = doomed;
  const stub = (key: string | number) => ({ type: "Feature", geometry: null, properties: { [remoteField]: key } });
  return withFeatures(
    { type: "FeatureCollection", remoteField },
    keys.map((key) => JSON.stringify(stub(key))),
  );
}
