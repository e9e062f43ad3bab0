/**
 * The test suite that all stores of the service must pass:
 *
 *     storeContract("sqlite", async (keyIndex) => openSqliteStore(newPath(), undefined, keyIndex));
 *
 * The function opens an empty store with the given key index settings; the suite closes it.
 */
import { afterAll, afterEach, describe } from "vitest";
import type { Store } from "../../../src/service/store/contract.js";
import type { KeyIndexSettings } from "../../../src/service/store/key-index-builder.js";
import { describeAccounts } from "./contract/accounts.js";
import { describeConcurrency } from "./contract/concurrency.js";
import { describeIdempotency } from "./contract/idempotency.js";
import { backgroundSettings, describeKeyIndex, noWaitSettings } from "./contract/key-index.js";
import { describeKeys } from "./contract/keys.js";
import { describeMaps } from "./contract/maps.js";
import { describeModel } from "./contract/model.js";
import { describePages } from "./contract/pages.js";
import { describePaginationCursors } from "./contract/pagination-cursors.js";
import { describeWrites } from "./contract/writes.js";

/** Opens a store for a test. */
export type OpenStore = () => Promise<Store>;

export function describeStoreContract(name: string, open: (reading?: KeyIndexSettings) => Promise<Store>): void {
  describe(`the ${name} store`, () => {
    const opened: Store[] = [];
    const empty: OpenStore = async () => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
    });

    let kept: Promise<Store> | undefined;
    /** A store shared by all tests that create their own maps. */
    const shared: OpenStore = () => {
      kept ??= open();
      return kept;
    };
    let stepwise: Promise<Store> | undefined;
    const sharedStepwise: OpenStore = () => {
      stepwise ??= open(noWaitSettings);
      return stepwise;
    };
    let alone: Promise<Store> | undefined;
    const sharedSteadfast: OpenStore = () => {
      alone ??= open(backgroundSettings);
      return alone;
    };
    afterAll(async () => {
      await (await alone)?.[Symbol.asyncDispose]();
      await (await kept)?.[Symbol.asyncDispose]();
      await (await stepwise)?.[Symbol.asyncDispose]();
    });

    describeAccounts(empty);
    describeMaps(empty);
    describePages(shared);
    describePaginationCursors(shared);
    describeWrites(shared);
    describeKeys(shared);
    describeKeyIndex(sharedStepwise, sharedSteadfast);
    describeIdempotency(shared);
    describeConcurrency(shared);
    describeModel(shared);
  });
}
