import { afterAll } from "vitest";
import { FaultProxy } from "../servers/fault-proxy.js";
import { findFixtureKinds, type SyncFixture } from "./sync-fixture.js";

/** A service on SQLite, and a proxy in front of it that injects faults. Call it at the top of a test file. */
export async function startProxiedFixture(): Promise<{ readonly world: SyncFixture; readonly proxy: FaultProxy }> {
  const [sqlite] = await findFixtureKinds();
  const world = await sqlite!.start();
  const proxy = await FaultProxy.start(world.url);
  afterAll(() => proxy[Symbol.asyncDispose]());
  return { world, proxy };
}
