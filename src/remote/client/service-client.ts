/** Creates authenticated clients for a Map Features Service. */
import type { Connection } from "../connection/connection.js";
import { Transport } from "../http/transport.js";
import { FeaturesResource } from "./features-resource.js";
import type { ServiceClient, Traffic } from "./map-client.js";
import { readMapList } from "./read-map-list.js";

export { defaultTraffic } from "./map-client.js";

/**
 * Creates a client without sending a request.
 * @param signal aborts reads and waiting requests; a write in flight completes
 * @throws remote-address, remote-insecure
 */
export function createServiceClient(connection: Connection, traffic: Traffic, signal: AbortSignal): ServiceClient {
  const transport = new Transport(connection, traffic, signal);
  return {
    url: transport.service,
    requestCount: transport.requestCount,
    map: (id) => new FeaturesResource(transport, id),
    maps: () => readMapList((query) => transport.read(`${transport.addresses.api}/maps${query}`)),
    signIn: () => transport.signIn(),
  };
}
