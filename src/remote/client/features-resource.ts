import { createError } from "../../errors.js";
import { restoreExactProperties } from "../exact-properties.js";
import { continuesPage, EntityTagConditions, parseEntityTag } from "../http/entity-tag.js";
import { nextPageAddress } from "../http/next-page.js";
import type { ServiceResponse } from "../http/send-request.js";
import type { Transport } from "../http/transport.js";
import { splitFeatureTexts } from "../snapshot/exact-feature.js";
import { maxFeaturesPerRequest, pageSize } from "../wire.js";
import type {
  CompleteSet,
  Condition,
  DeleteSelector,
  MapClient,
  MapPage,
  ReplaceCondition,
  WriteOutcome,
} from "./map-client.js";
import { InvalidPage, parsePage } from "./parse-page.js";
import { readMapList } from "./read-map-list.js";
import { parseWriteOutcome } from "./write-outcome.js";

type WriteMethod = "POST" | "PUT" | "PATCH" | "DELETE";
type Headers = Readonly<Record<string, string>>;

/** The features of one map (Map Features Service Interface, 4). */
export class FeaturesResource implements MapClient {
  private readonly address: string;
  private readonly conditions = new EntityTagConditions();

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
    const response = await this.get(number, pageSize.max, this.conditions.ifNoneMatch(tag));
    if (response.status === 304 && tag) return null;
    if (response.status === 404 || response.status === 410) throw this.notFound();
    if (response.status === 403) throw number === 1 ? this.notFound() : this.forbiddenPage(number, response);
    if (!response.isSuccess) throw this.protocolError(this.transport.describe(response));
    try {
      const features = restoreExactProperties(parsePage(response), response.text);
      return {
        features,
        etag: parseEntityTag(response.headers),
        continues: continuesPage(response.headers),
        hasNext: nextPageAddress(response.headers) !== undefined,
        texts: () => splitFeatureTexts(response.text),
      };
    } catch (error) {
      if (error instanceof InvalidPage) throw this.protocolError(`page ${number} of map ${this.id} ${error.message}`);
      throw error;
    }
  }

  async pageCount(): Promise<number | null> {
    const { addresses } = this.transport;
    const maps = await readMapList((query) => this.transport.read(`${addresses.api}/maps${query}`));
    return maps?.find(({ id }) => id === this.id)?.features ?? null;
  }

  create(features: readonly string[], idempotencyKey: string, condition?: Condition): Promise<WriteOutcome> {
    return this.write("POST", featuresBody({}, features), condition, idempotencyHeader(idempotencyKey));
  }

  update(
    features: readonly string[],
    remoteField: string | null,
    idempotencyKey: string,
    condition?: Condition,
  ): Promise<WriteOutcome> {
    const members = remoteField === null ? {} : { remoteField };
    return this.write("PATCH", featuresBody(members, features), condition, idempotencyHeader(idempotencyKey));
  }

  replaceAll({ features, remoteField }: CompleteSet, condition: ReplaceCondition = {}): Promise<WriteOutcome> {
    const members = { type: "FeatureCollection", ...(remoteField !== null && { remoteField }) };
    return this.write("PUT", featuresBody(members, features), condition, strictHeader(condition.strict));
  }

  remove(selector: DeleteSelector, condition?: Condition): Promise<WriteOutcome> {
    return this.write("DELETE", deleteBody(selector), condition);
  }

  private async get(page: number, size: number, headers: Headers = {}) {
    const response = await this.transport.read(`${this.address}?page=${page}&per_page=${size}`, headers);
    this.conditions.observe(response.headers);
    return response;
  }

  private async write(
    method: WriteMethod,
    body: string,
    condition: Condition = {},
    headers: Headers = {},
  ): Promise<WriteOutcome> {
    const { ifMatch = null } = condition;
    const all = { ...headers, ...this.conditions.ifMatch(ifMatch) };
    const response = await this.transport.write(method, this.address, body, all);
    if ("reason" in response) return { kind: "in-doubt", reason: response.reason };
    this.conditions.observe(response.headers);
    const outcome = parseWriteOutcome(response, this.transport.describe(response));
    if (response.status === 412 && ifMatch !== null) this.conditions.onRefused(ifMatch);
    if (outcome === "forbidden") throw createError("remote-forbidden", { service: this.url, map: this.id });
    if (outcome === "full") throw createError("remote-full", { service: this.url });
    if (outcome !== "missing") return outcome;
    // If the map can be read, the 404 means that the service does not support the operation.
    const { isSuccess } = await this.get(1, 1);
    if (!isSuccess) throw this.notFound();
    return { kind: "not-offered", status: response.status };
  }

  private notFound() {
    return createError("remote-map-missing", { service: this.url, map: this.id });
  }

  /** A page that a firewall or a quota forbids: unlike a missing one, it is not behind the last. */
  private forbiddenPage(number: number, response: ServiceResponse) {
    const reason = `page ${number} of map ${this.id}: ${this.transport.describe(response)}`;
    return createError("remote-unavailable", { service: this.url, reason });
  }

  private protocolError(reason: string) {
    return createError("remote-protocol-error", { service: this.url, reason });
  }
}

/** The key is a string (RFC 9651, 3.3.3; draft-ietf-httpapi-idempotency-key-header). */
const idempotencyHeader = (key: string): Headers => ({ "idempotency-key": `"${key}"` });

/** RFC 7240, 4.4. */
const strictHeader = (strict: boolean | undefined): Headers => (strict ? { prefer: "handling=strict" } : {});

/** Serializes `members` plus a `features` array that contains the given JSON texts verbatim. */
function featuresBody(members: object, features: readonly string[]): string {
  if (features.length > maxFeaturesPerRequest)
    throw new RangeError(`${features.length} features in one request; the maximum is ${maxFeaturesPerRequest}`);
  const prefix = JSON.stringify(members).slice(0, -1);
  return `${prefix}${prefix === "{" ? "" : ","}"features":[${features.join(",")}]}`;
}

function deleteBody(selector: DeleteSelector): string {
  if ("ids" in selector)
    return featuresBody(
      {},
      selector.ids.map((id) => JSON.stringify({ id })),
    );
  const { remoteField, keys } = selector;
  const stub = (key: string | number) => ({ type: "Feature", geometry: null, properties: { [remoteField]: key } });
  return featuresBody(
    { type: "FeatureCollection", remoteField },
    keys.map((key) => JSON.stringify(stub(key))),
  );
}
