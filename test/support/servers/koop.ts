/** Koop, an implementation of the ArcGIS feature service by Esri, over features in memory. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Feature, Geometry } from "../../../src/model/index.js";

export interface KoopFeature {
  readonly type: "Feature";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly geometry: Geometry | null;
}

interface KoopInstance {
  readonly server: Parameters<typeof createServer>[1] & ((...args: never[]) => void);
  register(provider: object): void;
}

const require = createRequire(import.meta.url);

/** `count` points with the object ids 1, 2, 3 … in the field `id`. */
export const koopPoints = (count: number): KoopFeature[] =>
  Array.from({ length: count }, (_, n) => ({
    type: "Feature",
    properties: { id: n + 1, name: `place ${n + 1}`, seen: new Date(1.7e12 + n * 1000).toISOString(), height: n + 0.5 },
    geometry: { type: "Point", coordinates: [10 + (n % 500) / 100, 50 + Math.floor(n / 500) / 100] },
  }));

/** A server with one layer, of which `features` can be changed at any time. */
export class KoopServer {
  features: readonly KoopFeature[];

  private constructor(
    features: readonly KoopFeature[],
    private readonly server: Server,
  ) {
    this.features = features;
  }

  static async start(features: readonly KoopFeature[], metadata: object = {}): Promise<KoopServer> {
    process.env.SUPPRESS_NO_CONFIG_WARNING = "yes";
    const Koop = require("@koopjs/koop-core") as new (options: object) => KoopInstance;
    const koop = new Koop({ logLevel: "error" });
    const server = createServer(koop.server);
    const koopServer = new KoopServer(features, server);
    const settings = { name: "places", idField: "id", maxRecordCount: 1000, ...metadata };
    class Model {
      async getData(): Promise<object> {
        return { type: "FeatureCollection", features: koopServer.features, metadata: settings };
      }
    }
    koop.register({ type: "provider", name: "memory", version: "1.0.0", Model });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return koopServer;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The address of the service. */
  get service(): string {
    return `${this.origin}/memory/rest/services/places/FeatureServer`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The properties that features have in the order of their ids. */
export const idsOf = (features: readonly Feature[]): unknown[] => features.map(({ properties }) => properties.id);
