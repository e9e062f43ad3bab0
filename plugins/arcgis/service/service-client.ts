/** Sends requests to one ArcGIS service. */
import { createError, type GeoferryError, type HttpClient } from "../../../src/plugin/index.js";
import type { ParsingLoss } from "../../shared/json/parsing-losses.js";
import { isObject, type Json } from "../../shared/json/values.js";
import type { ServiceAddress } from "./address.js";
import { isForbidden, isTokenError, isTransient, type ServiceError, serviceErrorOf } from "./service-error.js";
import type { TokenSource } from "./tokens.js";

/** Longer queries are sent by POST: servers and proxies limit addresses to 2,048 characters or more. */
const maxQueryLength = 1500;

/** The service refused a request for a reason that may depend on it, such as its size. */
export class RequestRefused extends Error {
  constructor(readonly error: ServiceError) {
    super(error.message);
  }
}

export class ServiceClient {
  /** @param source the service as messages name it */
  constructor(
    readonly source: string,
    readonly address: ServiceAddress,
    private readonly client: HttpClient,
    private readonly tokens: TokenSource,
  ) {}

  /**
   * Gets the JSON of a resource below the service.
   * @param path `""`, `"/3"`, `"/3/query"`
   * @throws feature-service-refused, feature-service-forbidden and what the host's client throws
   */
  async get(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Json> {
    try {
      return await this.query(path, parameters);
    } catch (error) {
      throw error instanceof RequestRefused ? this.refused(error) : error;
    }
  }

  refused({ message }: RequestRefused): GeoferryError {
    return createError("feature-service-refused", { source: this.source, reason: message });
  }

  /**
   * As `get`
   * @param onLoss called for what parsing the answer lost
   * @throws RequestRefused where the service refuses the request
   */
  async query(
    path: string,
    parameters: Readonly<Record<string, string>>,
    onLoss?: (loss: ParsingLoss) => void,
  ): Promise<Json> {
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await this.tokens.get();
      const { json, error, losses = [] } = await this.send(path, parameters, token);
      if (error === null) {
        if (onLoss) losses.forEach(onLoss);
        if (isObject(json)) return json;
        throw new RequestRefused({ code: 0, message: "its response is not an object" });
      }
      const canRenew = !isRenewed && (isTokenError(error) || error.code === 401);
      if (canRenew && (await this.tokens.replace(token))) continue;
      if (isForbidden(error)) throw this.forbidden(error, token !== null);
      throw new RequestRefused(error);
    }
  }

  private async send(path: string, parameters: Readonly<Record<string, string>>, token: string | null) {
    const { address, tokens } = this;
    const form = new URLSearchParams(address.parameters);
    for (const [name, value] of Object.entries({ ...parameters, f: "json" })) form.set(name, value);
    // In the body, the token is in no log of a proxy or server.
    if (token !== null) form.set("token", token);
    const url = address.service + path;
    const query = form.toString();
    const isPost = token !== null || query.length > maxQueryLength;
    const request = isPost ? { url, form } : { url: `${url}?${query}` };
    const headers = { referer: tokens.referer };
    const answers: ReturnType<typeof serviceErrorOf>[] = [];
    await this.client.send({ ...request, headers }, ({ status, body }) => {
      const answer = serviceErrorOf(status, body, tokens.secrets);
      answers[0] = answer;
      return answer.error !== null && status < 400 && isTransient(answer.error) ? answer.error.message : null;
    });
    return answers[0]!;
  }

  /** Saves the bytes of a resource to a file. @throws as `get` does, output-failed */
  async save(path: string, file: string): Promise<number> {
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await this.tokens.get();
      const { address, tokens } = this;
      const form = new URLSearchParams(address.parameters);
      if (token !== null) form.set("token", token);
      const url = address.service + path;
      const query = form.toString();
      const request = token !== null ? { url, form } : { url: query === "" ? url : `${url}?${query}` };
      const { status, size } = await this.client.save({ ...request, headers: { referer: tokens.referer } }, file);
      if (status === 200) return size;
      const error = { code: status, message: `the server answers ${status}` };
      if (!isRenewed && isForbidden(error) && (await tokens.replace(token))) continue;
      if (isForbidden(error)) throw this.forbidden(error, token !== null);
      throw createError("feature-service-refused", { source: this.source, reason: `${path}: ${error.message}` });
    }
  }

  private forbidden({ message }: ServiceError, hasToken: boolean): GeoferryError {
    const advice = hasToken
      ? "check that the token is valid for this service and its account may read the layer"
      : "set GEOFERRY_ARCGIS_TOKEN, or GEOFERRY_ARCGIS_USER and GEOFERRY_ARCGIS_PASSWORD";
    return createError("feature-service-forbidden", { source: this.source, reason: message, advice });
  }
}
