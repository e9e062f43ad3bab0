/**
 * Chooses which connection to close when a limit is reached, so that clients that only hold connections open cannot
 * lock others out. A new connection is accepted, and one of the largest owner is closed. Owners are addresses, for
 * clients that never signed in, and accounts, which may hold eight times as many. The connection to close is the first
 * found of:
 *
 * 1. a connection of an account that is slow to send its request or to read its response;
 * 2. an idle connection, the oldest first;
 * 3. a connection with a request of a client that never signed in.
 *
 * Requests of signed-in clients in progress are never interrupted: if nothing else is left, the new connection is
 * closed. The limit per address works the same way, except for trusted proxies.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Settings } from "../settings.js";
import { clientNetwork } from "./client-network.js";

/** An account may hold this many connections for each one of an anonymous address. */
const accountWeight = 8;

interface Connection {
  /** The accepted socket, below TLS. */
  readonly socket: Socket;
  /** The client's address or network (`clientNetwork`). */
  readonly address: string;
  account: string | null;
  /** Requests in progress; several if the client pipelines requests. */
  readonly exchanges: Map<ServerResponse, IncomingMessage>;
}

/** Connections of one address or account, in the order in which they became idle or active. */
class ConnectionOwner {
  readonly #idle = new Set<Connection>();
  readonly #active = new Set<Connection>();

  constructor(private readonly isAccount: boolean) {}

  get size(): number {
    return this.#idle.size + this.#active.size;
  }

  /** Connections relative to the weight of the owner. */
  get share(): number {
    return this.size / (this.isAccount ? accountWeight : 1);
  }

  add(connection: Connection): void {
    (connection.exchanges.size > 0 ? this.#active : this.#idle).add(connection);
  }

  delete(connection: Connection): boolean {
    return this.#idle.delete(connection) || this.#active.delete(connection);
  }

  /** The connection to close; undefined if all serve requests of an account. */
  leastImportant(): Connection | undefined {
    if (this.isAccount) for (const connection of this.#active) if (isSlow(connection)) return connection;
    return firstOf(this.#idle) ?? (this.isAccount ? undefined : firstOf(this.#active));
  }
}

const firstOf = <T>([one]: Iterable<T>): T | undefined => one;

/** All connections, or those of one address, grouped by owner. */
class ConnectionPool {
  readonly #owners = new Map<string, ConnectionOwner>();
  size = 0;

  add(connection: Connection): void {
    const name = ownerKey(connection);
    const owner = this.#owners.get(name) ?? new ConnectionOwner(connection.account !== null);
    this.#owners.set(name, owner);
    owner.add(connection);
    this.size++;
  }

  delete(connection: Connection): void {
    const name = ownerKey(connection);
    const owner = this.#owners.get(name);
    if (!owner?.delete(connection)) return;
    this.size--;
    if (owner.size === 0) this.#owners.delete(name);
  }

  /** The connection to close for a new one; undefined if all serve requests of accounts. */
  leastImportant(): Connection | undefined {
    const busy = new Set<ConnectionOwner>();
    for (;;) {
      let largest: ConnectionOwner | undefined;
      for (const owner of this.#owners.values()) {
        if (!busy.has(owner) && (!largest || owner.share > largest.share)) largest = owner;
      }
      const found = largest?.leastImportant();
      if (found || !largest) return found;
      busy.add(largest);
    }
  }
}

/** Addresses contain no space, so that the two kinds of keys differ. */
const ownerKey = ({ address, account }: Connection): string => (account === null ? address : `account ${account}`);

/** Whether the client has not sent a whole request, or has not read all that was sent. */
const isSlow = ({ exchanges }: Connection): boolean =>
  [...exchanges].some(
    ([response, request]) =>
      !request.complete || response.writableNeedDrain || (response.writableEnded && !response.writableFinished),
  );

/** Both sockets of a TLS connection share these values. */
const socketKey = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

export class ConnectionLimiter {
  readonly #limits: Pick<Settings, "connections" | "connectionsPerAddress">;
  readonly #connections = new Map<string, Connection>();
  readonly #all = new ConnectionPool();
  readonly #byAddress = new Map<string, ConnectionPool>();
  /** Addresses of trusted proxies. */
  readonly #proxies = new Set<string>();
  /** Called for each connection that is closed because a limit is reached. */
  onClosed: () => void = () => {};

  constructor(limits: Pick<Settings, "connections" | "connectionsPerAddress">) {
    this.#limits = limits;
  }

  /** Call it before the server listens, and before routes are added. */
  watch(app: FastifyInstance): void {
    app.server.on("connection", (socket: Socket) => this.#accept(socket));
    app.server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#serve(request, response));
    app.addHook("onRequest", async (request) => {
      const { remoteAddress } = request.raw.socket;
      // The addresses differ if a trusted proxy has named its client.
      if (remoteAddress !== undefined && request.ip !== remoteAddress) this.#proxies.add(clientNetwork(remoteAddress));
    });
  }

  /** Assigns a connection to an account after its token or session was validated. @param account id of the account */
  markSignedIn({ raw }: FastifyRequest, account: string): void {
    const connection = this.#connections.get(socketKey(raw.socket));
    if (connection && connection.account !== account) {
      this.#change(connection, () => Object.assign(connection, { account }));
    }
  }

  #accept(socket: Socket): void {
    // Already disconnected.
    if (socket.remoteAddress === undefined) return;
    const address = clientNetwork(socket.remoteAddress);
    const addressPool = this.#byAddress.get(address) ?? new ConnectionPool();
    const isCrowded = !this.#proxies.has(address) && addressPool.size >= this.#limits.connectionsPerAddress;
    const isFull = this.#all.size >= this.#limits.connections;
    if (isCrowded || isFull) {
      this.onClosed();
      const closed = (isCrowded ? addressPool : this.#all).leastImportant();
      if (!closed) {
        socket.destroy();
        return;
      }
      this.#forget(closed);
      closed.socket.destroy();
    }
    const connection: Connection = { socket, address, account: null, exchanges: new Map() };
    this.#connections.set(socketKey(socket), connection);
    this.#byAddress.set(address, addressPool);
    for (const pool of [this.#all, addressPool]) pool.add(connection);
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
    // A connection that was closed to make room is in no pool.
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
    const addressPool = this.#byAddress.get(connection.address)!;
    addressPool.delete(connection);
    if (addressPool.size === 0) this.#byAddress.delete(connection.address);
  }
}
