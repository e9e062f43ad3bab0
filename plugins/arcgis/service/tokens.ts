/** Access tokens of ArcGIS services (ArcGIS REST API, "Generate token"). */
import { createError, type HttpClient } from "../../../src/plugin/index.js";
import { isObject, textOf } from "../../shared/json/values.js";
import type { ServiceAddress } from "./address.js";
import { serviceErrorOf } from "./service-error.js";

/** Settings in the environment, so that no secret is in an argument. */
export interface Credentials {
  readonly token: string | null;
  readonly user: string | null;
  readonly password: string | null;
  /** Where tokens are made, if the service names another place. */
  readonly tokenUrl: string | null;
  /** The referer that the token is bound to. */
  readonly referer: string | null;
}

export function readCredentials(environment: NodeJS.ProcessEnv): Credentials {
  const setting = (name: string): string | null => environment[`GEOFERRY_ARCGIS_${name}`] || null;
  return {
    token: setting("TOKEN"),
    user: setting("USER"),
    password: setting("PASSWORD"),
    tokenUrl: setting("TOKEN_URL"),
    referer: setting("REFERER"),
  };
}

/** Minutes that a token is wanted for; the service may give fewer. */
const tokenMinutes = 60;
/** A token is renewed so many milliseconds before it expires. */
const renewalMarginMs = 60_000;
/** Esri's own service of tokens, for the layers of ArcGIS Online. */
const onlineTokenOrigin = "https://www.arcgis.com";

const isLoopback = (host: string): boolean =>
  /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]" || host === "localhost" || host.endsWith(".localhost");

/** Holds the token of a service, and gets another one from user and password when it is needed. */
export class TokenSource {
  private current: string | null;
  private expires = Number.POSITIVE_INFINITY;
  private pending: Promise<void> | null = null;

  /** @throws usage if a secret would be sent unencrypted */
  constructor(
    private readonly source: string,
    private readonly address: ServiceAddress,
    private readonly credentials: Credentials,
    private readonly client: HttpClient,
  ) {
    const { token, user, password } = credentials;
    const { protocol, hostname } = new URL(address.service);
    if ((token ?? user) !== null && protocol === "http:" && !isLoopback(hostname))
      throw createError("usage", {
        reason: `${source}: http would send the token or password unencrypted; write https://, or unset GEOFERRY_ARCGIS_TOKEN and GEOFERRY_ARCGIS_USER to read without`,
      });
    if ((user === null) !== (password === null))
      throw createError("usage", { reason: "set both GEOFERRY_ARCGIS_USER and GEOFERRY_ARCGIS_PASSWORD, or neither" });
    this.current = token;
  }

  /** Texts that no message may contain. */
  get secrets(): readonly string[] {
    return [this.current, this.credentials.token, this.credentials.password].filter((text) => text !== null);
  }

  /** The token may be bound to the page that asks for it. */
  get referer(): string {
    return this.credentials.referer ?? new URL(this.address.service).origin;
  }

  /** The token to send; null if there is none. @throws feature-service-forbidden and what the client throws */
  async get(): Promise<string | null> {
    const { user } = this.credentials;
    if (user !== null && (this.current === null || Date.now() > this.expires - renewalMarginMs)) await this.renew();
    return this.current;
  }

  /**
   * Called when the service refused a request for its token. @returns whether there is another token
   * @throws feature-service-forbidden and what the client throws
   */
  async replace(refused: string | null): Promise<boolean> {
    if (this.credentials.user === null) return false;
    if (this.current === refused) await this.renew();
    return true;
  }

  private async renew(): Promise<void> {
    this.pending ??= this.request().finally(() => {
      this.pending = null;
    });
    await this.pending;
  }

  private async request(): Promise<void> {
    const { user, password } = this.credentials;
    const url = await this.findTokenUrl();
    const form = new URLSearchParams({
      username: user!,
      password: password!,
      client: "referer",
      referer: this.referer,
      expiration: String(tokenMinutes),
      f: "json",
    });
    const { status, body } = await this.client.send({ url, form, headers: { referer: this.referer } });
    const { json, error } = serviceErrorOf(status, body, this.secrets);
    const token = isObject(json) ? textOf(json.token) : null;
    if (token === null || token === "") {
      const reason = error?.message ?? "its response to user and password has no token";
      const advice = "check GEOFERRY_ARCGIS_USER and GEOFERRY_ARCGIS_PASSWORD";
      throw createError("feature-service-forbidden", { source: this.source, reason, advice });
    }
    const expires = isObject(json) && typeof json.expires === "number" ? json.expires : null;
    this.current = token;
    this.expires = expires !== null && expires > Date.now() ? expires : Date.now() + tokenMinutes * 60_000;
  }

  /**
   * The address that makes tokens. That which the service names gets the password only if it is of the same host or of
   * ArcGIS Online.
   */
  private async findTokenUrl(): Promise<string> {
    const { tokenUrl } = this.credentials;
    const { root, service } = this.address;
    const forbid = (reason: string, advice: string) =>
      createError("feature-service-forbidden", { source: this.source, reason, advice });
    if (tokenUrl !== null) return tokenUrl;
    const advice = "name the address that makes its tokens in GEOFERRY_ARCGIS_TOKEN_URL";
    if (root === null) throw forbid("it does not tell who makes its tokens", advice);
    const { status, body } = await this.client.send({ url: `${root}/info?f=json` });
    const { json } = serviceErrorOf(status, body, []);
    const info = isObject(json) && isObject(json.authInfo) ? json.authInfo : null;
    const named = info && textOf(info.tokenServicesUrl);
    if (!named || !URL.canParse(named)) throw forbid("it does not tell who makes its tokens", advice);
    const { origin } = new URL(named);
    if (origin !== new URL(service).origin && origin !== onlineTokenOrigin)
      throw forbid(
        `its tokens are made by ${origin}, another host`,
        `if that host may get the password, set GEOFERRY_ARCGIS_TOKEN_URL=${named}`,
      );
    // The page for people answers at /generateToken, too.
    return /generateToken\/?$/i.test(named) ? named : `${named.replace(/\/+$/, "")}/generateToken`;
  }
}
