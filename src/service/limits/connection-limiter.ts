/**
 * Decides which connections stay when more arrive than the service holds, so that clients that only keep connections
 * open cannot lock others out. A new connection is accepted, and one is closed of whoever holds most: of an address,
 * for clients that never signed in, or of an account, which may hold eight times as many. Of these, the first that is
 * there:
 *
 * 1. one of an account that is slow to send its request or to take its answer;
 * 2. one that waits for a request, the oldest first;
 * 3. one with a request of a client that never signed in.
 *
 * Requests that the service works on for signed-in clients are never cut off: where there is nothing else, the new
 * connection is closed. The same holds for the connections of one address, unless it is a trusted proxy.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Settings } from "../settings.js";
import { clientNetwork } from "./client-network.js";

/** Connections that an account may hold for each one of an address whose clients never signed in. */
const accountWeight = 8;

interface Connection {
  /** What the kernel accepted; below TLS where there is any. */
  readonly socket: Socket;
  /** Of the client, or its network (`clientNetwork`). */
  readonly address: string;
  account: string | null;
  /** Those that are being answered: several where a client sends requests without waiting (pipelining). */
  readonly exchanges: Map<ServerResponse, IncomingMessage>;
}

/** Connections of one address, or of one account, in the order in which they came to wait or to be served. */
class ConnectionOwner {
  readonly #idle = new Set<Connection>();
  readonly #active = new Set<Connection>();

  constructor(private readonly isAccount: boolean) {}

  get size(): number {
    return this.#idle.size + this.#active.size;
  }

  /** How much it holds of what it may. */
  get share(): number {
    return this.size / (this.isAccount ? accountWeight : 1);
  }

  add(connection: Connection): void {
    (connection.exchanges.size > 0 ? this.#active : this.#idle).add(connection);
  }

  delete(connection: Connection): boolean {
    return this.#idle.delete(connection) || this.#active.delete(connection);
  }

  /** The one to close; undefined where all are in use for an account. */
  leastImportant(): Connection | undefined {
    if (this.isAccount) for (const connection of this.#active) if (isSlow(connection)) return connection;
    return firstOf(this.#idle) ?? (this.isAccount ? undefined : firstOf(this.#active));
  }
}

const firstOf = <T>([one]: Iterable<T>): T | undefined => one;

/** All connections, or those of one address, by who holds them. */
class ConnectionPool {
  readonly #owners = new Map<string, ConnectionOwner>();
  size = 0;

  add(connection: Connection): void {
    const name = ownerKey(connection);
    const holder = this.#owners.get(name) ?? new ConnectionOwner(connection.account !== null);
    this.#owners.set(name, holder);
    holder.add(connection);
    this.size++;
  }

  delete(connection: Connection): void {
    const name = ownerKey(connection);
    const holder = this.#owners.get(name);
    if (!holder?.delete(connection)) return;
    this.size--;
    if (holder.size === 0) this.#owners.delete(name);
  }

  /** The one to close for a new one; undefined where all are in use for accounts. */
  leastImportant(): Connection | undefined {
    const busy = new Set<ConnectionOwner>();
    for (;;) {
      let largest: ConnectionOwner | undefined;
      for (const holder of this.#owners.values()) {
        if (!busy.has(holder) && (!largest || holder.share > largest.share)) largest = holder;
      }
      const found = largest?.leastImportant();
      if (found || !largest) return found;
      busy.add(largest);
    }
  }
}

/** Addresses have no blank in them. */
const ownerKey = ({ address, account }: Connection): string => (account === null ? address : `account ${account}`);

/** Whether the client has not sent all of a request, or the service has said more than the client has taken. */
const isSlow = ({ exchanges }: Connection): boolean =>
  [...exchanges].some(
    ([response, request]) =>
      !request.complete || response.writableNeedDrain || (response.writableEnded && !response.writableFinished),
  );

/** The two sockets of a connection with TLS have these in common. */
const socketKey = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

export class ConnectionLimiter {
  readonly #limits: Pick<Settings, "connections" | "connectionsPerAddress">;
  readonly #connections = new Map<string, Connection>();
  readonly #all = new ConnectionPool();
  readonly #byAddress = new Map<string, ConnectionPool>();
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
      if (remoteAddress !== undefined && request.ip !== remoteAddress) this.#proxies.add(clientNetwork(remoteAddress));
    });
  }

  /** Of a request whose token or session is valid. @param account id of whom it belongs to */
  markSignedIn({ raw }: FastifyRequest, account: string): void {
    const connection = this.#connections.get(socketKey(raw.socket));
    if (connection && connection.account !== account) {
      this.#change(connection, () => Object.assign(connection, { account }));
    }
  }

  #accept(socket: Socket): void {
    // It is gone already.
    if (socket.remoteAddress === undefined) return;
    const address = clientNetwork(socket.remoteAddress);
    const ofAddress = this.#byAddress.get(address) ?? new ConnectionPool();
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
    const connection: Connection = { socket, address, account: null, exchanges: new Map() };
    this.#connections.set(socketKey(socket), connection);
    this.#byAddress.set(address, ofAddress);
    for (const pool of [this.#all, ofAddress]) pool.add(connection);
    const name = socketKey(socket);
    socket.once("close", () => {
      if (this.#connections.get(name) === connection) this.#forget(connection, name);
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(socketKey(request.socket));
    if (!connection) return;
    this.#change(connection, () => connection.exchanges.set(response, request));
    response.once("close", () => this.#change(connection, () => connection.exchanges.delete(response)));
  }

  #change(connection: Connection, change: () => void): void {
    // One that was closed for another is in no pool.
    const pools = this.#isKept(connection) ? [this.#all, this.#byAddress.get(connection.address)!] : [];
    for (const pool of pools) pool.delete(connection);
    change();
    for (const pool of pools) pool.add(connection);
  }

  #isKept(connection: Connection): boolean {
    return this.#connections.get(socketKey(connection.socket)) === connection;
  }

  #forget(connection: Connection, name = socketKey(connection.socket)): void {
    this.#connections.delete(name);
    this.#all.delete(connection);
    const ofAddress = this.#byAddress.get(connection.address)!;
    ofAddress.delete(connection);
    if (ofAddress.size === 0) this.#byAddress.delete(connection.address);
  }
}
