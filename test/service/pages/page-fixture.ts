/** The service on its own store, SQLite by default, and a client that visits its pages without scripts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { onTestFinished } from "vitest";
import { type AppDependencies, buildApp } from "../../../src/service/app.js";
import { createSetupLink } from "../../../src/service/pages/account/setup.js";
import type { Store } from "../../../src/service/store/contract.js";
import { openSqliteStore } from "../../../src/service/store/sqlite/index.js";

export interface PageFixture {
  readonly app: FastifyInstance;
  readonly store: Store;
  /** Milliseconds since 1970, as seen by the service; does not advance. */
  readonly clock: { now: number };
}

/** Closed after the test. */
export async function openPages(dependencies: Partial<AppDependencies> = {}): Promise<PageFixture> {
  const folder = await mkdtemp(join(tmpdir(), "geoferry-test-"));
  const store = dependencies.store ?? (await openSqliteStore(join(folder, "service.sqlite")));
  const clock = { now: Date.UTC(2026, 10, 21, 12) };
  const app = buildApp({ store, now: () => clock.now, ...dependencies });
  onTestFinished(async () => {
    await app.close();
    await store[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  return { app, store, clock };
}

export const password = "a quiet harbour";

/** The pages with a first account and its signed-in user. */
export async function openPagesAs(email: string, dependencies: Partial<AppDependencies> = {}) {
  const site = await openPages(dependencies);
  const owner = new BrowserClient(site.app);
  await owner.get(stripOrigin(await createSetupLink(site.store, "http://localhost", site.clock.now)));
  const token = owner.field("token");
  await owner.post("/setup", { token, email, password, again: password });
  return { ...site, owner };
}

export const stripOrigin = (address: string): string => address.replace(/^https?:\/\/[^/]+/, "");

/** Keeps cookies, and sends each form with the token of the last page. */
export class BrowserClient {
  readonly cookies = new Map<string, string>();
  readonly #app: FastifyInstance;
  readonly #rest: InjectOptions;
  /** The last page. */
  page = "";

  constructor(app: FastifyInstance, rest: InjectOptions = {}) {
    this.#app = app;
    this.#rest = rest;
  }

  get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return this.#send({ method: "GET", url, headers });
  }

  /** Submits a form, and follows the redirect. */
  async post(
    url: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<LightMyRequestResponse> {
    const form = new URLSearchParams({ "token-of-form": this.field("token-of-form"), ...fields });
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await this.#send({
      method: "POST",
      url,
      payload: form.toString(),
      headers: { ...type, ...headers },
    });
    const { location } = answer.headers;
    if (answer.statusCode === 303 && typeof location === "string") await this.get(location);
    return answer;
  }

  /** Value of a hidden field of the last page. */
  field(name: string): string {
    return new RegExp(`name="${name}" value="([^"]*)"`).exec(this.page)?.[1] ?? "";
  }

  async #send(request: InjectOptions): Promise<LightMyRequestResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...this.#rest.headers, ...(cookie && { cookie }), ...request.headers };
    const answer = await this.#app.inject({ ...this.#rest, ...request, headers });
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    if (String(answer.headers["content-type"]).startsWith("text/html")) this.page = answer.body;
    return answer;
  }
}

/** The text of a page without markup. */
export const visibleText = (page: string): string =>
  page
    .replace(/^[\s\S]*<body[^>]*>/, "")
    .replace(/<\/?(bdi|strong|code|a|time)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .trim();
