/**
 * Payload types of the Map Features Service (Map Features Service Interface, section 2): the only code that the service
 * and its clients share.
 */
import type { Geometry } from "../model/geometry.js";

/** Maximum features in one request (section 8). */
export const maxFeaturesPerRequest = 1000;
/** Features per page: default and maximum (section 8). */
export const pageSize = { default: 200, max: 500 } as const;
/** Lifetime of an access token in seconds (section 5). */
export const tokenLifetimeSeconds = 3600;

/** Placeholder for an unknown id (RFC 9562, 5.9). */
export const nilId = "00000000-0000-0000-0000-000000000000";

/** A property value that identifies a feature: a non-empty string or a safe integer. */
export type RemoteKey = string | number;

export type Properties = Record<string, unknown>;

/** A feature as the service returns it (section 2.2). */
export interface WireFeature {
  readonly type: "Feature";
  /** A UUID in lower case. */
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** The result of a write for one feature: applied or failed (section 2.4). */
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

/** The result of a write (section 2.4). */
export interface WireResult {
  readonly success?: readonly WireSuccess[];
  readonly failed?: readonly WireFailure[];
  /** Number of features that a full synchronization deleted; an extension of this service. */
  readonly deleted?: number;
  /** The remote field whose key index the map dropped, since it keeps eight; an extension of this service. */
  readonly droppedRemoteField?: string;
}

/** The response of the token endpoint (section 2.5). */
export interface WireToken {
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly access_token: string;
}

/** A map; this part of the interface is an extension of this service. */
export interface WireMap {
  readonly id: string;
  readonly name: string;
  readonly private: boolean;
  /** The email is present only for the account's own maps. */
  readonly owner: { readonly name: string; readonly email?: string };
  readonly features: number;
  /** Increases with every write that changes something. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly created: string;
}

/** The response to GET of all maps; also an extension. */
export interface WireMaps {
  readonly maps: readonly WireMap[];
}

/** An API error (RFC 9457, 3) with the members that all problems of this service have. */
export interface WireProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The text for people: the same as `detail`. */
  readonly message: string;
  /** For programs: `map-not-found`. */
  readonly code: string;
  readonly requestId: string;
  readonly failed?: readonly WireFailure[];
}
