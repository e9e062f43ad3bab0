/**
 * Decides which connections stay when more arrive than the service holds, so that clients that only keep connections
 * open cannot lock others out. A new connection is accepted, and the one that matters least is closed for it:
 *
 * 1. one that waits for a request, of a client that never signed in, the oldest first;
 * 2. one with a request of a client that never signed in;
 * 3. one of a signed-in client that is slow to take its answer;
 * 4. one of a signed-in client that waits for a request.
 *
 * Requests that the service works on for signed-in clients are never cut off: where there is nothing else, the new
 * connection is closed. The same holds for the connections of one address, unless it is a trusted proxy.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Settings } from "./settings.js";

/** From the first that is closed to the last. */
const ranks = ["stranger waiting", "stranger served", "member served", "member waiting"] as const;
type Rank = (typeof ranks)[number];

interface Connection {
  /** What the kernel accepted; below TLS where there is any. */
  readonly socket: Socket;
  readonly address: string;
  isSignedIn: boolean;
  /** Of the requests that are being answered: several where a client sends them without waiting (pipelining). */
  readonly responses: Set<ServerResponse>;
  rank: Rank;
}

/** Connections by rank, in the order in which they got it. */
class Ranking {
  readonly #byRank: Readonly<Record<Rank, Set<Connection>>> = {
    "stranger waiting": new Set(),
    "stranger served": new Set(),
    "member served": new Set(),
    "member waiting": new Set(),
  };
  size = 0;

  add(connection: Connection): void {
    this.#byRank[connection.rank].add(connection);
    this.size++;
  }

  delete(connection: Connection): void {
    if (this.#byRank[connection.rank].delete(connection)) this.size--;
  }

  /** The one to close for a new one; undefined where all are in use for signed-in clients. */
  leastImportant(): Connection | undefined {
    for (const rank of ranks) {
      for (const connection of this.#byRank[rank]) {
        if (rank !== "member served" || isSlowToRead(connection)) return connection;
      }
    }
    return undefined;
  }
}

/** Whether the service has said more than the client has taken so far. */
const isSlowToRead = ({ responses }: Connection): boolean =>
  [...responses].some(
    (response) => response.writableNeedDrain || (response.writableEnded && !response.writableFinished),
  );

const rankOf = ({ isSignedIn, responses }: Connection): Rank => {
  if (isSignedIn) return responses.size > 0 ? "member served" : "member waiting";
  return responses.size > 0 ? "stranger served" : "stranger waiting";
};

/** The two sockets of a connection with TLS have these in common. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

export class ConnectionGuard {
  readonly #limits: Pick<Settings, "connections" | "connectionsPerAddress">;
  readonly #connections = new Map<string, Connection>();
  readonly #all = new Ranking();
  readonly #byAddress = new Map<string, Ranking>();
  /** Addresses that pass on requests of others. */
  readonly #proxies = new Set<string>();
  /** Called for each connection that is closed for want of room. */
  onClosed: () => void = () => {};

  constructor(limits: Pick<Settings, "connections" | "connectionsPerAddress">) {
    this.#limits = limits;
  }

  /** To be called before the server listens, and before any route is made. */
  watch(app: FastifyInstance): void {
    app.server.on("connection", (socket: Socket) => this.#accept(socket));
    app.server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#serve(request, response));
    app.addHook("onRequest", async (request) => {
      const { remoteAddress } = request.raw.socket;
      // Another address than the connection's: a proxy that is trusted has named its client.
      if (remoteAddress !== undefined && request.ip !== remoteAddress) this.#proxies.add(remoteAddress);
    });
  }

  /** Of a request whose token or session is valid. */
  markSignedIn({ raw }: FastifyRequest): void {
    const connection = this.#connections.get(nameOf(raw.socket));
    if (connection) this.#change(connection, () => Object.assign(connection, { isSignedIn: true }));
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress;
    // It is gone already.
    if (address === undefined) return;
    const ofAddress = this.#byAddress.get(address) ?? new Ranking();
    const isCrowded = !this.#proxies.has(address) && ofAddress.size >= this.#limits.connectionsPerAddress;
    const isFull = this.#all.size >= this.#limits.connections;
    if (isCrowded || isFull) {
      this.onClosed();
      const closed = (isCrowded ? ofAddress : this.#all).leastImportant();
      if (!closed) {
        socket.destroy();
        return;
      }
      this.#forget(closed);
      closed.socket.destroy();
    }
    const connection: Connection = { socket, address, isSignedIn: false, responses: new Set(), rank: ranks[0] };
    this.#connections.set(nameOf(socket), connection);
    this.#byAddress.set(address, ofAddress);
    for (const ranking of [this.#all, ofAddress]) ranking.add(connection);
    const name = nameOf(socket);
    socket.once("close", () => {
      if (this.#connections.get(name) === connection) this.#forget(connection, name);
    });
  }

  #serve({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(nameOf(socket));
    if (!connection) return;
    this.#change(connection, () => connection.responses.add(response));
    response.once("close", () => this.#change(connection, () => connection.responses.delete(response)));
  }

  #change(connection: Connection, change: () => void): void {
    const ofAddress = this.#byAddress.get(connection.address);
    change();
    const rank = rankOf(connection);
    // One that was closed for another is in no ranking.
    if (rank === connection.rank || !this.#isKept(connection)) return;
    for (const ranking of [this.#all, ofAddress!]) ranking.delete(connection);
    connection.rank = rank;
    for (const ranking of [this.#all, ofAddress!]) ranking.add(connection);
  }

  #isKept(connection: Connection): boolean {
    return this.#connections.get(nameOf(connection.socket)) === connection;
  }

  #forget(connection: Connection, name = nameOf(connection.socket)): void {
    this.#connections.delete(name);
    this.#all.delete(connection);
    const ofAddress = this.#byAddress.get(connection.address)!;
    ofAddress.delete(connection);
    if (ofAddress.size === 0) this.#byAddress.delete(connection.address);
  }
}
