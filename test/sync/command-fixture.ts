/**
 * Runs geoferry as a user does, against a service behind a counting proxy; checks messages and that nothing was sent.
 */
import { expect } from "vitest";
import type { Properties } from "../../src/remote/wire.js";
import { FaultProxy } from "../support/servers/fault-proxy.js";
import {
  type CommandOptions,
  createPlace,
  findFixtureKinds,
  type Place,
  type SyncFixture,
} from "../support/sync/sync-fixture.js";

export const createPlaces = (count: number, more: (i: number) => Properties = () => ({})): readonly Place[] =>
  Array.from({ length: count }, (_, i) => createPlace(`p${i}`, { title: `Place ${i}`, ...more(i) }));

export interface CommandOutput {
  readonly status: number | null;
  readonly stderr: string;
  readonly stdout: string;
}

export class CommandFixture implements AsyncDisposable {
  private constructor(
    readonly world: SyncFixture,
    readonly proxy: FaultProxy,
  ) {}

  static async start(): Promise<CommandFixture> {
    const [sqlite] = await findFixtureKinds();
    const world = await sqlite!.start();
    return new CommandFixture(world, await FaultProxy.start(world.url));
  }

  /** A map with these features, before any request through the proxy. */
  async mapWith(held: readonly Place[]): Promise<string> {
    const map = await this.world.newMap();
    await this.world.fill(map, held);
    this.proxy.calm();
    return map;
  }

  run(args: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    return this.world.geoferry(args, { url: this.proxy.url, ...options });
  }

  push(source: readonly Place[], map: string, ...args: readonly string[]): Promise<CommandOutput> {
    return this.run(["push", this.world.source(source), "--map", map, "--settle-time", "20", ...args]);
  }

  /** Checks the status and the messages, and that no request could have changed the map. */
  stopped(said: CommandOutput, status: number, ...words: readonly (string | RegExp)[]): void {
    expectFailure(said, status, ...words);
    expect(this.proxy.writes).toBe(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.proxy[Symbol.asyncDispose]();
  }
}

/** Checks the status and the messages. */
export function expectFailure(said: CommandOutput, status: number, ...words: readonly (string | RegExp)[]): void {
  expect({ status: said.status, stderr: said.stderr }).toMatchObject({ status });
  for (const word of words) expect(said.stderr).toMatch(word);
  expect(said.stderr).toMatch(/^geoferry: /m);
}
