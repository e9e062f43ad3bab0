/**
 * The service over a store, with two accounts, for tests that send requests. Each test gets its own accounts and map,
 * on a store that the tests of a file share.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { buildApp } from "../../src/service/app.js";
import { createCredential } from "../../src/service/auth/credentials.js";
import { hashSecret, newSecret } from "../../src/service/auth/secrets.js";
import { type Budgets, createBudgets } from "../../src/service/limits/byte-budget.js";
import { defaultSettings, type Settings } from "../../src/service/settings.js";
import type { Store } from "../../src/service/store/contract.js";
import { findStoreKinds } from "./store-kinds.js";

export interface Person {
  readonly account: string;
  readonly email: string;
  readonly token: string;
  readonly credential: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface RequestOptions {
  /** Whose token to send; null for none. Ann's by default. */
  readonly as?: Person | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or raw bytes. */
  readonly body?: unknown;
  readonly from?: string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  // Tests access its members without further checks.
  readonly json: Json;
}
export interface Json {
  readonly [name: string]: Json;
}

export interface StoredFeature {
  readonly type: string;
  readonly id: string;
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

export const point = (properties: object = {}, coordinates: readonly number[] = [7.5, 47.25]) => ({
  type: "Feature",
  geometry: { type: "Point", coordinates },
  properties,
});

export class ServiceFixture {
  ann!: Person;
  bob!: Person;
  /** Ann's public map. */
  map!: string;
  /** Specific to the test, since attempts are counted by address. */
  address!: string;
  now = Date.UTC(2026, 0, 2, 3, 4, 5);

  constructor(
    readonly store: Store,
    readonly app: FastifyInstance,
    readonly budgets: Budgets = createBudgets(defaultSettings),
  ) {}

  async begin(): Promise<void> {
    this.ann = await this.person("ann");
    this.bob = await this.person("bob");
    this.map = await this.newMap(this.ann);
    this.address = `10.${[...randomBytes(3)].join(".")}`;
  }

  async person(name: string): Promise<Person> {
    const { store, now } = this;
    const account = randomUUID();
    const email = `${name}-${account}@example.org`;
    await store.addAccount({
      id: account,
      email,
      name: name === "ann" ? "Ann of Parks" : "",
      passwordHash: "$argon2id$",
      created: now,
    });
    const { credential, clientSecret } = await createCredential(store, { account, name, now, address: null });
    const token = newSecret("accessToken");
    const expires = now + 3600 * 1000;
    await store.addToken({ hash: hashSecret(token), credential: credential.id, created: now, expires });
    return { account, email, token, credential: credential.id, clientId: credential.clientId, clientSecret };
  }

  async newMap(owner: Person, options: { private?: boolean } = {}): Promise<string> {
    const id = randomUUID();
    const { private: hidden = false } = options;
    await this.store.addMap({ id, owner: owner.account, name: "Places", private: hidden, created: this.now });
    return id;
  }

  async send(method: string, url: string, sent: RequestOptions = {}): Promise<TestResponse> {
    const { as = this.ann, headers = {}, body, from = this.address } = sent;
    const raw = typeof body === "string" || Buffer.isBuffer(body);
    const response = await this.app.inject({
      method: method as "GET",
      url,
      remoteAddress: from,
      headers: {
        ...(as && { authorization: `Bearer ${as.token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { payload: raw ? body : JSON.stringify(body) }),
    });
    return {
      status: response.statusCode,
      headers: response.headers as TestResponse["headers"],
      bytes: response.rawPayload,
      text: response.body,
      get json() {
        return JSON.parse(response.body) as Json;
      },
    };
  }

  get path(): string {
    return `/api/v1/maps/${this.map}/features`;
  }

  /** Sends a request to the features of Ann's map. */
  features(method: string, body?: unknown, sent: RequestOptions = {}): Promise<TestResponse> {
    return this.send(method, this.path, { ...sent, ...(body !== undefined && { body }) });
  }

  /** All features of the map, read as the specification describes (4.2). */
  async all(): Promise<readonly StoredFeature[]> {
    const found: StoredFeature[] = [];
    for (let page = 1; ; page++) {
      const { json } = await this.send("GET", `${this.path}?per_page=500&page=${page}`);
      const features = json.features as unknown as readonly StoredFeature[];
      found.push(...features);
      if (features.length < 500) return found;
    }
  }

  /** Creates features; returns their ids in order. */
  async create(...features: readonly object[]): Promise<readonly string[]> {
    const { json } = await this.features("POST", { features });
    return (json.success as unknown as readonly { id: string }[]).map(({ id }) => id);
  }

  form(
    path: string,
    form: Readonly<Record<string, string>> | string,
    sent: RequestOptions = {},
  ): Promise<TestResponse> {
    const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded", ...sent.headers };
    return this.send("POST", path, { as: null, ...sent, body, headers });
  }
}

const kinds = await findStoreKinds();

/** Runs the tests on each kind of store. */
export function describeOnEveryStore(
  describeIt: (service: () => ServiceFixture) => void,
  settings: Partial<Settings> = {},
): void {
  describe.each(kinds.map(({ name, open }) => [name, open] as const))("on %s", (_name, open) => {
    let service: ServiceFixture;
    let close: () => Promise<void>;

    beforeAll(async () => {
      const opened = await open();
      const budgets = createBudgets({ ...defaultSettings, ...settings });
      const app = buildApp({ store: opened.store, settings, budgets, now: () => service.now });
      service = new ServiceFixture(opened.store, app, budgets);
      close = async () => {
        await app.close();
        await opened.close();
      };
    });
    beforeEach(() => service.begin());
    afterAll(() => close());

    describeIt(() => service);
  });
}
