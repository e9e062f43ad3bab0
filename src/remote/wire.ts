/**
 * What the Map Features Service and its clients say to each other (Map Features Service Interface, section 2). Types
 * alone: the service and the client share nothing else.
 */
import type { Geometry } from "../model/geometry.js";

/** Most features in one request (section 8). */
export const maxFeaturesPerRequest = 1000;
/** Features on a page: unless asked for otherwise, and at most (section 8). */
export const pageSize = { default: 200, most: 500 } as const;
/** Seconds that an access token lives (section 5). */
export const tokenLifetimeSeconds = 3600;

/** What stands for an id where there is none to name (RFC 9562, 5.9). */
export const nilId = "00000000-0000-0000-0000-000000000000";

/** A property's value that identifies a feature: text that is not empty, or a safe integer. */
export type RemoteKey = string | number;

export type Properties = Record<string, unknown>;

/** A feature as the service gives it (section 2.2). */
export interface WireFeature {
  readonly type: "Feature";
  /** A UUID in lower case. */
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** One feature that a write carried out, or one that it could not (section 2.4). */
export interface WireSuccess {
  readonly id: string;
  readonly message: string;
}
export interface WireFailure {
  readonly id: string;
  /** `features[3].geometry.coordinates[1]` */
  readonly path: string;
  readonly message: string;
}

/** What came of a write (section 2.4). */
export interface WireResult {
  readonly success?: readonly WireSuccess[];
  readonly failed?: readonly WireFailure[];
  /** Features that a full synchronisation deleted; an addition of this service. */
  readonly deleted?: number;
  /** The remote field that the map no longer keeps the keys of, as it keeps eight; an addition of this service. */
  readonly droppedRemoteField?: string;
}

/** What the token endpoint gives (section 2.5). */
export interface WireToken {
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly access_token: string;
}

/** A map, in the part of the interface that is this service's own. */
export interface WireMap {
  readonly id: string;
  readonly name: string;
  readonly private: boolean;
  /** The email only of the account's own maps. */
  readonly owner: { readonly name: string; readonly email?: string };
  readonly features: number;
  /** Grows with every write that changed something. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly created: string;
}

/** What GET of all maps gives, in that part too. */
export interface WireMaps {
  readonly maps: readonly WireMap[];
}

/** An error of the API (RFC 9457, 3), with members that all problems of this service have. */
export interface WireProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** What a person should read: the same as `detail`. */
  readonly message: string;
  /** For programs: `map-not-found`. */
  readonly code: string;
  readonly requestId: string;
  readonly failed?: readonly WireFailure[];
}
